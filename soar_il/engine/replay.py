"""D^k on the device: each trajectory stored once, T + 1 observations, split among the critics.

Rows are a ring. A transition is named by its first row; s' is the row after it. ``tables`` lists
the transitions that are alive, oldest first: table 0 has all of D^k, table ell those of D^k_ell.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.bases.api import Recent
from soar_il.errors import ConfigError
from soar_il.types import (
    Array,
    Batch,
    Bool,
    Count,
    Float,
    Int,
    PRNGKey,
    Spec,
    Trajectories,
    Treated,
)

CHUNK = 1024  # rows a push; one size, so one compiled program
NONE = -1


class Replay(NamedTuple):
    """L is the number of tables besides the first; 0 when critics share one data set."""

    observations: Float[Array, "C s"]
    actions: Float[Array, "C a"]
    continues: Float[Array, " C"]
    weights: Float[Array, " C"]  # steps that the transition stands for
    occupancy: Float[Array, " C"]  # gamma^t times that: its part of the discounted occupancy
    trajectory: Int[Array, " C"]  # the trajectory's number; NONE where no transition starts
    step: Int[Array, " C"]  # t, counted from the trajectory's first transition
    length: Int[Array, " C"]  # transitions of that trajectory
    tables: Int[Array, "1+L C"]  # rows of transitions, a ring for each table
    head: Int[Array, " 1+L"]  # where the next entry goes
    alive: Int[Array, " 1+L"]  # entries alive
    row: Count  # where the next row goes
    trajectories: Count  # pushed so far
    steps: Count  # environment steps so far
    new_steps: Count  # environment steps of the last iteration
    fresh: Count  # transitions that the last iteration added

    def draw(self, key: PRNGKey, n: int, recent: Recent = None) -> Batch:
        """n transitions of D^k, or of its ``recent`` newest, uniformly."""
        return self.at(self.rows(key, n, recent))

    def draw_occupancy(self, key: PRNGKey, n: int, discount: float, recent: Recent = None) -> Batch:
        """n transitions as a discounted occupancy measure has them: step t as often as discount^t.

        Trajectories are drawn by their transitions, or by the ``recent`` newest. One that stays in
        its last state goes on there; any other, which was cut, has no steps beyond its end.
        """
        which, when = jax.random.split(key)
        rows = self.rows(which, n, recent)
        length, first = self.length[rows], rows - self.step[rows]
        capacity = len(self.observations)
        stays = self.weights[(first + length - 1) % capacity] > 1
        t = _geometric(when, (n,), discount)
        t = jnp.where(stays, jnp.minimum(t, length - 1), t % length)
        chosen = (first + t) % capacity
        chosen = jnp.where(self.trajectory[chosen] == self.trajectory[rows], chosen, rows)
        return self.at(chosen)._replace(weights=jnp.ones(n))

    def draw_trajectories(
        self,
        key: PRNGKey,
        n: int,
        m: int,
        recent: Recent = None,
        whole: bool = False,
        discount: float = 1.0,
    ) -> Trajectories:
        """m steps of each of n trajectories that the newest transitions belong to.

        Drawn by the time they stand for, or as a discounted occupancy has them; with ``whole`` the
        first m steps.
        """
        which, when = jax.random.split(key)
        rows = self.rows(which, n, recent)
        length, first = self.length[rows], rows - self.step[rows]
        capacity = len(self.observations)
        steps = length - 1 + self.weights[(first + length - 1) % capacity]  # the last may stay
        if whole:
            t = jnp.broadcast_to(jnp.arange(m)[:, None], (m, n))
        elif discount < 1:
            t = _geometric(when, (m, n), discount)
            t = jnp.where(steps > length, t, t % length)
        else:
            t = jnp.floor(jax.random.uniform(when, (m, n)) * steps).astype(jnp.int32)
        chosen = (first + jnp.minimum(t, length - 1)) % capacity
        chosen = jnp.where(self.trajectory[chosen] == self.trajectory[rows], chosen, rows)
        weights = jnp.where(t < length, self.weights[chosen], 0.0) if whole else jnp.ones((m, n))
        share = 1.0 / length  # a long one is drawn more often
        return Trajectories(
            self.at(chosen), weights / jnp.sum(weights, axis=0), share / jnp.sum(share)
        )

    def draw_each(self, key: PRNGKey, n: int, critics: int, recent: Recent = None) -> Batch:
        """n transitions of each D^k_ell, [L, n]; without a split, L minibatches of D^k."""
        return self.at(self.rows_each(key, n, critics, recent))

    def draw_pairs(
        self, key: PRNGKey, n: int, critics: int
    ) -> tuple[Batch, Float[Array, "L n a"], Bool[Array, "L n"]]:
        """Transitions [L, n], the action that followed each, and whether there was one."""
        rows = self.rows_each(key, n, critics)
        following = (rows + 1) % len(self.observations)
        known = self.trajectory[following] == self.trajectory[rows]
        return self.at(rows), self.actions[following], known

    def rows(self, key: PRNGKey, n: int, recent: Recent = None) -> Int[Array, " n"]:
        """Where n transitions start; ``recent`` may differ from one to the next."""
        count = self.alive[0] if recent is None else jnp.minimum(self.alive[0], recent)
        back = 1 + jax.random.randint(key, (n,), 0, count)
        return self.tables[0, (self.head[0] - back) % self.tables.shape[1]]

    def rows_each(
        self, key: PRNGKey, n: int, critics: int, recent: Recent = None
    ) -> Int[Array, "L n"]:
        """Where n transitions for each critic start, [L, n]."""
        split = self.tables.shape[0] > 1
        tables = jnp.arange(1, critics + 1) if split else jnp.zeros(critics, jnp.int32)
        count, capacity = self.alive[tables][:, None], self.tables.shape[1]
        reach = count if recent is None else jnp.minimum(count, recent)
        drawn = jax.random.randint(key, (len(tables), n), 0, reach)
        place = (self.head[tables][:, None] - reach + drawn) % capacity
        return self.tables[tables[:, None], place]

    def at(self, rows: Int[Array, "*B"]) -> Batch:
        """The transitions that start at these rows."""
        following = (rows + 1) % len(self.observations)
        return Batch(
            self.observations[rows],
            self.actions[rows],
            self.observations[following],
            self.continues[rows],
            self.weights[rows],
            jnp.zeros(rows.shape, bool),
            self.trajectory[rows],
        )

    def first_new(self, room: int) -> tuple[Float[Array, "room s"], Bool[Array, " room"]]:
        """The first trajectory that the last iteration added: states, and which of them are its."""
        capacity = len(self.observations)
        first = self.tables[0, (self.head[0] - self.fresh) % capacity]
        rows = (first + jnp.arange(room)) % capacity
        number = self.trajectory[rows]
        own = (number == self.trajectory[first]) & (number != NONE)
        return self.observations[rows], own

    def newest(self, room: int | None = None) -> tuple[Batch, Float[Array, " n"]]:
        """What the last iteration added, with weights: the discounted occupancy, summing to one.

        ``room`` is the size of the result; transitions beyond it are left out, the oldest first.
        """
        capacity = self.tables.shape[1]
        place = jnp.arange(min(room or capacity, capacity))
        rows = self.tables[0, (self.head[0] - 1 - place) % capacity]
        weights = jnp.where(place < jnp.minimum(self.fresh, self.alive[0]), self.occupancy[rows], 0)
        return self.at(rows), weights / jnp.sum(weights)


def _geometric(key: PRNGKey, shape: tuple[int, ...], discount: float) -> Int[Array, "..."]:
    """t with probability (1 - discount) discount^t."""
    uniform = 1.0 - jax.random.uniform(key, shape)  # never 0
    return jnp.floor(jnp.log(uniform) / math.log(discount)).astype(jnp.int32)


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
