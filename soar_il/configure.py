"""From names, presets and what a user says to the settings of a run, checked."""

import dataclasses
from typing import Any

from soar_il import config
from soar_il.bases import BASES
from soar_il.config import Termination, check_range
from soar_il.errors import ConfigError, closest
from soar_il.files import Fields
from soar_il.learners import LEARNERS

SHORT = ("critics", "sigma")  # flags that are settings of the learner


@dataclasses.dataclass(frozen=True)
class Config:
    """All that decides a run, besides the demonstrations.

    Args:
        env: The environment's id.
        base: The base method, by its name in the table.
        algorithm: The actor-critic that carries out lines 7-11, by its name in the table.
        seed: The seed of all random draws.
        termination: How the end of an episode is treated: absorbing, fixed or early.
        standardise: Whether observations are standardised by the demonstrations.
        indicator: How far from the data the absorbing state lies, in its own coordinate.
        observed: How many coordinates of an observation the networks are given, from the first; 0
            for all. Ant's and Humanoid's positions and velocities come first, contact forces last.
        horizon: Steps after which an episode is cut; 0 for the environment's own limit.
        demonstrations: How many trajectories to use, from the first; 0 for all.
        n_envs: How many environments are stepped together, an episode each, while data are
            collected: an iteration has a multiple of so many episodes.
        learner: Settings of the actor-critic.
        cost: Settings of the base method.
    """

    env: str
    base: str
    algorithm: str = "sac"
    seed: int = 0
    termination: Termination = "absorbing"
    standardise: bool = True
    indicator: float = 10.0
    observed: int = 0
    horizon: int = 0
    demonstrations: int = 0
    n_envs: int = 1
    learner: Any = None
    cost: Any = None

    def __post_init__(self) -> None:
        check_range(self, ("seed", "observed", "horizon", "demonstrations"), least=0)
        check_range(self, ("n_envs",), least=1)
        check_range(self, ("indicator",), above=0)


def resolve(base: str, env: str, preset: str = "tuned", **said: Any) -> Config:
    """A preset, its section for this environment, then what the user says; nested as in TOML.

    Args:
        base: A name of the table of base methods.
        env: A Gymnasium id.
        preset: tuned, paper, or a TOML file.
        said: Settings by name, nested in ``learner`` and ``cost``; None is not said. The flags
            critics and sigma are the learner's.
    """
    if base not in BASES:
        raise ConfigError(f"no base method is called {base!r}", do=closest(base, BASES))
    return from_preset(base, env, preset, said, BASES[base].presets or base)


def from_preset(base: str, env: str, preset: str, said: Fields, kind: str) -> Config:
    """As ``resolve``, with the folder of presets named."""
    said = {name: value for name, value in said.items() if value is not None}
    short = {name: said.pop(name) for name in SHORT if name in said}
    said["learner"] = {**said.get("learner", {}), **short}
    mapping = config.preset_mapping(kind, preset)
    special = mapping.pop("env", {}).get(env, {})
    mapping = config.merged(mapping, special)
    mapping = config.merged(for_algorithm(mapping, said.get("algorithm")), said)
    return from_mapping({**mapping, "base": base, "env": env}, f"preset {base}/{preset}")


def for_algorithm(mapping: Fields, wanted: str | None) -> Fields:
    """A preset without those settings of its own algorithm that the wanted one has not."""
    own = mapping.get("algorithm", Config.algorithm)
    if wanted not in LEARNERS or own not in LEARNERS:
        return mapping
    named = [{f.name for f in dataclasses.fields(LEARNERS[n].settings)} for n in (own, wanted)]
    foreign = named[0] - named[1]
    learner = {k: v for k, v in mapping.get("learner", {}).items() if k not in foreign}
    return {**mapping, "learner": learner}


def from_mapping(mapping: Fields, where: str) -> Config:
    """A Config from what ``dataclasses.asdict`` or TOML gave."""
    plain = {k: v for k, v in mapping.items() if k not in ("learner", "cost")}
    made = config.from_mapping(Config, plain, where)
    if made.algorithm not in LEARNERS:
        what = f"no algorithm is called {made.algorithm!r}"
        raise ConfigError(what, where, closest(made.algorithm, LEARNERS))
    kinds = {"learner": LEARNERS[made.algorithm].settings}
    if made.base in BASES:
        kinds["cost"] = BASES[made.base].settings
    for name in kinds:
        if not isinstance(mapping.get(name) or {}, dict):
            raise ConfigError(f"is {mapping[name]!r}", f"{where}: {name}", "give names and values")
    nested: dict[str, Any] = {
        name: config.from_mapping(kind, mapping.get(name) or {}, f"{where}: {name}")
        for name, kind in kinds.items()
    }
    return dataclasses.replace(made, **nested)
