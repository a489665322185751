"""Line 5: how D^k grows. Trajectories are pushed over the oldest rows, a chunk at a time."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.engine.data import NONE, Replay
from soar_il.errors import ConfigError
from soar_il.types import Array, Bool, Count, Float, Int, Spec, Treated

CHUNK = 1024  # rows a push; one size, so one compiled program


def empty(spec: Spec, capacity: int, tables: int) -> Replay:
    """Room for ``capacity`` rows; ``tables`` is L when each critic has its own data, else 0."""
    if capacity < CHUNK:
        raise ConfigError(f"capacity is {capacity}", do=f"give at least {CHUNK}")
    zero = np.zeros((), np.int32)
    return Replay(
        observations=jnp.zeros((capacity, spec.observation), jnp.float32),
        actions=jnp.zeros((capacity, spec.action), jnp.float32),
        continues=jnp.zeros(capacity, jnp.float32),
        weights=jnp.zeros(capacity, jnp.float32),
        occupancy=jnp.zeros(capacity, jnp.float32),
        trajectory=jnp.full(capacity, NONE, jnp.int32),
        step=jnp.zeros(capacity, jnp.int32),
        length=jnp.zeros(capacity, jnp.int32),
        tables=jnp.zeros((1 + tables, capacity), jnp.int32),
        head=jnp.zeros(1 + tables, jnp.int32),
        alive=jnp.zeros(1 + tables, jnp.int32),
        row=jnp.asarray(zero),
        trajectories=jnp.asarray(zero),
        steps=jnp.asarray(zero),
        new_steps=jnp.asarray(zero),
        fresh=jnp.asarray(zero),
    )


class Rows(NamedTuple):
    """A chunk of trajectories on its way in; ``trajectory`` counts from the chunk's first."""

    observations: Float[np.ndarray, "n s"]
    actions: Float[np.ndarray, "n a"]
    continues: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, " n"]
    occupancy: Float[np.ndarray, " n"]
    trajectory: Int[np.ndarray, " n"]
    step: Int[np.ndarray, " n"]
    length: Int[np.ndarray, " n"]


def add(replay: Replay, treated: list[Treated], steps: int) -> Replay:
    """Line 5: D^k = D^{k-1} u tau. The replay given is used up."""
    capacity = len(replay.observations)
    parts: list[tuple[np.ndarray, ...]] = []
    for n, (s, a, continues, weights, occupancy) in enumerate(treated):
        if len(s) > capacity:
            raise ConfigError(
                f"a trajectory of {len(a)} steps does not fit a capacity of {capacity}",
                do="give a larger capacity",
            )
        zero, number = np.zeros(1, np.float32), np.full(len(a), n, np.int32)
        parts.append(
            (
                s,
                np.concatenate([a, np.zeros_like(a[:1])]),
                np.concatenate([continues, zero]),
                np.concatenate([weights, zero]),
                np.concatenate([occupancy, zero]),
                np.append(number, np.int32(NONE)),
                np.arange(len(s), dtype=np.int32),
                np.full(len(s), len(a), np.int32),
            )
        )
    whole = [np.concatenate(x) for x in zip(*parts, strict=True)]
    total = len(whole[0])
    for start in range(0, total, CHUNK):
        part = Rows(*(_padded(x[start : start + CHUNK]) for x in whole))
        replay = _push(replay, part, np.int32(min(CHUNK, total - start)))
    transitions = total - len(treated)
    return _counted(replay, np.int32(len(treated)), np.int32(steps), np.int32(transitions))


def _padded(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, np.zeros((CHUNK - len(x), *x.shape[1:]), x.dtype)])


@partial(jax.jit, donate_argnums=0)
def _push(replay: Replay, rows: Rows, n: Count) -> Replay:
    """Write a chunk over the oldest rows, and list its transitions where they belong."""
    tables, capacity = replay.tables.shape
    valid = jnp.arange(CHUNK) < n
    target = jnp.where(valid, (replay.row + jnp.arange(CHUNK)) % capacity, capacity)
    starts = valid & (rows.trajectory != NONE)
    number = jnp.where(starts, replay.trajectories + rows.trajectory, NONE)
    overwritten = replay.trajectory.at[target].get(mode="fill", fill_value=NONE)
    gone, new = _members(overwritten, tables), _members(number, tables)

    place = replay.head[:, None] + jnp.cumsum(new, axis=1) - 1
    place = jnp.where(new, place % capacity, capacity)
    listed = jax.vmap(lambda table, at: table.at[at].set(target, mode="drop"))(replay.tables, place)
    return replay._replace(
        observations=replay.observations.at[target].set(rows.observations, mode="drop"),
        actions=replay.actions.at[target].set(rows.actions, mode="drop"),
        continues=replay.continues.at[target].set(rows.continues, mode="drop"),
        weights=replay.weights.at[target].set(rows.weights, mode="drop"),
        occupancy=replay.occupancy.at[target].set(rows.occupancy, mode="drop"),
        trajectory=replay.trajectory.at[target].set(number, mode="drop"),
        step=replay.step.at[target].set(rows.step, mode="drop"),
        length=replay.length.at[target].set(rows.length, mode="drop"),
        tables=listed,
        head=(replay.head + new.sum(axis=1)) % capacity,
        alive=replay.alive - gone.sum(axis=1) + new.sum(axis=1),
        row=(replay.row + n) % capacity,
    )


def _members(number: Int[Array, " n"], tables: int) -> Bool[Array, "{tables} n"]:
    """[1 + L, n]: which transitions belong to which table; trajectory n goes to critic n mod L."""
    alive = number != NONE
    owner = number % max(tables - 1, 1)
    return jnp.stack([alive, *(alive & (owner == ell) for ell in range(tables - 1))])


@partial(jax.jit, donate_argnums=0)
def _counted(replay: Replay, trajectories: Count, steps: Count, transitions: Count) -> Replay:
    return replay._replace(
        trajectories=replay.trajectories + trajectories,
        steps=replay.steps + steps,
        new_steps=steps,
        fresh=transitions,
    )
