"""pi_psi: a Gaussian squashed by tanh, on [-1, 1] in every coordinate."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from soar_il.deep import networks, trial
from soar_il.deep.settings import Settings
from soar_il.types import Spec

LOG_STD = (-20.0, 2.0)
INSIDE = 1e-6


class Policy(NamedTuple):
    """The actor, its temperature, and their optimisers."""

    layers: networks.Layers  # psi
    optimiser: Any
    log_alpha: Any
    alpha_optimiser: Any
    updates: Any  # Adam steps so far; pi^1, which has had none, acts uniformly
    average: networks.Layers  # of psi over the updates; empty where psi itself is handed out
    trial: Any  # trial.Trial; empty where nothing is tried


def init(key: Any, spec: Spec, settings: Settings) -> Policy:
    layers = networks.init(key, (spec.observation, *settings.hidden, 2 * spec.action))
    log_alpha = jnp.asarray(math.log(max(settings.alpha, 1e-30)), jnp.float32)
    adam = optax.adam(settings.learning_rate)
    zero = jnp.zeros((), jnp.int32)
    average = jax.tree.map(jnp.copy, layers) if settings.average_rate else ()
    tried = trial.init(layers) if settings.trial_every else ()
    return Policy(layers, adam.init(layers), log_alpha, adam.init(log_alpha), zero, average, tried)


def current(pi: Policy) -> networks.Layers:
    """The average where there is one, as the theory's output is a mixture."""
    return pi.average or pi.layers


def handed_out(pi: Policy) -> networks.Layers:
    """What is evaluated and used: where policies are tried, the one that was kept."""
    return trial.chosen(pi.trial, current(pi)) if pi.trial else current(pi)


def started(pi: Policy, layers: networks.Layers, settings: Settings) -> Policy:
    """From given layers; having learned something already, it acts as itself and not uniformly."""
    optimiser = optax.adam(settings.learning_rate).init(layers)
    average = jax.tree.map(jnp.copy, layers) if pi.average else ()
    return pi._replace(
        layers=layers, optimiser=optimiser, updates=jnp.ones((), jnp.int32), average=average
    )


def sample(layers: networks.Layers, spec: Spec, observations: Any, noise: Any) -> tuple[Any, Any]:
    """a and log pi(a|s) for standard normal ``noise`` of the action's shape.

    In the absorbing state there is one action, zeros, with probability one: its entropy is 0, and
    being there is neither paid nor charged for randomness.
    """
    mean, log_std = moments(layers, observations)
    u = mean + jnp.exp(log_std) * noise
    normal = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
    log_slope = 2.0 * (math.log(2.0) - u - jax.nn.softplus(-2.0 * u))  # of tanh at u
    actions, log_pi = jnp.tanh(u), jnp.sum(normal - log_slope, axis=-1)
    if spec.absorbing:
        alive = spec.alive(observations)
        actions, log_pi = jnp.where(alive[..., None], actions, 0.0), jnp.where(alive, log_pi, 0.0)
    return actions, log_pi


def log_prob(layers: networks.Layers, observations: Any, actions: Any) -> Any:
    """log pi(a|s) of given actions; on the bounds, where the density has no value, just inside."""
    return squashed_log_prob(*moments(layers, observations), actions)


def squashed_log_prob(mean: Any, log_std: Any, actions: Any) -> Any:
    inside = jnp.clip(actions, -1 + INSIDE, 1 - INSIDE)
    u = jnp.arctanh(inside)
    normal = -0.5 * ((u - mean) * jnp.exp(-log_std)) ** 2 - log_std - 0.5 * math.log(2 * math.pi)
    return jnp.sum(normal - jnp.log1p(-(inside**2)), axis=-1)


def relative(log_pi: Any, log_prior: Any, spec: Spec, observations: Any) -> Any:
    """log pi / q; 0 in the absorbing state, where both have one action."""
    apart = log_pi - log_prior
    return jnp.where(spec.alive(observations), apart, 0.0) if spec.absorbing else apart


def mode(layers: networks.Layers, observations: Any) -> Any:
    """The deterministic action."""
    return jnp.tanh(moments(layers, observations)[0])


play = jax.jit(sample, static_argnums=1)
play_mode = jax.jit(mode)


def moments(layers: networks.Layers, observations: Any) -> tuple[Any, Any]:
    """Mean and log standard deviation before squashing."""
    return heads(layers[-1], networks.features(layers, observations))


def heads(last: tuple[Any, Any], features: Any) -> tuple[Any, Any]:
    mean, log_std = jnp.split(networks.affine(last, features), 2, axis=-1)
    return mean, jnp.clip(log_std, *LOG_STD)
