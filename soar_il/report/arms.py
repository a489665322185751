"""What is compared: an arm is the runs that were asked for the same, but for seed and environment.

An arm is called by its base method, its critics, and whatever else differs between runs of the same
base and number of critics: by what was asked for, never by the name of a folder.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from soar_il.files import Fields
from soar_il.sweep.kinds import ALIASES

# Options that say how a run is looked at, not what it is; and those that a label has anyway.
LOOKING = ("evaluate_every", "episodes", "checkpoint_every", "tensorboard")
NAMED = ("env", "base", "seed", "learner.critics")
SIGMA = "learner.sigma"
UNSAID = (SIGMA, "learner.updates_per_step")  # a method with SOAR's default is SOAR, without more
MOST = 3  # differing options that a label can say; where there are more they get a letter


class Asked(Protocol):
    """A run, there or missing, as far as it says what was asked for."""

    @property
    def env(self) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def critics(self) -> int: ...
    @property
    def purpose(self) -> str: ...
    @property
    def options(self) -> Fields: ...
    @property
    def settings(self) -> Fields: ...


T = TypeVar("T", bound=Asked)


def options_of(options: Fields) -> Fields:
    """A job's options under the names that settings have, less those that only look."""
    named = {ALIASES.get(name, name): value for name, value in options.items()}
    return {name: value for name, value in named.items() if name not in (*LOOKING, *NAMED)}


def told(run: Asked, name: str) -> Any:
    """What the run was asked with, or what its settings came to; None where neither says."""
    if name in run.options:
        return run.options[name]
    found: Any = run.settings
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def differing(runs: Iterable[Asked]) -> dict[tuple[str, str, int], tuple[str, ...]]:
    """By purpose, base and critics: the options that runs on one environment differ in."""
    groups: dict[tuple[str, str, int, str], list[Asked]] = {}
    for run in runs:
        groups.setdefault((run.purpose, run.base, run.critics, run.env), []).append(run)
    found: dict[tuple[str, str, int], set[str]] = {}
    for key, group in groups.items():
        names = {name for run in group for name in run.options}
        varied = {name for name in names if len({repr(told(run, name)) for run in group}) > 1}
        found.setdefault(key[:3], set()).update(varied)
    return {key: tuple(sorted(names)) for key, names in found.items()}


def labels(runs: Sequence[Asked]) -> list[str]:
    """What each run's arm is called."""
    differs = differing(runs)
    letters: dict[Any, dict[Any, str]] = {}
    made = []
    usual = _usual(runs, differs)
    for run in runs:
        key = run.purpose, run.base, run.critics
        names = [
            name
            for name in differs[key]
            if told(run, name) is not None and repr(told(run, name)) not in usual[key, name]
        ]
        if len(differs[key]) > MOST:
            known = letters.setdefault(key, {})
            said = repr([told(run, name) for name in differs[key]])
            more = [f"settings {known.setdefault(said, _letter(len(known)))}"]
        else:
            more = [_words(name, told(run, name), differs[key]) for name in names]
        named = label(run.base, run.critics)
        if run.critics > 1 and SIGMA in names and not told(run, SIGMA):
            named = f"{run.base}, L = {run.critics}"  # an ensemble without a bonus is no SOAR
        made.append(", ".join([named, *more]))
    return made


def _usual(
    runs: Sequence[Asked], differs: dict[tuple[str, str, int], tuple[str, ...]]
) -> dict[tuple[tuple[str, str, int], str], set[str]]:
    """By kind of arm and option: the values that a label need not say."""
    usual: dict[tuple[tuple[str, str, int], str], set[str]] = {}
    for run in runs:
        key = run.purpose, run.base, run.critics
        for name in differs[key]:
            known = usual.setdefault((key, name), set())
            if name in UNSAID and name not in run.options:
                known.add(repr(told(run, name)))
    return usual


def label(base: str, critics: int) -> str:
    """A base method, with SOAR where there is more than one pair of critics."""
    return f"{base} + SOAR, L = {critics}" if critics > 1 else base


def alike(runs: Sequence[T], besides: tuple[str, ...]) -> Callable[[T, T], bool]:
    """Whether two of these runs differ in nothing that was asked for, ``besides`` left aside."""
    differs = differing(runs)

    def same(a: T, b: T) -> bool:
        if (a.env, a.base, a.purpose) != (b.env, b.base, b.purpose):
            return False
        if a.critics != b.critics and "learner.critics" not in besides:
            return False
        names = {name for r in (a, b) for name in differs[r.purpose, r.base, r.critics]}
        return all(told(a, name) == told(b, name) for name in names.difference(besides))

    return same


def _words(name: str, value: Any, names: Sequence[str]) -> str:
    short = name.rpartition(".")[2]
    if sum(other.rpartition(".")[2] == short for other in names) > 1:
        short = name  # two rooms have a setting of this name
    if short == "demonstrations":
        return f"{value or 'all'} demonstration{'s' * (value != 1)}"
    if short == "demos":
        return Path(str(value)).stem
    if isinstance(value, bool):
        return short if value else f"no {short}"
    if isinstance(value, list | tuple):
        return f"{short} {'x'.join(map(str, value))}"
    return f"{short} {value:g}" if isinstance(value, float) else f"{short} {value}"


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else str(number + 1)
