"""CSIL (Watson et al. 2023): a clone of the expert is made once, and its log-density is the reward.

This is the method as its authors built it: away from the demonstrations the clone is a prior, so
its density says nothing there; the policy starts from the clone and is held to it; the critics
start from the demonstrations and see them in every minibatch. Algorithm 10 of the paper is the
plain one, in csil_plain.py.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases import cloning, fitting, reversion
from soar_il.bases.api import Base, Clone, Cost, Data, Look, Needs, squared_error
from soar_il.bases.given import Given
from soar_il.config import check_range
from soar_il.networks import gaussian
from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec

FLOOR = 0.5 * math.log(1e-5)  # of the clone's log std: bounds the reward from above
MOST = -FLOOR + math.log(2.0)  # reward of one action coordinate
PRIOR = 0.75  # variance before squashing: then nearly uniform
LEAST = -30.0  # of log pi_BC where the policy is held to it; far away it could be anything


@dataclasses.dataclass(frozen=True)
class Anchored(cloning.Settings):
    """Settings of a method whose actor starts as the clone and is held to it.

    Args:
        bound: No cost is further from zero.
        critic_steps: Steps of the critics on the demonstrations, before the first episode.
        action_slope: Weight of the root mean square of |dQ/da| at the expert's pairs ...
        slope_batch: ... so many of them an update.
    """

    bound: float = 10.0
    critic_steps: int = 5_000
    action_slope: float = 1.0
    slope_batch: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("bound",), above=0)
        check_range(self, ("critic_steps", "action_slope"), least=0)
        check_range(self, ("slope_batch",), least=1)


@dataclasses.dataclass(frozen=True)
class Settings(Anchored):
    """How the clone is made and used.

    Args:
        centres: Demonstrated states that measure how far a state is from all of them.
        level: How much of the prior is left at demonstrated states that are no centres.
        refine: Step size of the reward's refinement on the learner's data; 0 for none.
    """

    centres: int = 256
    level: float = 0.05
    refine: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, ("centres",), least=1)
        check_range(self, ("level",), above=0, below=1)
        check_range(self, ("refine",), least=0)


class Cloned(NamedTuple):
    """pi_BC, the reward's own copy of it, and where it is worth anything."""

    layers: Layers  # what the actor starts from and is held to
    judge: Layers  # whose log-density is the reward; refinement may change it
    reversion: reversion.Reversion | None  # None: it is trusted everywhere


def log_density(clone: Cloned, layers: Layers, states: Array, actions: Array) -> Array:
    """log q(a|s): the clone's where demonstrations are, the prior's where none is."""
    mean, log_std = gaussian.moments(layers, states)
    if clone.reversion is None:
        return gaussian.squashed_log_prob(mean, log_std, actions)
    away = reversion.left(clone.reversion, states)[..., None]
    log_std = (1 - away) * jnp.maximum(log_std, FLOOR) + away * 0.5 * math.log(PRIOR)
    return gaussian.squashed_log_prob((1 - away) * mean, log_std, actions)


def make(settings: Settings, given: Given) -> Base:
    """CSIL as its authors built it; with SOAR its critic becomes L pairs."""
    s = settings

    def init(key: PRNGKey, spec: Spec, expert: Data) -> Cloned:
        layers = cloning.cloned(key, spec, expert, s, given.hidden, faithful=True)
        keys = jax.random.split(jax.random.fold_in(key, 1))
        centres, others = (expert.draw(k, s.centres).observations for k in keys)
        return Cloned(layers, layers, reversion.fit(centres, others, s.level))

    def worth(clone: Cloned, layers: Layers, batch: Batch) -> Array:
        """(log q - log uniform) / dimensions of the action."""
        size = batch.actions.shape[-1]
        density = log_density(clone, layers, batch.observations, batch.actions)
        return jnp.clip(density / size + math.log(2.0), -s.bound, MOST)

    def cost_of(clone: Cloned, batch: Batch) -> Array:
        return -worth(clone, clone.judge, batch)

    def refined(clone: Cloned, expert: Data, data: Data, key: PRNGKey) -> tuple[Cloned, Metrics]:
        """Demonstrations gain, the learner's pairs lose what they have too much."""
        keys = jax.random.split(key)
        theirs, ours = expert.draw(keys[0], s.batch), data.draw(keys[1], s.batch)

        def loss(layers: Layers) -> tuple[Array, Array]:
            theirs_r, ours_r = worth(clone, layers, theirs), worth(clone, layers, ours)
            gap = jnp.mean(theirs_r) - jnp.mean(ours_r)
            return jnp.mean(jnp.exp(-jnp.maximum(ours_r, -5.0)) - 1) - gap, gap

        (_, gap), gradient = jax.value_and_grad(loss, has_aux=True)(clone.judge)
        moved = jax.tree.map(lambda x, g: x - s.refine * g, clone.judge, gradient)
        return clone._replace(judge=moved), {"cost_gap": gap}

    def update(clone: Cloned, expert: Data, data: Data, key: PRNGKey) -> tuple[Cloned, Metrics]:
        if not s.refine:
            return clone, cloning.gap_of(cost_of, s.batch, clone, expert, data, key)
        steps = fitting.steps(1.0, data)
        return fitting.repeated(lambda c, k: refined(c, expert, data, k), clone, steps, key)

    return anchored(s, Base(Needs(actions=True), init, update, cost_of, least_cost=-MOST))


def anchored(s: Anchored, base: Base) -> Base:
    """The method with an actor that starts as the clone and is held to it; dQ/da is penalised."""
    return base._replace(
        needs=base.needs._replace(demonstrations=s.action_slope > 0),
        clone=Clone(lambda clone: clone.layers, held_to, s.critic_steps),
        critic_loss=flat(s) if s.action_slope else squared_error,
    )


def held_to(clone: Cloned, states: Array, actions: Array) -> Array:
    """log pi_BC(a|s) as the network has it, also where the reward's q is back at its prior."""
    mean, log_std = gaussian.moments(clone.layers, states)
    density = gaussian.squashed_log_prob(mean, jnp.maximum(log_std, FLOOR), actions)
    return jnp.maximum(density, LEAST)


def flat(s: Anchored) -> Callable[[Cost, Look], Array]:
    """The squared error, and the root mean square of |dQ/da| at the expert's pairs, summed."""

    def loss(cost: Cost, look: Look) -> Array:
        assert look.expert is not None
        states = look.expert.observations[: s.slope_batch]
        actions = look.expert.actions[: s.slope_batch]
        n = 2 * len(look.q)
        own = jnp.broadcast_to(actions, (n, *actions.shape))  # so that gradients do not mix
        slopes = jax.grad(lambda a: jnp.sum(look.critics(states, a)))(own)
        size = jnp.sum(jnp.sqrt(jnp.mean(jnp.sum(slopes**2, -1), -1) + 1e-12))
        return squared_error(cost, look) + s.action_slope * size

    return loss
