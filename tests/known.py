"""A learner with a cost that is known, small enough to follow by hand."""

import math
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il import rng, soar
from soar_il.bases.api import Base, Clone, Needs, squared_error
from soar_il.engine import parts as engine
from soar_il.engine import replay
from soar_il.engine.collect import Collector
from soar_il.engine.draws import Draws
from soar_il.engine.parts import Kit
from soar_il.learners import LEARNERS, critics, sac
from soar_il.types import Batch, Spec, Treated

SAC = LEARNERS["sac"]
SPEC = Spec(3, 2)
SEED = 3


def cost_of(state, batch):
    return state * jnp.sum(batch.observations, -1) + jnp.sum(batch.actions**2, -1)


KNOWN = Base(
    needs=Needs(),
    init=lambda key, spec, expert: np.float32(0.3),
    update=lambda cost, expert, data, key: (cost, {}),
    cost=cost_of,
)


def settings(**more):
    small = {"critics": 2, "batch": 8, "hidden": (8,), "capacity": 1024, "learning_rate": 3e-3}
    return sac.Settings(**{**small, **more})


def normals(seed, shape, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def episode(seed, length=30):
    continues = np.ones(length, np.float32)
    continues[-1] = 0
    return Treated(
        observations=normals(seed, (length + 1, 3)),
        actions=np.tanh(normals(seed + 1, (length, 2))),
        continues=continues,
        weights=np.ones(length, np.float32),
        occupancy=np.ones(length, np.float32),
    )


def replay_of(seeds, tables, steps=1):
    return replay.add(replay.empty(SPEC, 1024, tables), [episode(seed) for seed in seeds], steps)


@cache
def first_state(s):
    return engine.initial(Kit(SAC, KNOWN, SPEC, s), rng.at(0, 0), None)


def first_actor(s):
    return first_state(s).policy.policy


def with_actor(state, actor):
    return state._replace(policy=state.policy._replace(policy=actor))


def learned(s, data, state=None, **other_parts):
    """One iteration of Algorithm 1 on data that are there already: the state, what was seen."""
    made = engine.parts(Kit(SAC, KNOWN, SPEC, s), None, Collector(None, None, SPEC, SAC, s))
    parts = made._replace(collect=lambda *_: None, add=lambda *_: data, **other_parts)
    state, _, seen = soar.iteration(parts, first_state(s) if state is None else state, SEED)
    return state, seen


def draws_of(data, s, expert=None):
    return Draws(data, expert, s, shows_expert=False)


class Given(NamedTuple):
    """Minibatches that are this one, whatever the key."""

    batch: Any

    def each(self, key):
        return self.batch

    def shared(self, key):
        return jax.tree.map(lambda x: x[0], self.batch)

    def demonstrations(self, key):
        return None


def noise_of(key, batch):
    """What the critics' line draws its next actions with."""
    return jax.random.normal(jax.random.split(key)[1], batch.actions.shape)


@partial(jax.jit, static_argnames=("spec", "s", "log_prior", "least"))
def estimated(c, actor, costs, batch, key, *, spec=SPEC, s, log_prior=None, least=-math.inf):
    """Lines 7-9 on one minibatch with these costs: the critics, what was seen, and their goal.

    No value counts for less than ``least``; the entropy is relative to exp(``log_prior``(s, a)).
    """
    goals = []

    def noted(cost, look):
        goals.append(look.goal)
        return squared_error(cost, look)

    base = KNOWN._replace(
        cost=lambda cost, batch: cost,
        least_cost=least * (1 - s.discount),
        critic_loss=noted,
        clone=log_prior and Clone(None, lambda cost, states, actions: log_prior(states, actions)),
    )
    new, seen = sac.learner(base, spec, s).estimate(c, actor, costs, Given(batch), key)
    return new, seen, goals[0]


def update_critics(*given, **named):
    """The critics and what was seen."""
    return estimated(*given, **named)[:2]


def backup(*given, **named):
    """c + gamma (Q_targ + alpha log pi), [L, B]."""
    return estimated(*given, **named)[2]


@partial(jax.jit, static_argnums=(1, 4, 5, 6))
def update_actor(actor, q, states, noise, spec, s, log_prior=None):
    return sac.update_actor(actor, q, log_prior, states, noise, spec, s, critics.Rule(s.sigma))


def same(one, other):
    """Bit for bit."""
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


def double(tree):
    def cast(x):
        return np.asarray(x, float) if jnp.issubdtype(x.dtype, jnp.floating) else x

    return jax.tree.map(cast, tree)


def random_batch(seed, shape, dtype=np.float32):
    return Batch(
        observations=normals(seed, (*shape, 3), dtype),
        actions=np.tanh(normals(seed + 1, (*shape, 2), dtype)),
        next_observations=normals(seed + 2, (*shape, 3), dtype),
        continues=(normals(seed + 3, shape) > 0).astype(dtype),
        weights=np.ones(shape, dtype),
        expert=np.zeros(shape, bool),
        trajectory=np.zeros(shape, np.int32),
    )
