"""From settings, an environment and demonstrations to the parts and first state of Algorithm 1."""

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from soar_il import config, rng
from soar_il.bases import BASES
from soar_il.bases.api import Base
from soar_il.deep import parts as deep
from soar_il.deep import replay
from soar_il.deep.collect import Collector
from soar_il.deep.settings import Settings
from soar_il.demos import Demos
from soar_il.envs.blind import BlindEnv, Source
from soar_il.envs.view import View, view_of
from soar_il.errors import ConfigError, DemoError, closest
from soar_il.soar import Parts, State
from soar_il.types import Spec, Trajectory


@dataclasses.dataclass(frozen=True)
class Config:
    """All that decides a run, besides the demonstrations.

    Args:
        env: The environment's id.
        base: The base method, by its name in the table.
        seed: Of every random draw.
        termination: absorbing, fixed or early; see envs/view.py.
        standardise: Whether observations are standardised by the demonstrations.
        indicator: How far from the data the absorbing state lies, in its own coordinate.
        observed: How many coordinates of an observation the networks are given, from the first; 0
            for all. Ant's and Humanoid's positions and velocities come first, contact forces last.
        horizon: Steps after which an episode is cut; 0 for the environment's own limit.
        demonstrations: How many trajectories to use, from the first; 0 for all.
        learner: Settings of SAC with L pairs of critics.
        cost: Settings of the base method.
    """

    env: str
    base: str
    seed: int = 0
    termination: Literal["absorbing", "fixed", "early"] = "absorbing"
    standardise: bool = True
    indicator: float = 10.0
    observed: int = 0
    horizon: int = 0
    demonstrations: int = 0
    learner: Settings = dataclasses.field(default_factory=Settings)
    cost: Any = None

    def __post_init__(self) -> None:
        for name in ("seed", "observed", "horizon", "demonstrations"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}", do="give 0 or more")
        if not 0 < self.indicator < math.inf:
            raise ConfigError(f"indicator is {self.indicator}", do="give a positive number")


class Built(NamedTuple):
    """What the loop runs on."""

    parts: Parts
    start: Callable[[], State]  # lines 1-2, which a resumed run needs the shapes of alone
    env: BlindEnv
    view: View
    spec: Spec
    no_data: Callable[[], Any]  # D^0 anew
    trajectory: Any = Trajectory  # what collect makes a list of


def resolve(base: str, env: str, preset: str = "tuned", **overrides: Any) -> Config:
    """A preset, its section for this environment, then what the user says; nested as in TOML."""
    if base not in BASES:
        raise ConfigError(f"no base method is called {base!r}", do=closest(base, BASES))
    return from_preset(base, env, preset, overrides)


def from_preset(base: str, env: str, preset: str, overrides: dict[str, Any]) -> Config:
    mapping = config.preset_mapping(base, preset)
    special = mapping.pop("env", {}).get(env, {})
    for layer in (special, overrides):
        mapping = _merged(mapping, layer)
    return from_mapping({**mapping, "base": base, "env": env}, f"preset {base}/{preset}")


def from_mapping(mapping: dict[str, Any], where: str) -> Config:
    """A Config from what ``dataclasses.asdict`` or TOML gave."""
    entry = BASES.get(mapping["base"])
    cost = mapping.get("cost") or {}
    known = {k: v for k, v in mapping.items() if k != "cost"}
    made = config.from_mapping(Config, known, where)
    if entry is None:
        return made
    return dataclasses.replace(
        made, cost=config.from_mapping(entry.settings, cost, f"{where}: cost")
    )


def build(cfg: Config, source: Source, demos: Demos, base: Base | None = None) -> Built:
    """Everything checked before the first step; ``base`` where it is not one of the table."""
    if base is None and cfg.base not in BASES:
        raise ConfigError(
            f"the base method {cfg.base!r} is not of the table", do="give it again, as base=..."
        )
    base = base or BASES[cfg.base].make(cfg.cost)
    env = BlindEnv(source, cfg.horizon or None)
    demos = demos.select(cfg.demonstrations) if cfg.demonstrations else demos
    check_fit(demos, env, base)
    check_capacity(cfg.learner, env.horizon)
    check_observed(cfg.observed, env)
    view = view_of(
        list(demos.observations),
        cfg.standardise,
        cfg.termination,
        cfg.indicator,
        env.horizon,
        cfg.learner.discount,
        cfg.observed,
    )
    spec = view.spec(env.observation_size, env.action_size)
    expert = expert_data(demos, env, view, spec)
    start = partial(deep.initial, rng.at(cfg.seed, 0), base, expert, spec, cfg.learner)
    collector = Collector(env, view, spec, cfg.learner)
    made = deep.parts(base, expert, collector, view, spec, cfg.learner)
    return Built(made, start, env, view, spec, partial(deep.no_data, spec, cfg.learner))


def check_fit(demos: Demos, env: BlindEnv, base: Base) -> None:
    """Demonstrations that this environment and this method can use."""
    size = demos.observations[0].shape[1]
    if size != env.observation_size:
        raise DemoError(
            f"observations have {size} coordinates, those of {env.name} {env.observation_size}",
            do="use demonstrations of the same environment and version",
        )
    if demos.actions is None:
        if base.needs.actions:
            raise DemoError(
                "there are no actions, and this base method needs the expert's",
                do="use a state-only method such as ml-irl, or demonstrations with actions",
            )
        return
    size = demos.actions[0].shape[1]
    if size != env.action_size:
        raise DemoError(
            f"actions have {size} coordinates, those of {env.name} {env.action_size}",
            do="use demonstrations of the same environment and version",
        )


def check_capacity(s: Settings, horizon: int) -> None:
    """No critic may be left without data when the oldest are overwritten."""
    needed = max(replay.CHUNK, s.critics * (horizon + 2))
    if s.capacity < needed:
        raise ConfigError(
            f"capacity is {s.capacity}",
            do=f"give at least {needed}, a trajectory of {horizon} steps for each critic",
        )


def check_observed(observed: int, env: BlindEnv) -> None:
    """No more coordinates than there are."""
    if observed > env.observation_size:
        raise ConfigError(
            f"observed is {observed}",
            env.name,
            f"an observation has {env.observation_size} coordinates; give at most these, 0 for all",
        )


def expert_data(demos: Demos, env: BlindEnv, view: View, spec: Spec) -> replay.Replay:
    """D_E, treated as rollouts are."""
    none = [np.zeros((len(s) - 1, env.action_size)) for s in demos.observations]
    actions = none if demos.actions is None else [env.from_env(a) for a in demos.actions]
    ends = demos.terminated
    treated = [
        view.treat(Trajectory(s, a.astype(np.float32), bool(end)))
        for s, a, end in zip(demos.observations, actions, ends, strict=True)
    ]
    rows = sum(len(t.observations) for t in treated)
    return replay.add(replay.empty(spec, max(rows, replay.CHUNK), 0), treated, 0)


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = dict(under)
    for key, value in over.items():
        inner = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = _merged(both[key], value) if inner else value
    return both
