"""An experiment's file: a grid of options, and the jobs it stands for.

title = "What it is"
command = "train"              # or "expert train", "tabular"
purpose = "report"             # or "selection": seeds that chose a setting report nothing
[options]                      # the command's own, for every job; dotted ones go to --set
[grid]                         # an option's name and the values it takes
[[where]]                      # {env = "Ant-v5", set = {sigma = 10.0}}: special cases
"""

import dataclasses
import itertools
from pathlib import Path
from typing import Any, Literal

from soar_il.config import read_toml
from soar_il.errors import ConfigError, closest

Options = dict[str, Any]

COMMANDS: dict[str, tuple[str, ...]] = {
    "train": (
        *("env", "base", "critics", "sigma", "steps", "seed", "demonstrations", "termination"),
        *("preset", "evaluate_every", "episodes", "checkpoint_every", "demos"),
    ),
    "expert train": ("env", "steps", "seed", "preset", "evaluate_every", "episodes"),
    "tabular": ("critics", "seeds", "iterations", "mdp", "rule", "preset"),
}
SETTINGS = ("standardise", "indicator", "horizon")  # given to --set, as are learner.* and cost.*
NAMED = ("env", "base", "critics", "seed")  # where they stand in a name
KEYS = ("title", "shows", "command", "purpose", "trained", "out", "options", "grid", "where")


@dataclasses.dataclass(frozen=True)
class Job:
    """One command: its name is its folder, and does not depend on the other jobs."""

    name: str
    command: str
    options: Options

    def arguments(self, folder: Path) -> list[str]:
        """What follows ``soar``; the same on any machine but for the paths."""
        said, settings = [*self.command.split(" ")], []
        for name, value in self.options.items():
            if name == "env" and self.command == "expert train":
                said.append(str(value))
            elif "." in name or name in SETTINGS:
                settings.append(f"{name}={_toml(value)}")
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
    shows: str = ""
    command: str = "train"
    purpose: Literal["report", "selection"] = "report"
    trained: bool = True  # False where the settings themselves are the result
    out: str = ""  # the folder in results/: figures that share one share their runs


def read(path: Path) -> Sweep:
    """The sweep of a TOML file, every mistake in it found."""
    said, where = read_toml(path), str(path)
    for key in said:
        if key not in KEYS:
            raise ConfigError(f"unknown key {key!r}", where, closest(key, KEYS))
    command, purpose = said.get("command", "train"), said.get("purpose", "report")
    if command not in COMMANDS:
        raise ConfigError(f"command is {command!r}", where, closest(str(command), COMMANDS))
    if purpose not in ("report", "selection"):
        raise ConfigError(f"purpose is {purpose!r}", where, "write report or selection")
    options, grid, rules = said.get("options", {}), said.get("grid", {}), said.get("where", [])
    options = _flat(options)
    for name in (*options, *grid, *(n for rule in rules for n in _flat(rule.get("set", {})))):
        _known(name, command, where)
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"grid.{name} is {values!r}", where, "give a list of values")
    for rule in rules:
        if "set" not in rule:
            raise ConfigError("a case of where has no set", where, "write set = {sigma = 10.0}")
    jobs = expand(command, options, grid, rules)
    title = said.get("title", path.stem)
    more = {key: said[key] for key in ("shows", "trained", "out") if key in said}
    return Sweep(title, jobs, command=command, purpose=purpose, **more)


def expand(
    command: str, options: Options, grid: dict[str, list[Any]], rules: list[dict[str, Any]]
) -> tuple[Job, ...]:
    """Every combination once, all methods of a seed before the next seed."""
    jobs: dict[str, Job] = {}
    axes = {name: values for name, values in grid.items() if name != "seed"}
    for seed, *values in itertools.product(grid.get("seed", [None]), *axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        if seed is not None:
            chosen["seed"] = seed
        made = {**options, **chosen}
        for rule in rules:
            if all(made.get(name) == value for name, value in rule.items() if name != "set"):
                # A value of the grid is the job's own; the rule is for what was left open.
                made = {**made, **_flat(rule["set"]), **chosen}
        if command == "train" and made.get("critics") == 1:
            made.pop("sigma", None)  # one pair has no spread to clip
        name = _name(command, made, [axis for axis in axes if axis in made])
        jobs.setdefault(name, Job(name, command, made))
    return tuple(jobs.values())


def _name(command: str, options: Options, axes: list[str]) -> str:
    if command == "tabular":
        more = [f"{axis}{_word(options[axis])}" for axis in axes]
        return "-".join(["tabular", *more])
    parts = [str(options["base"])] if "base" in options else ["expert"]
    if "critics" in options:
        parts.append(f"L{options['critics']}")
    for axis in axes:
        if axis not in NAMED:
            value = options[axis]
            short = "" if isinstance(value, str) else axis.rpartition(".")[2]
            parts.append(f"{short}{_word(value)}")
    parts.append(f"seed{options.get('seed', 0)}")
    return f"{_word(options.get('env', 'Hopper-v5'))}/{'-'.join(parts)}"


def _word(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(c if c.isalnum() or c in ".-_+" else "-" for c in text)


def _known(name: str, command: str, where: str) -> None:
    setting = name in SETTINGS or name.split(".")[0] in ("learner", "cost")
    if name not in COMMANDS[command] and not (setting and command != "tabular"):
        known = COMMANDS[command]
        raise ConfigError(f"{command} has no option {name!r}", where, closest(name, known))


def _flat(nested: Options, prefix: str = "") -> Options:
    flat: Options = {}
    for name, value in nested.items():
        inner = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": value}
    return flat


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
