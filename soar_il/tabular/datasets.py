"""The L datasets D_l, R_l of Algorithm 2 (lines 5-6, 8-12) and what they say of P V.

``Counts`` keeps N_l(s, a, s') as a table: right when L S A S is small. ``Log`` keeps the
transitions themselves, O(number of steps): right when S is large and the table would be mostly
zeros. Both give the same numbers.
"""

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax import lax

from soar_il.tabular.settings import Settings

IN_BOUNDS = "promise_in_bounds"  # spares the check of each index inside the loop


class Trajectories(NamedTuple):
    """J rollouts side by side; entries past a rollout's length mean nothing."""

    states: Any  # [T + 1, J]
    actions: Any  # [T, J]
    length: Any  # [J], L^k
    horizon: Any  # the longest, over everything that runs side by side


class Datasets(Protocol):
    """What an implementation offers; ``data`` is its own pytree."""

    def empty(self) -> Any: ...

    def add(self, data: Any, tau: Trajectories) -> Any: ...

    def next_values(self, data: Any, value: Any) -> jax.Array:
        """P_l V for each l ``[L, S, A]``."""
        ...


class CountsData(NamedTuple):
    visits: Any  # N(s, a) [S * A]
    counts: Any  # N_l(s, a, s') [S' * L * S * A]: successors first, so that P_l V adds whole slabs


class Counts(NamedTuple):
    settings: Settings
    n_states: int
    n_actions: int

    def empty(self) -> CountsData:
        pairs = self.n_states * self.n_actions
        slab = self.settings.critics * pairs
        return CountsData(jnp.zeros(pairs, jnp.int32), jnp.zeros(self.n_states * slab, jnp.int32))

    def add(self, data: CountsData, tau: Trajectories) -> CountsData:
        pairs = self.n_states * self.n_actions

        def step(t: Any, data: CountsData) -> CountsData:
            s, a, successor, valid = _transition(self.settings, tau, t)
            pair = s * self.n_actions + a
            visits = data.visits.at[pair].add(valid, mode=IN_BOUNDS)
            ell = _dataset(self.settings, visits.at[pair].get(mode=IN_BOUNDS))
            at = data.counts.at[(successor * self.settings.critics + ell) * pairs + pair]
            return CountsData(visits, at.add(valid, mode=IN_BOUNDS))

        return lax.fori_loop(0, tau.horizon, step, data)

    def next_values(self, data: CountsData, value: Any) -> jax.Array:
        shape = (self.n_states, self.settings.critics, self.n_states, self.n_actions)
        counts = data.counts.reshape(shape)
        total = jnp.tensordot(value, counts.astype(value.dtype), axes=1)
        return _normalise(self.settings, total, counts.sum(axis=0), value)


class LogData(NamedTuple):
    visits: Any  # N(s, a) [S * A]
    per_dataset: Any  # N_l(s, a) [L * S * A]
    cell: Any  # (l, s, a) of each transition, flat [capacity]
    successor: Any  # s' of each transition [capacity]; n_states where there is none yet
    size: Any  # how many there are


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

    def add(self, data: LogData, tau: Trajectories) -> LogData:
        pairs = self.n_states * self.n_actions

        def step(t: Any, data: LogData) -> LogData:
            s, a, successor, valid = _transition(self.settings, tau, t)
            pair = s * self.n_actions + a
            visits = data.visits.at[pair].add(valid, mode=IN_BOUNDS)
            ell = _dataset(self.settings, visits.at[pair].get(mode=IN_BOUNDS))
            cell = ell * pairs + pair
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

    def next_values(self, data: LogData, value: Any) -> jax.Array:
        gain = jnp.append(value, 0.0)[data.successor]
        total = jnp.zeros(data.per_dataset.shape, value.dtype).at[data.cell].add(gain)
        shape = (self.settings.critics, self.n_states, self.n_actions)
        n = data.per_dataset.reshape(shape)
        return _normalise(self.settings, total.reshape(shape), n, value)


def _transition(settings: Settings, tau: Trajectories, t: Any) -> tuple[Any, Any, Any, Any]:
    """s, a, s' and whether they are data (1) or past the end (0), for each rollout that is kept."""
    lanes = slice(settings.data_rollouts)
    length = tau.length[lanes] if settings.last_transition else tau.length[lanes] - 1
    valid = (t < length).astype(jnp.int32)
    return tau.states[t, lanes], tau.actions[t, lanes], tau.states[t + 1, lanes], valid


def _dataset(settings: Settings, visit: Any) -> Any:
    """Line 6: the dataset a transition joins, by its visit number N^k(s, a)."""
    if settings.routing == "trajectories":
        return jnp.arange(settings.critics, dtype=jnp.int32)
    return visit % settings.critics


def _normalise(settings: Settings, total: Any, n: Any, value: Any) -> jax.Array:
    """Line 11: from sums of V(s') to P_l V."""
    if settings.kernel == "plus-two":
        return total / (n + 2)
    return jnp.where(n > 0, total / jnp.maximum(n, 1), jnp.mean(value))
