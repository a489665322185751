"""What base methods share: a bounded cost network, a slope it is held to, and steps in a loop."""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import optax

from soar_il.bases.api import Data
from soar_il.config import check_range, only_read_with
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.terminal.phases import phase
from soar_il.types import Array, Batch, Count, Float, Metrics, PRNGKey, Scalar, Tree

PARTS = 10  # of long work, between which it says how far it is
Squash = Literal["tanh", "clamp"]
Loss = Callable[[Layers], tuple[Array, Tree]]  # its value, and more that is worth knowing
T = TypeVar("T")  # the state of a loop


@dataclasses.dataclass(frozen=True)
class Settings:
    """A cost network that is fitted to minibatches of expert and learner.

    Args:
        steps_per_step: Adam steps for each new environment step; at least one an iteration.
        learning_rate: Their step size (alpha in the paper).
        weight_decay: L2, added to the gradient.
        batch: Transitions of each kind in a minibatch.
        recent: Half of the learner's minibatch is drawn by this many newest transitions, the other
            half by all; 0 for all.
        discount: gamma of the occupancies that are compared; 1 for all steps alike.
        gradient_penalty: Weight of (|gradient| - slope)^2 between expert and learner ...
        by_size: ... times the square of the number of coordinates that the network is given, so
            that one weight fits environments of all sizes.
        slope: How steep the network is meant to be there; at 0 it flattens as the learner comes
            close.
        bound: No cost is further from zero.
        hidden: Sizes of the hidden layers.
    """

    steps_per_step: float = 1.0
    learning_rate: float = 3e-4
    weight_decay: float = 0.0
    batch: int = 100
    recent: int = 5000
    discount: float = 0.99
    gradient_penalty: float = 0.0013
    by_size: bool = True
    slope: float = 0.0
    bound: float = 3.0
    hidden: tuple[int, ...] = (128, 128)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list would not hash
        check_range(self, ("learning_rate",), above=0, most=1)
        check_range(self, ("bound",), above=0)
        check_range(self, ("batch", "hidden"), least=1)
        check_range(self, ("steps_per_step", "weight_decay", "recent"), least=0)
        check_range(self, ("gradient_penalty", "slope"), least=0)
        check_range(self, ("discount",), above=0, most=1)
        if not self.gradient_penalty:
            only_read_with(self, ("by_size", "slope"), "gradient_penalty above 0")


class Fit(NamedTuple):
    """A network on its way: weights and the state of their Adam."""

    layers: Layers
    optimiser: Tree


@runtime_checkable
class NetworkSettings(Protocol):
    """What a cost network reads of its method's settings."""

    @property
    def hidden(self) -> tuple[int, ...]: ...
    @property
    def bound(self) -> float: ...
    @property
    def squash(self) -> Squash: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


class Network(NamedTuple):
    """c_w as functions of its weights."""

    init: Callable[[PRNGKey, int], Fit]  # (key, inputs)
    c: Callable[[Layers, Array], Array]  # [B, inputs] -> [B]
    descend: Callable[[Fit, Loss], tuple[Fit, Tree]]
    """(fit, loss -> value, more) -> the fit after one Adam step, value and more"""


def network(s: NetworkSettings) -> Network:
    """A tanh network whose output is bounded, with its Adam."""
    adam = decayed_adam(s.learning_rate, s.weight_decay)

    def init(key: PRNGKey, inputs: int) -> Fit:
        layers = mlp.init(key, (inputs, *s.hidden, 1))
        return Fit(layers, adam.init(layers))

    def c(layers: Layers, x: Array) -> Array:
        return bounded(mlp.apply(layers, x, jnp.tanh)[..., 0], s.bound, s.squash)

    def descend(fit: Fit, loss: Loss) -> tuple[Fit, Tree]:
        return descended(adam, fit, loss)

    return Network(init, c, descend)


def decayed_adam(rate: float, decay: float) -> optax.GradientTransformation:
    """Adam with L2 added to the gradient."""
    return optax.chain(optax.add_decayed_weights(decay), optax.adam(rate))


