"""An experiment's file: a grid of options, and the jobs it stands for.

title = "What it is"
command = "train"              # or another that commands/sweep.py lists
purpose = "report"             # or "selection": seeds that chose a setting report nothing
[options]                      # the command's own, for every job; settings go to --set
[grid]                         # an option's name and the values it takes
[[arms]]                       # {critics = 4, sigma = 0.0}: options that go together, one row
[[where]]                      # {env = "Ant-v5", set = {sigma = 10.0}}: special cases
                               # {base = "bc", critics = 4, skip = true}: no such job
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from soar_il.config import flat, read_toml
from soar_il.envs.ids import file_name
from soar_il.errors import ConfigError, closest
from soar_il.files import Fields
from soar_il.sweep.kinds import Kind, Options

NAMED = ("env", "base", "critics", "seed")  # where they stand in a name
KEYS = (
    "title",
    "shows",
    "command",
    "purpose",
    "trained",
    "out",
    "options",
    "grid",
    "arms",
    "where",
)


@dataclasses.dataclass(frozen=True)
class Job:
    """One command: its name is its folder, and does not depend on the other jobs."""

    name: str
    kind: Kind
    options: Options
    row: str = ""  # its name without the seed

    def get(self, option: str) -> Any:
        """What it was given, or the command's own default."""
        return self.options.get(option, self.kind.options.get(option))

    @property
    def seed(self) -> int:
        """0 where the command has none, or has all of them in one job."""
        return int(self.get("seed") or 0)

    @property
    def steps(self) -> int:
        """Environment steps that it is to take; 1 where it counts none."""
        return int(self.get("steps") or 1)

    def arguments(self, folder: Path) -> list[str]:
        """What follows ``soar``; the same on any machine but for the paths."""
        said, settings = [*self.kind.name.split(" ")], []
        for name, value in self.options.items():
            if name in self.kind.positional:
                said.append(str(value))
            elif name not in self.kind.options:
                settings.append(f"{name}={_toml(value)}")
            elif isinstance(value, bool):
                said.append(f"--{'' if value else 'no-'}{name.replace('_', '-')}")
            else:
                values = value if isinstance(value, list) else [value]
                said += [f"--{name.replace('_', '-')}", *map(str, values)]
        said += ["--out", str(folder)]
        return said + (["--set", *settings] if settings else [])


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What a file asks for."""

    title: str
    jobs: tuple[Job, ...]
    kind: Kind
    shows: str = ""
    purpose: Literal["report", "selection"] = "report"
    trained: bool = True  # False where the settings themselves are the result
    out: str = ""  # the folder in results/: figures that share one share their runs


def read(path: Path, kinds: Mapping[str, Kind]) -> Sweep:
    """The sweep of a TOML file, every mistake in it found."""
    said, where = read_toml(path), str(path)
    for key in said:
        if key not in KEYS:
            raise ConfigError(f"unknown key {key!r}", where, closest(key, KEYS))
    command, purpose = said.get("command", "train"), said.get("purpose", "report")
    if command not in kinds:
        raise ConfigError(f"command is {command!r}", where, closest(str(command), kinds))
    if purpose not in ("report", "selection"):
        raise ConfigError(f"purpose is {purpose!r}", where, "write report or selection")
    kind = kinds[command]
    options, grid, rules = said.get("options", {}), said.get("grid", {}), said.get("where", [])
    options = flat(options)
    for name, value in options.items():
        kind.check(name, value, where)
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"grid.{name} is {values!r}", where, "give a list of values")
        for value in values:
            kind.check(name, value, where)
    arms = [flat(arm) for arm in said.get("arms", [])]
    for arm in arms:
        for name, value in arm.items():
            kind.check(name, value, where)
            if name in grid:
                what, do = f"{name} is in grid and in arms", "leave it in one of them"
                raise ConfigError(what, where, do)
    for rule in rules:
        if "set" not in rule and rule.get("skip") is not True:
            do = "write set = {sigma = 10.0}, or skip = true"
            raise ConfigError("a case of where has no set", where, do)
        for name, value in flat(rule.get("set", {})).items():
            kind.check(name, value, where)
    jobs = expand(kind, options, grid, rules, arms)
    title = said.get("title", path.stem)
    more = {key: said[key] for key in ("shows", "trained", "out") if key in said}
    return Sweep(title, jobs, kind, purpose=purpose, **more)


def expand(
    kind: Kind,
    options: Options,
    grid: dict[str, list[Any]],
    rules: list[Fields],
    arms: Sequence[Options] = (),
) -> tuple[Job, ...]:
    """Every combination once, all methods of a seed before the next seed."""
    jobs: dict[str, Job] = {}
    axes = {name: values for name, values in grid.items() if name != "seed"}
    every = itertools.product(grid.get("seed", [None]), *axes.values(), arms or [{}])
    for seed, *values, arm in every:
        chosen = {**dict(zip(axes, values, strict=True)), **arm}
        if seed is not None:
            chosen["seed"] = seed
        made = {**options, **chosen}
        if any(rule.get("skip") and _fits(rule, made) for rule in rules):
            continue
        for rule in rules:
            if _fits(rule, made):
                # A value of the grid is the job's own; the rule is for what was left open.
                made = {**made, **flat(rule.get("set", {})), **chosen}
        if made.get("critics") == 1:
            made.pop("sigma", None)  # one pair has no spread to clip
        row = _row(kind, made, [axis for axis in (*axes, *arm) if axis in made])
        name = f"{row}-seed{made.get('seed', 0)}" if "seed" in kind.options else row
        jobs.setdefault(name, Job(name, kind, made, row))
    return tuple(jobs.values())


def _fits(rule: Fields, made: Options) -> bool:
    """Whether a case of ``where`` is that of this job."""
    return all(made.get(name) == rule[name] for name in rule if name not in ("set", "skip"))


def beginning(options: Options) -> str:
    """How the names of all jobs of an environment and a base begin."""
    return f"{file_name(options['env'])}/{options['base']}-"


def _row(kind: Kind, options: Options, axes: list[str]) -> str:
    word = kind.name.partition(" ")[0]
    if "env" not in kind.options:
        return "-".join([word, *(f"{axis}{_word(options[axis])}" for axis in axes)])
    parts = [str(options["base"]) if "base" in options else word]
    if "critics" in options:
        parts.append(f"L{options['critics']}")
    for axis in axes:
        if axis not in NAMED:
            value = options[axis]
            short = "" if isinstance(value, str) else axis.rpartition(".")[2]
            parts.append(f"{short}{_word(value)}")
    return f"{file_name(options.get('env') or kind.options['env'])}/{'-'.join(parts)}"


def _word(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(c if c.isalnum() or c in ".-_+" else "-" for c in text)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
