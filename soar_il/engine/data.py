"""D^k on the device, and how minibatches are drawn from it.

Rows are a ring; each trajectory is stored once, T + 1 observations. A transition is named by its
first row; s' is the row after it. ``tables`` lists the transitions that are alive, oldest first:
table 0 has all of D^k, table ell those of D^k_ell.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases.api import Recent
from soar_il.types import Array, Batch, Bool, Count, Float, Int, PRNGKey, Trajectories

NONE = -1  # in the place of a trajectory's number, where no transition starts


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
