"""ML-IRL (Zeng et al. 2022): the cost rises where the learner goes and falls where the expert goes.

The loss of Algorithm 9, in cost form: E_expert[c_w] - E_learner[c_w], minimised over w.
"""

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp

from soar_il.bases import fitting
from soar_il.bases.api import Base, Data, Needs, Recent, half_recent
from soar_il.bases.fitting import Fit
from soar_il.bases.given import Given
from soar_il.config import only_read_with
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec


@dataclasses.dataclass(frozen=True)
class Settings(fitting.Settings):
    """How c_w is fitted.

    Args:
        data: fresh (the episodes that the current policy has just made, discounted as in
            Algorithm 9) or replay (minibatches of everything the learner has done). Only with
            replay are batch, discount, recent, gradient_penalty, by_size and slope read.
        squash: What bounds the cost: a tanh, or a clamp, which stops the gradient where it acts.
    """

    data: Literal["fresh", "replay"] = "replay"
    squash: fitting.Squash = "tanh"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data == "fresh":
            names = ("batch", "discount", "recent", "gradient_penalty", "by_size", "slope")
            only_read_with(self, names, "data = replay")


def make(settings: Settings, given: Given, state_only: bool) -> Base:
    """ML-IRL on states alone or on states and actions."""
    s, net = settings, fitting.network(settings)

    def inputs(batch: Batch) -> Array:
        return fitting.inputs(batch, state_only)

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Fit:
        return net.init(key, spec.observation + (0 if state_only else spec.action))

    def drawn(data: Data, key: PRNGKey, recent: Recent = None) -> Batch:
        if s.discount < 1:
            return data.draw_occupancy(key, s.batch, s.discount, recent)
        return data.draw(key, s.batch, recent)

    def on_replay(cost: Fit, expert: Data, data: Data, key: PRNGKey) -> tuple[Fit, Metrics]:
        keys = jax.random.split(key, 3)
        batches = drawn(expert, keys[0]), drawn(data, keys[1], half_recent(s.batch, s.recent))
        theirs, ours = (inputs(batch) for batch in batches)
        share = [fitting.shares(batch) for batch in batches]
        mix = jax.random.uniform(keys[2], (s.batch, 1))

        def loss(layers: Layers) -> tuple[Array, Array]:
            costs = net.c(layers, jnp.concatenate([theirs, ours]))
            gap = jnp.sum(share[1] * costs[s.batch :]) - jnp.sum(share[0] * costs[: s.batch])
            between = mix * theirs + (1 - mix) * ours
            off = fitting.slope_error(lambda x: net.c(layers, x), between, s.slope)
            weight = fitting.penalty_weight(s.gradient_penalty, between, s.by_size)
            return weight * off - gap, gap

        cost, (_, gap) = net.descend(cost, loss)
        return cost, {"cost_gap": gap}

    def on_fresh(cost: Fit, expert: Data, data: Data, key: PRNGKey) -> tuple[Fit, Metrics]:
        theirs, ours = expert.newest(), data.newest(given.fresh)

        def loss(layers: Layers) -> tuple[Array, Array]:
            means = [jnp.sum(w * net.c(layers, inputs(batch))) for batch, w in (theirs, ours)]
            return means[0] - means[1], means[1] - means[0]

        cost, (_, gap) = net.descend(cost, loss)
        return cost, {"cost_gap": gap}

    def update(cost: Fit, expert: Data, data: Data, key: PRNGKey) -> tuple[Fit, Metrics]:
        once = on_replay if s.data == "replay" else on_fresh
        steps = fitting.steps(s.steps_per_step, data)
        return fitting.repeated(lambda c, k: once(c, expert, data, k), cost, steps, key)

    def cost_of(cost: Fit, batch: Batch) -> Array:
        return net.c(cost.layers, inputs(batch))

    return Base(Needs(actions=not state_only), init, update, cost_of, least_cost=-s.bound)
