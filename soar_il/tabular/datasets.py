"""The L datasets D_l, R_l of Algorithm 2 (lines 5-6, 8-12) and what they say of P V.

``Counts`` keeps N_l(s, a, s') as a table: right when L S A S is small. ``Log`` keeps the
transitions themselves, O(number of steps): right when S is large and the table would be mostly
zeros. Both give the same numbers.
"""

from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jax import lax

from soar_il.tabular.settings import Settings
from soar_il.types import Array, Count, Tree

IN_BOUNDS = "promise_in_bounds"  # spares the check of each index inside the loop


class Rollouts(NamedTuple):
    """J rollouts side by side; entries past a rollout's length mean nothing."""

    states: Array  # [T + 1, J]
    actions: Array  # [T, J]
    length: Array  # [J], L^k
    horizon: Count  # the longest, over everything that runs side by side


class Datasets(Protocol):
    """What an implementation offers; ``data`` is its own pytree."""

    def empty(self) -> Tree: ...

    def add(self, data: Tree, tau: Rollouts) -> Tree: ...

    def next_values(self, data: Tree, value: Array) -> Array:
        """P_l V for each l ``[L, S, A]``."""
        ...


class CountsData(NamedTuple):
    visits: Array  # N(s, a) [S * A]
    counts: (
        Array  # N_l(s, a, s') [S' * L * S * A]: successors first, so that P_l V adds whole slabs
    )


class Counts(NamedTuple):
    settings: Settings
    n_states: int
    n_actions: int

    def empty(self) -> CountsData:
        pairs = self.n_states * self.n_actions
        slab = self.settings.critics * pairs
        return CountsData(jnp.zeros(pairs, jnp.int32), jnp.zeros(self.n_states * slab, jnp.int32))

    def add(self, data: CountsData, tau: Rollouts) -> CountsData:
        cells = self.settings.critics * self.n_states * self.n_actions

        def step(t: Count, data: CountsData) -> CountsData:
            visits, cell, successor, valid = _route(self, data.visits, tau, t)
            at = data.counts.at[successor * cells + cell]
            return CountsData(visits, at.add(valid, mode=IN_BOUNDS))

        return lax.fori_loop(0, tau.horizon, step, data)

    def next_values(self, data: CountsData, value: Array) -> Array:
        shape = (self.n_states, self.settings.critics, self.n_states, self.n_actions)
        counts = data.counts.reshape(shape)
        total = jnp.tensordot(value, counts.astype(value.dtype), axes=1)
        return _normalise(self.settings, total, counts.sum(axis=0), value)


class LogData(NamedTuple):
    visits: Array  # N(s, a) [S * A]
    per_dataset: Array  # N_l(s, a) [L * S * A]
    cell: Array  # (l, s, a) of each transition, flat [capacity]
    successor: Array  # s' of each transition [capacity]; n_states where there is none yet
    size: Count  # how many there are


class Log(NamedTuple):
    settings: Settings
    n_states: int
    n_actions: int
    capacity: int

    def empty(self) -> LogData:
        pairs = self.n_states * self.n_actions
        return LogData(
            jnp.zeros(pairs, jnp.int32),
            jnp.zeros(self.settings.critics * pairs, jnp.int32),
            jnp.zeros(self.capacity, jnp.int32),
            jnp.full(self.capacity, self.n_states, jnp.int32),
            jnp.int32(0),
        )

    def add(self, data: LogData, tau: Rollouts) -> LogData:
        def step(t: Count, data: LogData) -> LogData:
            visits, cell, successor, valid = _route(self, data.visits, tau, t)
            slot = jnp.where(
                valid == 1, data.size + jnp.cumsum(valid, dtype=jnp.int32) - 1, self.capacity
            )
            return LogData(
                visits,
                data.per_dataset.at[cell].add(valid, mode=IN_BOUNDS),
                data.cell.at[slot].set(cell, mode="drop"),
                data.successor.at[slot].set(successor, mode="drop"),
                data.size + valid.sum(dtype=jnp.int32),
            )

        return lax.fori_loop(0, tau.horizon, step, data)

    def next_values(self, data: LogData, value: Array) -> Array:
        gain = jnp.append(value, 0.0)[data.successor]
        total = jnp.zeros(data.per_dataset.shape, value.dtype).at[data.cell].add(gain)
        shape = (self.settings.critics, self.n_states, self.n_actions)
        n = data.per_dataset.reshape(shape)
        return _normalise(self.settings, total.reshape(shape), n, value)


def _route(
    datasets: "Counts | Log", visits: Array, tau: Rollouts, t: Count
) -> tuple[Array, Array, Array, Array]:
    """Lines 5-6 for step t of each rollout that is kept.

    The new N(s, a); the cell (l, s, a) that the transition joins; s'; and whether it is data (1) or
    past the end of its rollout (0).
    """
    settings = datasets.settings
    lanes = slice(settings.data_rollouts)
    length = tau.length[lanes] if settings.last_transition else tau.length[lanes] - 1
    valid = (t < length).astype(jnp.int32)
    pair = tau.states[t, lanes] * datasets.n_actions + tau.actions[t, lanes]
    visits = visits.at[pair].add(valid, mode=IN_BOUNDS)
    if settings.routing == "trajectories":
        ell = jnp.arange(settings.critics, dtype=jnp.int32)
    else:
        ell = visits.at[pair].get(mode=IN_BOUNDS) % settings.critics
    cell = ell * (datasets.n_states * datasets.n_actions) + pair
    return visits, cell, tau.states[t + 1, lanes], valid


def _normalise(settings: Settings, total: Array, n: Array, value: Array) -> Array:
    """Line 11: from sums of V(s') to P_l V."""
    if settings.kernel == "plus-two":
        return total / (n + 2)
    return jnp.where(n > 0, total / jnp.maximum(n, 1), jnp.mean(value))
