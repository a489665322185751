"""f-IRL (Ni et al. 2020): the cost descends an f-divergence between expert and learner states.

Algorithm 8 of the paper. A discriminator gives the log density ratio l(s) = log rho_E / rho_w; the
gradient of the divergence is a covariance over trajectories, of the sum of h_f with the sum of the
cost's gradient. States only.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Base, Data, Metrics, Needs
from soar_il.bases.inverse import inferring
from soar_il.deep import networks
from soar_il.errors import ConfigError
from soar_il.types import Batch, Spec, Trajectories

LOGIT = 10.0  # |l| is at most this

# -h_f of the ratio exp(l), up to constants, which a covariance does not see
GENERATORS: dict[str, Callable[[Any], Any]] = {
    "rkl": lambda ratio: ratio,
    "fkl": jnp.exp,
    "js": jax.nn.softplus,
}


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the ratio and c_w are fitted.

    Args:
        data: fresh (the trajectories that the current policy has just made) or replay (the
            ``recent`` newest transitions and their trajectories).
        recent: How many that are.
        trajectories: Trajectories of each kind in the covariance.
        samples: Steps of each, half for the sum of h_f and half for that of the cost; 0 for all.
        discount: gamma of the occupancies that they are drawn by (samples > 0, replay), and that
            the ratio is of; 1 for all steps alike.
        horizon: No trajectory has more steps than this (samples = 0).
        mix_expert: Let the expert's trajectories count as the learner's in the covariance.
        steps: Steps of the cost's Adam an iteration ...
        steps_per_step: ... or for each new environment step, where not 0.
        learning_rate: alpha, the cost's step size.
        weight_decay: L2 of the cost, added to the gradient.
        gradient_penalty: Weight of (|grad c_w| - slope)^2 between expert and learner.
        slope: How steep the cost is meant to be there.
        bound: |c_w| is at most this ...
        squash: ... by a tanh, or by a clamp, which stops the gradient where it acts.
        hidden: Sizes of the cost's hidden layers.
        ratio_steps: Steps of the discriminator before each step of the cost.
        ratio_rate: Its step size.
        ratio_decay: Its L2.
        ratio_batch: States of each kind in its minibatch.
        ratio_penalty: Weight of |grad l|^2 between expert and learner.
        width: Of its residual blocks ...
        blocks: ... and how many of them.
        expert_share: The part of critics' and actor's minibatches that is the expert's, with
            inferred actions ...
        inverse_hidden: ... by a model with hidden layers of these sizes.
    """

    data: Literal["fresh", "replay"] = "replay"
    recent: int = 20_000
    trajectories: int = 16
    samples: int = 8
    discount: float = 1.0
    horizon: int = 1001
    mix_expert: bool = True
    steps: int = 1
    steps_per_step: float = 1.0
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    gradient_penalty: float = 10.0
    slope: float = 1.0
    bound: float = 3.0
    squash: fitting.Squash = "tanh"
    hidden: tuple[int, ...] = (128, 128)
    ratio_steps: int = 1
    ratio_rate: float = 3e-4
    ratio_decay: float = 1e-4
    ratio_batch: int = 100
    ratio_penalty: float = 1.0
    width: int = 128
    blocks: int = 1
    expert_share: float = 0.0
    inverse_hidden: tuple[int, ...] = (256, 256)

    def __post_init__(self) -> None:
        for name in ("hidden", "inverse_hidden"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # a list would not hash
        for name in ("recent", "bound", "learning_rate", "ratio_rate", "ratio_batch", "width"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is {getattr(self, name)}", do="give a positive number")
        if self.trajectories < 2 or self.samples == 1 or self.samples < 0:
            raise ConfigError(
                f"trajectories {self.trajectories}, samples {self.samples}",
                do="give at least 2 of each, or 0 samples for whole trajectories",
            )
        if not 0 <= self.expert_share < 1:
            raise ConfigError(f"expert_share is {self.expert_share}", do="give one in [0, 1)")
        drawn = self.data == "replay" and self.samples > 0
        if not 0 < self.discount <= 1 or (self.discount < 1 and not drawn):
            raise ConfigError(
                f"discount is {self.discount}, data {self.data}, samples {self.samples}",
                do="give one in (0, 1], and below 1 only with replay and samples > 0",
            )


class Cost(NamedTuple):
    """w and chi, each with its Adam."""

    layers: networks.Layers
    optimiser: Any
    ratio: networks.Layers
    ratio_optimiser: Any


def log_ratio(layers: networks.Layers, states: Any) -> Any:
    """l(s) = log rho_E(s) / rho_w(s): a residual tanh network, clamped."""
    first, *blocks, last = layers
    x = jnp.tanh(networks.affine(first, states))
    for block in blocks:
        x = x + jnp.tanh(networks.affine(block, x))
    return jnp.clip(networks.affine(last, x)[..., 0], -LOGIT, LOGIT)


def covariance(g: Any, c: Any, share: Any) -> Any:
    """Of two sums over trajectories that count by ``share``; only ``c`` is differentiated."""
    g = jax.lax.stop_gradient(g)
    return jnp.sum(share * (g - jnp.sum(share * g)) * c)


def make(settings: Settings, f: str) -> Base:
    """RKL, FKL or JS."""
    s, g = settings, GENERATORS[f]
    adam = optax.chain(optax.add_decayed_weights(s.weight_decay), optax.adam(s.learning_rate))
    ratio_adam = optax.chain(optax.add_decayed_weights(s.ratio_decay), optax.adam(s.ratio_rate))

    def c(layers: networks.Layers, x: Any) -> Any:
        return fitting.bounded(networks.apply(layers, x, jnp.tanh)[..., 0], s.bound, s.squash)

    def init(key: Any, spec: Spec, expert: Data) -> Cost:
        keys = jax.random.split(key)
        layers = networks.init(keys[0], (spec.observation, *s.hidden, 1))
        sizes = (spec.observation, *[s.width] * (1 + s.blocks), 1)
        ratio = networks.init(keys[1], sizes)
        return Cost(layers, adam.init(layers), ratio, ratio_adam.init(ratio))

    def window(data: Data) -> Any:
        return data.fresh if s.data == "fresh" else s.recent

    def states(data: Data, key: Any, recent: Any) -> Batch:
        if s.discount < 1:
            return data.draw_occupancy(key, s.ratio_batch, s.discount, recent)
        return data.draw(key, s.ratio_batch, recent)

    def classify(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        """Line 2: one step on expert against learner."""
        keys = jax.random.split(key, 3)
        drawn = states(expert, keys[0], None), states(data, keys[1], window(data))
        theirs, ours = (batch.observations for batch in drawn)
        shares = [batch.weights / jnp.sum(batch.weights) for batch in drawn]
        mix = jax.random.uniform(keys[2], (s.ratio_batch, 1))

        def loss(layers: networks.Layers) -> Any:
            logits = log_ratio(layers, theirs), log_ratio(layers, ours)
            right = jnp.sum(shares[0] * jax.nn.softplus(-logits[0]))
            wrong = jnp.sum(shares[1] * jax.nn.softplus(logits[1]))
            if not s.ratio_penalty:
                return right + wrong
            between = mix * theirs + (1 - mix) * ours
            off = fitting.slope_error(lambda x: log_ratio(layers, x), between, 0.0)
            return right + wrong + s.ratio_penalty * off

        value, gradient = jax.value_and_grad(loss)(cost.ratio)
        step, optimiser = ratio_adam.update(gradient, cost.ratio_optimiser, cost.ratio)
        ratio = optax.apply_updates(cost.ratio, step)
        return cost._replace(ratio=ratio, ratio_optimiser=optimiser), {"ratio_loss": value}

    def drawn(data: Data, key: Any, recent: Any = None) -> Trajectories:
        steps = s.samples or s.horizon
        return data.draw_trajectories(
            key, s.trajectories, steps, recent, whole=not s.samples, discount=s.discount
        )

    def means(cost: Cost, layers: Any, taus: Trajectories) -> tuple[Any, Any]:
        """Over each trajectory, of -h_f and of the cost; where drawn, from different steps of it.

        The same steps for both would add their own covariance to that of the trajectories.
        """
        states, weights, half = taus.batch.observations, taus.weights, s.samples // 2
        parts = [slice(None)] * 2 if not s.samples else [slice(half), slice(half, None)]
        values = g(log_ratio(cost.ratio, states[parts[0]])), c(layers, states[parts[1]])
        return tuple(  # type: ignore[return-value]
            jnp.sum(weights[part] * x, axis=0) / jnp.sum(weights[part], axis=0)
            for part, x in zip(parts, values, strict=True)
        )

    def descend(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        """Lines 5-6: one step along the covariance."""
        keys = jax.random.split(key, 3)
        ours, theirs = drawn(data, keys[0], window(data)), drawn(expert, keys[1])
        mix = jax.random.uniform(keys[2], (s.trajectories, 1))

        def loss(layers: networks.Layers) -> tuple[Any, Any]:
            (g_ours, c_ours), (g_theirs, c_theirs) = (
                means(cost, layers, t) for t in (ours, theirs)
            )
            gap = jnp.sum(ours.share * c_ours) - jnp.sum(theirs.share * c_theirs)
            if s.mix_expert:
                value = covariance(
                    jnp.concatenate([g_ours, g_theirs]),
                    jnp.concatenate([c_ours, c_theirs]),
                    jnp.concatenate([ours.share, theirs.share]) / 2,
                )
            else:
                value = covariance(g_ours, c_ours, ours.share)
            if s.gradient_penalty:
                ends = theirs.batch.observations[0], ours.batch.observations[0]
                between = mix * ends[0] + (1 - mix) * ends[1]
                off = fitting.slope_error(lambda x: c(layers, x), between, s.slope)
                value = value + s.gradient_penalty * off
            return value, gap

        (_, gap), gradient = jax.value_and_grad(loss, has_aux=True)(cost.layers)
        step, optimiser = adam.update(gradient, cost.optimiser, cost.layers)
        layers = optax.apply_updates(cost.layers, step)
        return cost._replace(layers=layers, optimiser=optimiser), {"cost_gap": gap}

    def once(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        first, second = jax.random.split(key)
        cost, ratio = fitting.repeated(
            lambda cost, k: classify(cost, expert, data, k), cost, jnp.int32(s.ratio_steps), first
        )
        cost, seen = descend(cost, expert, data, second)
        return cost, ratio | seen

    def steps(data: Data) -> Any:
        return fitting.steps(s.steps, s.steps_per_step, data)

    def update(cost: Cost, expert: Data, data: Data, key: Any) -> tuple[Cost, Metrics]:
        return fitting.repeated(lambda c, k: once(c, expert, data, k), cost, steps(data), key)

    def cost_of(cost: Cost, batch: Any) -> Any:
        return c(cost.layers, batch.observations)

    base = Base(Needs(actions=False, on_policy=s.data == "fresh"), init, update, cost_of)
    return inferring(base, s.expert_share, s.inverse_hidden, steps)
