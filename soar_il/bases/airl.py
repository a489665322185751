"""AIRL (Fu et al. 2018): the discriminator knows the policy, so that what it learns is a reward.

Its logit is f(s, a, s') - log pi(a|s), with f = g(s) + gamma h(s') - h(s). Where nothing can tell
the expert from pi any more, f is log pi, an advantage. The potential h takes on the value of a
state in it, so that g is the expert's reward, up to a constant.
"""

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp

from soar_il.bases import discriminator
from soar_il.bases.api import Base, LogPi, Needs
from soar_il.bases.discriminator import Judge
from soar_il.bases.given import Given
from soar_il.networks import mlp
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Float, PRNGKey, Spec

DENSITY = 10.0  # |log pi| is at most this for each coordinate of the action


@dataclasses.dataclass(frozen=True)
class Settings(discriminator.Fitting):
    """How g and h are fitted.

    Args:
        inputs: What g is given: states, or pairs of state and action.
        bound: |f| is at most this. f becomes log pi, a sum over the coordinates of the action: of
            Humanoid's 17 the uniform policy already has -12.
        gradient_penalty: That of GAIL, 0.0053, where costs count five times as much: f is measured
            by a temperature of 1, those of other methods by 0.2, and the penalty is a square.
    """

    inputs: Literal["states", "pairs"] = "states"
    bound: float = 30.0
    gradient_penalty: float = 0.00025


def make(settings: Settings, given: Given) -> Base:
    """g and h are tanh networks of the same sizes; their layers stand one behind the other."""
    s, depth = settings, len(settings.hidden) + 1

    def start(key: PRNGKey, spec: Spec) -> Layers:
        keys = jax.random.split(key)
        wide = spec.observation + (spec.action if s.inputs == "pairs" else 0)
        g = mlp.init(keys[0], (wide, *s.hidden, 1))
        return g + mlp.init(keys[1], (spec.observation, *s.hidden, 1))

    def inputs(batch: Batch) -> Array:
        parts = batch.next_observations, batch.observations, batch.actions
        return jnp.concatenate([batch.continues[..., None], *parts], axis=-1)

    def f(layers: Layers, x: Float[Array, "*B in"]) -> Float[Array, "*B"]:
        size = len(layers[depth][0])
        goes_on = jax.lax.stop_gradient(x[..., 0])  # no slope of f where it is penalised
        following, pair = x[..., 1 : 1 + size], x[..., 1 + size :]
        own = pair if s.inputs == "pairs" else pair[..., :size]
        g = mlp.apply(layers[:depth], own, jnp.tanh)[..., 0]
        h, then = (
            mlp.apply(layers[depth:], x, jnp.tanh)[..., 0] for x in (pair[..., :size], following)
        )
        return g + given.discount * goes_on * then - h

    def offset(batch: Batch, log_pi: LogPi) -> Array:
        most = DENSITY * batch.actions.shape[-1]
        return -jnp.clip(log_pi(batch.observations, batch.actions), -most, most)

    judge = Judge(start, inputs, f, offset)
    return discriminator.adversary(s, judge, Needs(actions=True, log_pi=True))
