"""Behavioural cloning: a squashed Gaussian fitted to the expert's pairs of state and action."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from soar_il.bases import fitting
from soar_il.bases.api import Cost, Data
from soar_il.config import check_range
from soar_il.networks import gaussian, mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec, Tree


@dataclasses.dataclass(frozen=True)
class Settings:
    """How the clone is fitted.

    Args:
        steps: Adam steps of the cloning.
        learning_rate: Their step size.
        weight_decay: L2 on the clone's weights.
        batch: Pairs in a minibatch.
    """

    steps: int = 20_000
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    batch: int = 256

    def __post_init__(self) -> None:
        check_range(self, ("steps", "batch"), least=1)
        check_range(self, ("learning_rate",), above=0, most=1)
        check_range(self, ("weight_decay",), least=0)


def clone_loss(layers: Layers, batch: Batch, faithful: bool) -> Array:
    """How far the clone is from these pairs.

    Faithful: the mean minimises its squared error, and only the standard deviation the negative
    log-likelihood, on features that it does not change. Otherwise both maximise the likelihood.
    """
    if not faithful:
        return -jnp.mean(gaussian.log_prob(layers, batch.observations, batch.actions))
    features = mlp.features(layers, batch.observations)
    mean, _ = gaussian.heads(layers[-1], features)
    _, log_std = gaussian.heads(layers[-1], jax.lax.stop_gradient(features))
    density = gaussian.squashed_log_prob(jax.lax.stop_gradient(mean), log_std, batch.actions)
    error = jnp.sum((jnp.tanh(mean) - batch.actions) ** 2, axis=-1)
    return jnp.mean(error - density)


def cloned(
    key: PRNGKey, spec: Spec, expert: Data, s: Settings, hidden: tuple[int, ...], faithful: bool
) -> Layers:
    """The clone of all demonstrations after all steps."""
    first, rest = jax.random.split(key)
    layers = gaussian.init(first, spec, hidden)
    adam = fitting.decayed_adam(s.learning_rate, s.weight_decay)

    def once(state: tuple[Layers, Tree], key: PRNGKey) -> tuple[tuple[Layers, Tree], Metrics]:
        layers, optimiser = state
        batch = expert.draw(key, s.batch)
        value, gradient = jax.value_and_grad(clone_loss)(layers, batch, faithful)
        step, optimiser = adam.update(gradient, optimiser, layers)
        return (optax.apply_updates(layers, step), optimiser), {"cloning": value}

    start = layers, adam.init(layers)
    return fitting.in_parts("cloning the expert", once, start, s.steps, rest)[0]


def gap_of(
    cost_of: Callable[[Cost, Batch], Array],
    n: int,
    clone: Cost,
    expert: Data,
    data: Data,
    key: PRNGKey,
) -> Metrics:
    """How far apart learner and expert are, for a cost that is fixed."""
    theirs, ours = (cost_of(clone, x.draw(key, n)) for x in (expert, data))
    return {"cost_gap": jnp.mean(ours) - jnp.mean(theirs)}
