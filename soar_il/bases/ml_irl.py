"""ML-IRL (Zeng et al. 2022): the cost rises where the learner goes and falls where the expert goes.

The loss of Algorithm 9, in cost form: E_expert[c_w] - E_learner[c_w], minimised over w.
"""

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Base, Data, Metrics, Needs
from soar_il.bases.inverse import inferring
from soar_il.deep import networks
from soar_il.deep.replay import half_recent
from soar_il.errors import ConfigError
from soar_il.types import Batch, Spec


@dataclasses.dataclass(frozen=True)
class Settings:
    """How c_w is fitted.

    Args:
        data: fresh (the trajectories that the current policy has just made, discounted as in
            Algorithm 9) or replay (minibatches of everything the learner has done).
        steps: Adam steps an iteration.
        steps_per_step: Adam steps for each new environment step, in place of ``steps`` where not 0.
        learning_rate: alpha, the cost's step size.
        weight_decay: L2, added to the gradient.
        batch: Transitions of each kind in a minibatch (replay).
        discount: gamma of the occupancies that are compared (replay); 1 for all steps alike.
        recent: Half of the learner's minibatch is drawn by this many newest transitions, the other
            half by all (replay); 0 for all.
        fresh: Room for the fresh transitions of one iteration (fresh).
        gradient_penalty: Weight of (|grad c_w| - slope)^2 on interpolations of expert and learner.
        slope: How steep the cost is meant to be there; at 0 it flattens as the learner comes close.
        bound: |c_w| is at most this ...
        squash: ... by a tanh, or by a clamp, which stops the gradient where it acts.
        hidden: Sizes of the hidden layers.
        expert_share: The part of critics' and actor's minibatches that is the expert's; from states
            alone with inferred actions ...
        inverse_hidden: ... by a model with hidden layers of these sizes.
    """

    data: Literal["fresh", "replay"] = "replay"
    steps: int = 1
    steps_per_step: float = 1.0
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    batch: int = 100
    discount: float = 0.99
    recent: int = 5000
    fresh: int = 8192
    gradient_penalty: float = 0.3
    slope: float = 0.0
    bound: float = 1.0
    squash: fitting.Squash = "tanh"
    hidden: tuple[int, ...] = (128, 128)
    expert_share: float = 0.0
    inverse_hidden: tuple[int, ...] = (256, 256)

    def __post_init__(self) -> None:
        for name in ("hidden", "inverse_hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # a list would not hash
        if not (self.bound > 0 and self.learning_rate > 0 and self.batch > 0 and self.fresh > 0):
            raise ConfigError(
                f"bound {self.bound}, learning_rate {self.learning_rate}, batch {self.batch}, "
                f"fresh {self.fresh}",
                do="give positive numbers",
            )
        if not 0 < self.discount <= 1:
            raise ConfigError(f"discount is {self.discount}", do="give one in (0, 1]")
        if self.recent < 0:
            raise ConfigError(f"recent is {self.recent}", do="give a number of steps, or 0 for all")
        if not 0 <= self.expert_share < 1:
            raise ConfigError(f"expert_share is {self.expert_share}", do="give one in [0, 1)")


class Cost(NamedTuple):
    """w and its Adam."""

    layers: networks.Layers
    optimiser: Any


def make(settings: Settings, state_only: bool) -> Base:
    """ML-IRL on states alone or on states and actions."""
    s = settings
    adam = optax.chain(optax.add_decayed_weights(s.weight_decay), optax.adam(s.learning_rate))

    def inputs(batch: Batch) -> Any:
        if state_only:
            return batch.observations
        return jnp.concatenate([batch.observations, batch.actions], axis=-1)

    def c(layers: networks.Layers, x: Any) -> Any:
        return fitting.bounded(networks.apply(layers, x, jnp.tanh)[..., 0], s.bound, s.squash)

    def init(key: Any, spec: Spec, expert: Data) -> Cost:
        size = spec.observation + (0 if state_only else spec.action)
        layers = networks.init(key, (size, *s.hidden, 1))
        return Cost(layers, adam.init(layers))

    def descend(cost: Cost, loss: Any) -> tuple[Cost, Metrics]:
        (_, gap), gradient = jax.value_and_grad(loss, has_aux=True)(cost.layers)
        step, optimiser = adam.update(gradient, cost.optimiser, cost.layers)
        return Cost(optax.apply_updates(cost.layers, step), optimiser), {"cost_gap": gap}

    def drawn(data: Data, key: Any, recent: Any = None) -> Batch:
        if s.discount < 1:
            return data.draw_occupancy(key, s.batch, s.discount, recent)
        return data.draw(key, s.batch, recent)

    def on_replay(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        keys = jax.random.split(key, 3)
        batches = drawn(expert, keys[0]), drawn(data, keys[1], half_recent(s.batch, s.recent))
        theirs, ours = (inputs(batch) for batch in batches)
        shares = [batch.weights / jnp.sum(batch.weights) for batch in batches]
        mix = jax.random.uniform(keys[2], (s.batch, 1))

        def loss(layers: networks.Layers) -> tuple[Any, Any]:
            costs = c(layers, jnp.concatenate([theirs, ours]))
            gap = jnp.sum(shares[1] * costs[s.batch :]) - jnp.sum(shares[0] * costs[: s.batch])
            between = mix * theirs + (1 - mix) * ours
            off = fitting.slope_error(lambda x: c(layers, x), between, s.slope)
            return s.gradient_penalty * off - gap, gap

        return descend(cost, loss)

    def on_fresh(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        theirs, ours = expert.newest(), data.newest(s.fresh)

        def loss(layers: networks.Layers) -> tuple[Any, Any]:
            means = [jnp.sum(weights * c(layers, inputs(b))) for b, weights in (theirs, ours)]
            return means[0] - means[1], means[1] - means[0]

        return descend(cost, loss)

    def steps(data: Data) -> Any:
        return fitting.steps(s.steps, s.steps_per_step, data)

    def update(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        once = on_replay if s.data == "replay" else on_fresh
        return fitting.repeated(lambda c, k: once(c, expert, data, k), cost, steps(data), key)

    def cost_of(cost: Cost, batch: Batch) -> Any:
        return c(cost.layers, inputs(batch))

    needs = Needs(actions=not state_only, on_policy=s.data == "fresh")
    base = Base(needs, init, update, cost_of)
    if not state_only:
        return base._replace(expert_share=s.expert_share)
    return inferring(base, s.expert_share, s.inverse_hidden, steps)
