"""A learner with a cost that is known, small enough to follow by hand."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from soar_il.deep import actor, critics, replay
from soar_il.deep import parts as deep
from soar_il.deep.settings import Settings

from soar_il import rng, soar
from soar_il.bases.api import Base, Needs
from soar_il.types import Batch, Spec, Treated

SPEC = Spec(3, 2)
SEED = 3


def cost_of(state, batch):
    return state * jnp.sum(batch.observations, -1) + jnp.sum(batch.actions**2, -1)


KNOWN = Base(
    needs=Needs(actions=False, on_policy=False),
    init=lambda key, spec, expert: np.float32(0.3),
    update=lambda cost, expert, data, key: (cost, {}),
    cost=cost_of,
)


def settings(**more):
    small = {"critics": 2, "batch": 8, "hidden": (8,), "capacity": 1024, "learning_rate": 3e-3}
    return Settings(**{**small, **more})


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
    return deep.initial(rng.at(0, 0), KNOWN, None, SPEC, s)


def learned(s, data, state=None, **other_parts):
    """One iteration of Algorithm 1 on data that are there already."""
    made = deep.parts(KNOWN, None, None, None, SPEC, s)
    parts = made._replace(collect=lambda *_: None, add=lambda *_: data, **other_parts)
    return soar.iteration(parts, first_state(s) if state is None else state, SEED)


update_critics = jax.jit(critics.update, static_argnums=(5, 6))
update_actor = jax.jit(actor.update, static_argnums=(1, 4, 5))


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
    )
