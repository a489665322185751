"""A Gaussian squashed by tanh, on [-1, 1] in every coordinate: what actors and clones are.

A policy is the layers of one network, which gives a mean and a log standard deviation.
"""

import math

import jax
import jax.numpy as jnp

from soar_il.networks import mlp
from soar_il.networks.mlp import Activation, Layer, Layers
from soar_il.policy.forward import LOG_STD
from soar_il.types import Array, Float, PRNGKey, Spec

INSIDE = 1e-6


def init(key: PRNGKey, spec: Spec, hidden: tuple[int, ...]) -> Layers:
    """Random layers for observations and actions of these sizes."""
    return mlp.init(key, (spec.observation, *hidden, 2 * spec.action))


def sample(
    layers: Layers,
    spec: Spec,
    observations: Float[Array, "*B s"],
    noise: Float[Array, "*B a"],
    activation: Activation = jax.nn.relu,
) -> tuple[Float[Array, "*B a"], Float[Array, "*B"]]:
    """a and log pi(a|s) for standard normal ``noise`` of the action's shape.

    In the absorbing state there is one action, zeros, with probability one: its entropy is 0, and
    being there is neither paid nor charged for randomness.
    """
    mean, log_std = moments(layers, observations, activation)
    u = mean + jnp.exp(log_std) * noise
    normal = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi)
    log_slope = 2.0 * (math.log(2.0) - u - jax.nn.softplus(-2.0 * u))  # of tanh at u
    actions, log_pi = jnp.tanh(u), jnp.sum(normal - log_slope, axis=-1)
    if spec.absorbing:
        alive = spec.alive(observations)
        actions, log_pi = jnp.where(alive[..., None], actions, 0.0), jnp.where(alive, log_pi, 0.0)
    return actions, log_pi


def log_prob(
    layers: Layers, observations: Float[Array, "*B s"], actions: Float[Array, "*B a"]
) -> Float[Array, "*B"]:
    """log pi(a|s) of given actions; on the bounds, where the density has no value, just inside."""
    return squashed_log_prob(*moments(layers, observations), actions)


def log_pi(
    layers: Layers, spec: Spec, observations: Float[Array, "*B s"], actions: Float[Array, "*B a"]
) -> Float[Array, "*B"]:
    """log pi(a|s) of given actions; 0 in the absorbing state, which has one action."""
    density = log_prob(layers, observations, actions)
    return jnp.where(spec.alive(observations), density, 0.0) if spec.absorbing else density


def squashed_log_prob(
    mean: Float[Array, "*B a"], log_std: Float[Array, "*B a"], actions: Float[Array, "*B a"]
) -> Float[Array, "*B"]:
    """log pi(a|s) from the mean and log standard deviation before squashing."""
    inside = jnp.clip(actions, -1 + INSIDE, 1 - INSIDE)
    u = jnp.arctanh(inside)
    normal = -0.5 * ((u - mean) * jnp.exp(-log_std)) ** 2 - log_std - 0.5 * math.log(2 * math.pi)
    return jnp.sum(normal - jnp.log1p(-(inside**2)), axis=-1)


def relative(
    log_pi: Float[Array, "*B"],
    log_prior: Float[Array, "*B"],
    spec: Spec,
    observations: Float[Array, "*B s"],
) -> Float[Array, "*B"]:
    """log pi / q; 0 in the absorbing state, where both have one action."""
    apart = log_pi - log_prior
    return jnp.where(spec.alive(observations), apart, 0.0) if spec.absorbing else apart


def mode(
    layers: Layers, observations: Float[Array, "*B s"], activation: Activation = jax.nn.relu
) -> Float[Array, "*B a"]:
    """The deterministic action."""
    return jnp.tanh(moments(layers, observations, activation)[0])


play = jax.jit(sample, static_argnums=(1, 4))
play_mode = jax.jit(mode, static_argnums=2)


def moments(
    layers: Layers, observations: Float[Array, "*B s"], activation: Activation = jax.nn.relu
) -> tuple[Float[Array, "*B a"], Float[Array, "*B a"]]:
    """Mean and log standard deviation before squashing."""
    return heads(layers[-1], mlp.features(layers, observations, activation))


def heads(
    last: Layer, features: Float[Array, "*B width"]
) -> tuple[Float[Array, "*B a"], Float[Array, "*B a"]]:
    """Mean and log standard deviation from what the last layer sees."""
    mean, log_std = jnp.split(mlp.affine(last, features), 2, axis=-1)
    return mean, jnp.clip(log_std, *LOG_STD)
