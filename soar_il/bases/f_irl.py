"""f-IRL (Ni et al. 2020): the cost descends an f-divergence between expert and learner states.

Algorithm 8 of the paper. A discriminator gives the log density ratio l(s) = log rho_E / rho_w; the
gradient of the divergence is a covariance over trajectories, of the sum of h_f with the sum of the
cost's gradient. States only.
"""

import dataclasses
from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases import fitting, ratio
from soar_il.bases.api import Base, Data, Needs, Recent
from soar_il.bases.fitting import Fit
from soar_il.bases.given import Given
from soar_il.config import check_range, only_read_with
from soar_il.errors import ConfigError
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Float, Metrics, PRNGKey, Scalar, Spec, Trajectories

# -h_f of the ratio exp(l), up to constants, which a covariance does not see
GENERATORS: dict[str, Callable[[Array], Array]] = {
    "rkl": lambda ratio: ratio,
    "fkl": jnp.exp,
    "js": jax.nn.softplus,
}


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the ratio and c_w are fitted.

    Args:
        data: fresh (the episodes that the current policy has just made) or replay (the ``recent``
            newest transitions and their episodes).
        recent: How many that are.
        trajectories: Trajectories of each kind in the covariance.
        samples: Steps of each, half for the sum of h_f and half for that of the cost; 0 for all.
        discount: gamma of the occupancies that they are drawn by (samples > 0, replay), and that
            the ratio is of; 1 for all steps alike.
        steps_per_step: Steps of the cost's Adam for each new environment step; at least one an
            iteration.
        learning_rate: alpha, the cost's step size.
        weight_decay: L2 of the cost, added to the gradient.
        gradient_penalty: Weight of (|grad c_w| - slope)^2 between expert and learner, times the
            square of the number of coordinates of a state, so that one fits all environments.
        slope: How steep the cost is meant to be there.
        bound: |c_w| is at most this ...
        squash: ... by a tanh, or by a clamp, which stops the gradient where it acts.
        hidden: Sizes of the cost's hidden layers.
        ratio_steps: Steps of the discriminator before each step of the cost.
        ratio_rate: Its step size.
        ratio_decay: Its L2.
        ratio_batch: States of each kind in its minibatch.
        ratio_penalty: Weight of |grad l|^2 between expert and learner, times that square.
        width: Of its residual blocks ...
        blocks: ... and how many of them.
    """

    data: Literal["fresh", "replay"] = "replay"
    recent: int = 5000
    trajectories: int = 16
    samples: int = 8
    discount: float = 1.0
    steps_per_step: float = 1.0
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    gradient_penalty: float = 0.0067
    slope: float = 0.0
    bound: float = 3.0
    squash: fitting.Squash = "tanh"
    hidden: tuple[int, ...] = (128, 128)
    ratio_steps: int = 1
    ratio_rate: float = 3e-4
    ratio_decay: float = 1e-4
    ratio_batch: int = 100
    ratio_penalty: float = 0.0067
    width: int = 128
    blocks: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        check_range(self, ("learning_rate", "ratio_rate"), above=0, most=1)
        check_range(self, ("bound",), above=0)
        check_range(self, ("recent", "ratio_batch", "width", "ratio_steps", "hidden"), least=1)
        check_range(self, ("steps_per_step", "weight_decay", "ratio_decay", "blocks"), least=0)
        check_range(self, ("gradient_penalty", "slope", "ratio_penalty"), least=0)
        check_range(self, ("discount",), above=0, most=1)
        if self.trajectories < 2 or self.samples == 1 or self.samples < 0:
            raise ConfigError(
                f"trajectories {self.trajectories}, samples {self.samples}",
                do="give at least 2 of each, or 0 samples for whole trajectories",
            )
        if self.data == "fresh":
            only_read_with(self, ("recent",), "data = replay")
        if not self.gradient_penalty:
            only_read_with(self, ("slope",), "gradient_penalty above 0")
        if self.data == "fresh" or not self.samples:
            only_read_with(self, ("discount",), "data = replay and samples > 0")


class Cost(NamedTuple):
    """w and chi, each with its Adam."""

    net: Fit
    ratio: Fit


def covariance(g: Float[Array, " n"], c: Float[Array, " n"], share: Float[Array, " n"]) -> Scalar:
    """Of two sums over trajectories that count by ``share``; only ``c`` is differentiated."""
    g = jax.lax.stop_gradient(g)
    return jnp.sum(share * (g - jnp.sum(share * g)) * c)


def mixed_covariance(
    ours: tuple[Array, Array, Array], theirs: tuple[Array, Array, Array]
) -> Scalar:
    """The covariance over the learner's and the expert's trajectories, half and half."""
    g, c, share = (jnp.concatenate(pair) for pair in zip(ours, theirs, strict=True))
    return covariance(g, c, share / 2)


def split_means(
    g: Callable[[Array], Array], c: Callable[[Array], Array], taus: Trajectories, samples: int
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Means over each trajectory, of -h_f and of the cost.

    Where steps are drawn (``samples``) the two use different ones: the same steps for both would
    add their own covariance to that of the trajectories.
    """
    states, weights, half = taus.batch.observations, taus.weights, samples // 2
    first, second = (slice(half), slice(half, None)) if samples else (slice(None),) * 2

    def mean(x: Array, part: slice) -> Array:
        return jnp.sum(weights[part] * x, axis=0) / jnp.sum(weights[part], axis=0)

    return mean(g(states[first]), first), mean(c(states[second]), second)