def descended(
    adam: optax.GradientTransformation,
    fit: Fit,
    loss: Loss,
) -> tuple[Fit, Tree]:
    """One step down ``loss``, which gives its value and something more; and that pair."""
    seen, gradient = jax.value_and_grad(loss, has_aux=True)(fit.layers)
    step, optimiser = adam.update(gradient, fit.optimiser, fit.layers)
    return Fit(optax.apply_updates(fit.layers, step), optimiser), seen


def inputs(batch: Batch, state_only: bool) -> Float[Array, "*B in"]:
    """What a cost of states alone, or of states and actions, is given."""
    if state_only:
        return batch.observations
    return jnp.concatenate([batch.observations, batch.actions], axis=-1)


def shares(batch: Batch) -> Float[Array, " B"]:
    """Weights that make a mean over the steps that the transitions stand for."""
    return batch.weights / jnp.sum(batch.weights)


def bounded(x: Float[Array, "*B"], bound: float, squash: Squash) -> Float[Array, "*B"]:
    """Within +-bound: by a tanh, or by a clamp, which stops the gradient where it acts."""
    x = x / bound
    return bound * (jnp.tanh(x) if squash == "tanh" else jnp.clip(x, -1.0, 1.0))


def slope_error(f: Callable[[Array], Array], x: Float[Array, "B in"], slope: float) -> Scalar:
    """The gradient penalty: mean of (|grad f| - slope)^2 at the rows of x."""
    gradient = jax.grad(lambda x: jnp.sum(f(x)))(x)
    length = jnp.sqrt(jnp.sum(gradient**2, axis=-1) + 1e-12)
    return jnp.mean((length - slope) ** 2)


def penalty_weight(weight: float, x: Float[Array, "B in"], by_size: bool) -> float:
    """The weight of a gradient penalty: times the square of the number of coordinates, or as it is.

    A network that leans a little on each of d standardised coordinates says as much as one that
    leans d times as steeply on a single one. The sum of those leanings is held, so that one weight
    fits environments of all sizes.
    """
    return weight * (x.shape[-1] ** 2 if by_size else 1)


def steps(per_step: float, data: Data) -> Count:
    """Steps of an optimiser: so many for each environment step, and at least one an iteration."""
    return jnp.maximum(1, jnp.round(per_step * data.new_steps).astype(jnp.int32))


def repeated(
    once: Callable[[T, PRNGKey], tuple[T, Metrics]], state: T, steps: Count, key: PRNGKey
) -> tuple[T, Metrics]:
    """``once(state, key)`` so many times; metrics are means."""
    state, sums = some(once, (state, nothing(once, state, key)), jnp.int32(0), steps, key)
    return state, jax.tree.map(lambda x: x / steps, sums)


def in_parts(
    name: str,
    once: Callable[[T, PRNGKey], tuple[T, Metrics]],
    state: T,
    steps: int,
    key: PRNGKey,
) -> T:
    """The state after so many steps, which are compiled here; between parts it says how far it is.

    How many parts there are changes no bit: each step has a key of its own.
    """
    carry, part = (state, nothing(once, state, key)), jax.jit(partial(some, once))
    size = -(-steps // PARTS)
    for first in range(0, steps, size):
        phase(f"{name}: {first:,} of {steps:,} steps")
        carry = part(carry, jnp.int32(first), jnp.int32(min(first + size, steps)), key)
        jax.block_until_ready(carry)
    return carry[0]


def nothing(once: Callable[[T, PRNGKey], tuple[T, Metrics]], state: T, key: PRNGKey) -> Metrics:
    """The sums of metrics before the first step."""
    shapes = jax.eval_shape(once, state, key)[1]
    return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)


def some(
    once: Callable[[T, PRNGKey], tuple[T, Metrics]],
    carry: tuple[T, Metrics],
    first: Count,
    last: Count,
    key: PRNGKey,
) -> tuple[T, Metrics]:
    """Steps ``first`` to ``last`` of (state, sums of metrics)."""

    def body(
        n: Count | int, carry: tuple[T, Metrics]
    ) -> tuple[T, Metrics]:  # an int where nothing is compiled
        state, sums = carry
        state, seen = once(state, jax.random.fold_in(key, n))
        return state, jax.tree.map(jnp.add, sums, seen)

    return jax.lax.fori_loop(first, last, body, carry)
