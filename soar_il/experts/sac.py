"""SAC on the true reward: Algorithm 1 with L = 1, where the cost is not learned but looked up.

Besides evaluation this is the only place that a reward reaches. What it trains are experts, not
imitators: the reward is kept beside the replay, in a type that no base method is ever given.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.bases.api import Base, Data, Needs, Recent
from soar_il.build import Built, built, check_sizes, view_for
from soar_il.configure import Config, from_preset
from soar_il.engine import parts, replay
from soar_il.engine.collect import Collector
from soar_il.engine.data import Replay
from soar_il.engine.parts import Kit
from soar_il.envs.blind import Source
from soar_il.envs.scored import scored
from soar_il.envs.view import View
from soar_il.errors import ConfigError
from soar_il.learners import LEARNERS
from soar_il.soar import State
from soar_il.types import Array, Bool, Count, Float, Int, Metrics, PRNGKey, Trajectory

NAME = "sac"  # in the place of a base method's name


class Scored(NamedTuple):
    """A trajectory with its true costs."""

    observations: Float[np.ndarray, "T+1 s"]
    actions: Float[np.ndarray, "T a"]
    terminated: bool
    costs: Float[np.ndarray, " T"]  # minus the reward


class ScoredBatch(NamedTuple):
    """A batch with its true costs."""

    observations: Float[Array, "*B s"]
    actions: Float[Array, "*B a"]
    next_observations: Float[Array, "*B s"]
    continues: Float[Array, "*B"]
    weights: Float[Array, "*B"]
    expert: Bool[Array, "*B"]
    trajectory: Int[Array, "*B"]
    costs: Float[Array, "*B"]


class ScoredReplay(NamedTuple):
    """Replay and, row by row, the true cost of the transition that starts there."""

    replay: Replay
    costs: Float[Array, " C"]

    def draw(self, key: PRNGKey, n: int, recent: Recent = None) -> ScoredBatch:
        return self._at(self.replay.rows(key, n, recent))

    def draw_each(self, key: PRNGKey, n: int, critics: int, recent: Recent = None) -> ScoredBatch:
        return self._at(self.replay.rows_each(key, n, critics, recent))

    def _at(self, rows: Int[Array, "*B"]) -> ScoredBatch:
        return ScoredBatch(*self.replay.at(rows), self.costs[rows])

    @property
    def steps(self) -> Count:
        return self.replay.steps

    @property
    def new_steps(self) -> Count:
        return self.replay.new_steps

    @property
    def trajectories(self) -> Count:
        return self.replay.trajectories


def resolve(env: str, preset: str = "tuned", **said: Any) -> Config:
    """The settings for an expert of this environment."""
    return from_preset(NAME, env, preset, said, NAME)


def build(cfg: Config, source: Source) -> Built:
    """SAC on the true cost, for a run like any other."""
    if cfg.learner.trial_every:
        raise ConfigError("trials compare with demonstrations", do="give learner.trial_every = 0")
    if cfg.learner.expert_share:
        raise ConfigError("an expert has no demonstrations", do="give learner.expert_share = 0")
    if cfg.termination != "early":
        raise ConfigError(
            f"termination is {cfg.termination}",
            do="give early: the true reward itself says what the end of an episode is worth",
        )
    if cfg.n_envs > 1:
        raise ConfigError("an expert's rewards are noted in one environment", do="give n_envs = 1")
    env, log = scored(source, cfg.horizon or None)
    check_sizes(cfg, env)
    view = view_for(cfg, env.horizon, [])
    spec = view.spec(env.observation_size, env.action_size)

    def finish(tau: Trajectory) -> Scored:
        return Scored(*tau, costs=-np.array(log.rewards, np.float32))

    algorithm = LEARNERS[cfg.algorithm]
    made = built(
        Kit(algorithm, TRUE_COST, spec, cfg.learner),
        cfg,
        (),
        Collector(env, view, spec, algorithm, cfg.learner, finish),
    )
    no_data = partial(empty, made, cfg)

    def start() -> State:
        return made.start()._replace(data=no_data())

    made_parts = made.parts._replace(add=partial(add, view))
    return made._replace(parts=made_parts, start=start, no_data=no_data, trajectory=Scored)


def empty(made: Built, cfg: Config) -> ScoredReplay:
    data = parts.no_data(made.spec, cfg.learner)
    return ScoredReplay(data, jnp.zeros(cfg.learner.capacity, jnp.float32))


def add(view: View, data: ScoredReplay, taus: list[Scored]) -> ScoredReplay:
    """Line 5, and the costs at the rows that the replay is about to write."""
    treated = [view.treat(Trajectory(*tau[:3])) for tau in taus]
    ours = [np.append(tau.costs, np.float32(0)) for tau in taus]  # the last state starts nothing
    assert all(len(x) == len(t.observations) for x, t in zip(ours, treated, strict=True))
    costs, row, written = np.concatenate(ours), data.replay.row, data.costs
    for start in range(0, len(costs), replay.CHUNK):
        part = costs[start : start + replay.CHUNK]
        padded = np.append(part, np.zeros(replay.CHUNK - len(part), np.float32))
        written = _write(written, padded, row + start, np.int32(len(part)))
    return ScoredReplay(replay.add(data.replay, treated, len(costs) - len(taus)), written)


@partial(jax.jit, donate_argnums=0)
def _write(costs: Array, part: Array, row: Count, n: Count) -> Array:
    place = jnp.arange(len(part))
    target = jnp.where(place < n, (row + place) % len(costs), len(costs))
    return costs.at[target].set(part, mode="drop")


def _costs(cost: tuple[()], batch: Any) -> Array:
    return batch.costs


def _unchanged(cost: tuple[()], expert: Data, data: Data, key: PRNGKey) -> tuple[Any, Metrics]:
    return cost, {}


TRUE_COST = Base(Needs(), init=lambda key, spec, expert: (), update=_unchanged, cost=_costs)