def make(settings: Settings, given: Given, f: str) -> Base:
    """RKL, FKL or JS."""
    s, net, generator = settings, fitting.network(settings), GENERATORS[f]
    ratio_adam = fitting.decayed_adam(s.ratio_rate, s.ratio_decay)
    draw = ratio.Draw(s.ratio_batch, s.discount)

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Cost:
        keys = jax.random.split(key)
        layers = ratio.init(keys[1], spec.observation, s.width, s.blocks)
        return Cost(net.init(keys[0], spec.observation), Fit(layers, ratio_adam.init(layers)))

    def window(data: Data) -> Recent:
        return data.fresh if s.data == "fresh" else s.recent

    def classify(cost: Cost, expert: Data, data: Data, key: PRNGKey) -> tuple[Cost, Metrics]:
        """Line 2: one step of the discriminator."""
        fit, loss = ratio.fitted(
            cost.ratio, ratio_adam, draw, expert, data, window(data), s.ratio_penalty, key
        )
        return cost._replace(ratio=fit), {"ratio_loss": loss}

    def drawn(data: Data, key: PRNGKey, recent: Recent = None) -> Trajectories:
        steps, whole = s.samples or given.horizon + 1, not s.samples
        return data.draw_trajectories(key, s.trajectories, steps, recent, whole, s.discount)

    def descend(cost: Cost, expert: Data, data: Data, key: PRNGKey) -> tuple[Cost, Metrics]:
        """Lines 5-6: one step along the covariance."""
        keys = jax.random.split(key, 3)
        ours, theirs = drawn(data, keys[0], window(data)), drawn(expert, keys[1])
        mix = jax.random.uniform(keys[2], (s.trajectories, 1))

        def g(states: Array) -> Array:
            return generator(ratio.log_ratio(cost.ratio.layers, states))

        def loss(layers: Layers) -> tuple[Array, Array]:
            def c(states: Array) -> Array:
                return net.c(layers, states)

            g_ours, c_ours = split_means(g, c, ours, s.samples)
            g_theirs, c_theirs = split_means(g, c, theirs, s.samples)
            gap = jnp.sum(ours.share * c_ours) - jnp.sum(theirs.share * c_theirs)
            value = mixed_covariance(
                (g_ours, c_ours, ours.share), (g_theirs, c_theirs, theirs.share)
            )
            if s.gradient_penalty:
                ends = theirs.batch.observations[0], ours.batch.observations[0]
                between = mix * ends[0] + (1 - mix) * ends[1]
                weight = fitting.penalty_weight(s.gradient_penalty, between, by_size=True)
                value = value + weight * fitting.slope_error(c, between, s.slope)
            return value, gap

        fit, (_, gap) = net.descend(cost.net, loss)
        return cost._replace(net=fit), {"cost_gap": gap}

    def once(cost: Cost, expert: Data, data: Data, key: PRNGKey) -> tuple[Cost, Metrics]:
        first, second = jax.random.split(key)
        cost, fit = fitting.repeated(
            lambda cost, k: classify(cost, expert, data, k), cost, jnp.int32(s.ratio_steps), first
        )
        cost, seen = descend(cost, expert, data, second)
        return cost, fit | seen

    def update(cost: Cost, expert: Data, data: Data, key: PRNGKey) -> tuple[Cost, Metrics]:
        steps = fitting.steps(s.steps_per_step, data)
        return fitting.repeated(lambda c, k: once(c, expert, data, k), cost, steps, key)

    def cost_of(cost: Cost, batch: Batch) -> Array:
        return net.c(cost.net.layers, batch.observations)

    return Base(Needs(), init, update, cost_of, least_cost=-s.bound)
