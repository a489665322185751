"""SAC on the true reward: Algorithm 1 with L = 1, where the cost is not learned but looked up.

Besides evaluation this is the only place that a reward reaches. What it trains are experts, not
imitators: the reward is kept beside the replay, in a type that no base method is ever given.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from soar_il import rng
from soar_il.bases.api import Base, Needs
from soar_il.build import Built, Config, check_capacity, check_observed, from_preset
from soar_il.deep import parts as deep
from soar_il.deep import replay
from soar_il.deep.collect import Collector
from soar_il.envs.blind import Source
from soar_il.envs.scored import ScoredEnv
from soar_il.envs.view import View, view_of
from soar_il.errors import ConfigError
from soar_il.soar import State
from soar_il.types import Spec, Trajectory

NAME = "sac"  # in the place of a base method's name


class Scored(NamedTuple):
    """A trajectory with its true costs."""

    observations: np.ndarray
    actions: np.ndarray
    terminated: bool
    costs: np.ndarray  # [T] minus the reward


class ScoredBatch(NamedTuple):
    """A batch with its true costs."""

    observations: Any
    actions: Any
    next_observations: Any
    continues: Any
    weights: Any
    costs: Any


class ScoredReplay(NamedTuple):
    """Replay and, row by row, the true cost of the transition that starts there."""

    replay: replay.Replay
    costs: Any  # [C]

    def draw(self, key: Any, n: int, recent: Any = None) -> ScoredBatch:
        return self._at(self.replay.rows(key, n, recent))

    def draw_each(self, key: Any, n: int, critics: int, recent: Any = None) -> ScoredBatch:
        return self._at(self.replay.rows_each(key, n, critics, recent))

    def _at(self, rows: Any) -> ScoredBatch:
        return ScoredBatch(*self.replay.at(rows), self.costs[rows])

    @property
    def steps(self) -> Any:
        return self.replay.steps

    @property
    def new_steps(self) -> Any:
        return self.replay.new_steps

    @property
    def trajectories(self) -> Any:
        return self.replay.trajectories


class Recorder(ScoredEnv):
    """Keeps the rewards of the episode it is in."""

    def reset(self, seed: int) -> np.ndarray:
        self.rewards: list[float] = []
        return super().reset(seed)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool, bool]:
        observation, reward, terminated, truncated = self.step_scored(action)
        self.rewards.append(reward)
        return observation, terminated, truncated


class ScoredCollector(Collector):
    """Episodes with their costs."""

    env: Recorder

    def episode(self, *args: Any, **kwargs: Any) -> Any:
        tau = super().episode(*args, **kwargs)
        return Scored(*tau, costs=-np.array(self.env.rewards, np.float32))


def resolve(env: str, preset: str = "tuned", **overrides: Any) -> Config:
    """The settings for an expert of this environment."""
    return from_preset(NAME, env, preset, overrides)


def build(cfg: Config, source: Source) -> Built:
    """SAC on the true cost, for a run like any other."""
    if cfg.learner.trial_every:
        raise ConfigError("trials compare with demonstrations", do="give learner.trial_every = 0")
    env = Recorder(source, cfg.horizon or None)
    check_capacity(cfg.learner, env.horizon)
    check_observed(cfg.observed, env)
    view = view_of(
        [],
        False,
        cfg.termination,
        cfg.indicator,
        env.horizon,
        cfg.learner.discount,
        cfg.observed,
    )
    spec = view.spec(env.observation_size, env.action_size)
    no_data = partial(empty, spec, cfg)
    made = deep.parts(
        TRUE_COST, (), ScoredCollector(env, view, spec, cfg.learner), view, spec, cfg.learner
    )._replace(add=partial(add, view))

    def start() -> State:
        state = deep.initial(rng.at(cfg.seed, 0), TRUE_COST, (), spec, cfg.learner)
        return state._replace(data=no_data())

    return Built(made, start, env, view, spec, no_data, Scored)


def empty(spec: Spec, cfg: Config) -> ScoredReplay:
    data = deep.no_data(spec, cfg.learner)
    return ScoredReplay(data, jnp.zeros(cfg.learner.capacity, jnp.float32))


def add(view: View, data: ScoredReplay, taus: list[Scored]) -> ScoredReplay:
    """Line 5, and the costs at the rows that the replay is about to write."""
    treated = [view.treat(Trajectory(*tau[:3])) for tau in taus]
    ours = [np.append(tau.costs, np.float32(0)) for tau in taus]  # the last state starts nothing
    costs, row, written = np.concatenate(ours), data.replay.row, data.costs
    for start in range(0, len(costs), replay.CHUNK):
        part = costs[start : start + replay.CHUNK]
        padded = np.append(part, np.zeros(replay.CHUNK - len(part), np.float32))
        written = _write(written, padded, row + start, np.int32(len(part)))
    return ScoredReplay(replay.add(data.replay, treated, len(costs) - len(taus)), written)


@partial(jax.jit, donate_argnums=0)
def _write(costs: Any, part: Any, row: Any, n: Any) -> Any:
    place = jnp.arange(len(part))
    target = jnp.where(place < n, (row + place) % len(costs), len(costs))
    return costs.at[target].set(part, mode="drop")


def _costs(cost: Any, batch: Any) -> Any:
    return batch.costs


def _unchanged(cost: Any, expert: Any, data: Any, key: Any) -> tuple[Any, dict[str, Any]]:
    return cost, {}


TRUE_COST = Base(
    Needs(actions=False, on_policy=False),
    init=lambda key, spec, expert: (),
    update=_unchanged,
    cost=_costs,
)
