"""Runs as a report sees them: where each stands in a study, its returns, and what is missing."""

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from soar_il.errors import ConfigError
from soar_il.statistics import efficiency

POINTS = 41  # of a curve that is put on a grid


@dataclasses.dataclass(frozen=True)
class Result:
    """One run; ``normal`` are its returns on a scale from random (0) to expert (1), where known."""

    place: str
    env: str
    base: str
    critics: int
    extra: str  # what else its name says of its settings, such as sigma5
    sigma: float
    demonstrations: int
    seed: int
    purpose: Literal["report", "selection"]
    steps: np.ndarray
    returns: np.ndarray
    spreads: np.ndarray  # of the returns, over the episodes of an evaluation
    noisy: np.ndarray  # returns with the noise of training
    normal: np.ndarray | None
    gap: float  # learned cost of the learner minus the expert's, at the end; needs no reward
    settings: dict[str, Any]
    about: dict[str, Any]

    @property
    def label(self) -> str:
        return label(self.base, self.critics, self.extra)


def label(base: str, critics: int, extra: str) -> str:
    """How figures call it."""
    soar = f" + SOAR, L = {critics}" if critics > 1 else ""
    return f"{base}{soar}{f', {extra}' if extra else ''}"


class Missing(NamedTuple):
    """A run that should be there."""

    name: str
    env: str
    base: str
    label: str
    why: str


class Expert(NamedTuple):
    """A policy trained on the true reward, and its last evaluation."""

    env: str
    seed: int
    steps: int
    mean: float
    std: float
    paper: float | None


class Study(NamedTuple):
    """All that a report is made from."""

    results: tuple[Result, ...]
    missing: tuple[Missing, ...]
    titles: tuple[str, ...] = ()
    studies: tuple[dict[str, Any], ...] = ()  # tabular ones, as soar tabular wrote them
    experts: tuple[Expert, ...] = ()
    settings: tuple[dict[str, Any], ...] = ()  # of all runs that were asked for, done or not


def checked(study: Study) -> Study:
    """The study in an order of its own; refuses what must not be averaged or compared."""
    study = study._replace(results=tuple(r for runs in cells(study.results).values() for r in runs))
    seen: dict[Any, Result] = {}
    for r in study.results:
        key = (r.purpose, r.env, r.label, r.demonstrations, r.seed)
        if key in seen:
            raise ConfigError(
                f"{r.label}, seed {r.seed}, on {r.env} is there twice",
                f"{seen[key].place} and {r.place}",
                "report one of them: the same seed twice is not two runs",
            )
        seen[key] = r
    for group in cells(study.results).values():
        first = group[0]
        for r in group:
            if _without_seed(r) != _without_seed(first):
                raise ConfigError(
                    f"{r.label} on {r.env} has runs of different settings",
                    f"{first.place} and {r.place}",
                    "report them in two reports, or give them different names in the sweep",
                )
    _not_mixed(study.results)
    return study


def _not_mixed(results: Sequence[Result]) -> None:
    """Seeds that chose a setting may not report it."""
    chose = {(r.env, r.base, r.seed): r for r in results if r.purpose == "selection"}
    for r in results:
        other = chose.get((r.env, r.base, r.seed))
        if r.purpose == "report" and other is not None:
            raise ConfigError(
                f"seed {r.seed} of {r.base} on {r.env} both chose a setting and reports it",
                f"{other.place} and {r.place}",
                "report runs of other seeds than those that chose",
            )


def _without_seed(r: Result) -> dict[str, Any]:
    return {name: value for name, value in r.settings.items() if name != "seed"}


def cells(results: Iterable[Result]) -> dict[tuple[str, str, int, str], list[Result]]:
    """By environment, label, demonstrations and purpose; runs in the order of their seeds."""
    found: dict[tuple[str, str, int, str], list[Result]] = {}
    for r in sorted(results, key=lambda r: (r.env, r.base, r.critics, r.sigma, r.seed)):
        found.setdefault((r.env, r.label, r.demonstrations, r.purpose), []).append(r)
    return found


class Pair(NamedTuple):
    """Runs of two settings with the same seeds, row by row."""

    ours: list[Result]
    theirs: list[Result]
    unpaired: int  # runs left out because the other side lacks their seed

    @property
    def env(self) -> str:
        return self.ours[0].env


def pair(ours: list[Result], theirs: list[Result]) -> Pair:
    both = {r.seed for r in ours} & {r.seed for r in theirs}
    a, b = ([r for r in side if r.seed in both] for side in (ours, theirs))
    return Pair(a, b, len(ours) + len(theirs) - len(a) - len(b))


def with_base(results: Sequence[Result]) -> list[Pair]:
    """Each SOAR setting beside its base method on the same environment, demonstrations, seeds."""
    found = cells(results)
    pairs = []
    for runs in found.values():
        r = runs[0]
        if r.critics == 1:
            continue
        for other in found.values():
            o = other[0]
            alike = (o.env, o.base, o.demonstrations, o.purpose) == (
                *(r.env, r.base, r.demonstrations),
                r.purpose,
            )
            same_rest = o.extra in (r.extra, _without_sigma(r.extra))
            if alike and o.critics == 1 and same_rest:
                made = pair(runs, other)
                pairs += [made] if made.ours else []
    return pairs


def _without_sigma(extra: str) -> str:
    return re.sub(r"sigma[\d.]+(e[+-]?\d+)?-?", "", extra).strip("-")


def values(r: Result) -> np.ndarray:
    """Its curve: normalised where that is known."""
    return r.returns if r.normal is None else r.normal


def final(runs: Sequence[Result]) -> np.ndarray:
    """Of what each run handed out at the end, [runs]."""
    return np.array([values(r)[-1] for r in runs])


def grid(runs: Sequence[Result]) -> np.ndarray:
    """Steps that every run has reached."""
    first, last = max(r.steps[0] for r in runs), min(r.steps[-1] for r in runs)
    return np.linspace(first, last, POINTS if last > first else 1)


def curves(runs: Sequence[Result], at: np.ndarray) -> np.ndarray:
    """[runs, points]."""
    return np.stack([efficiency.on_grid(r.steps, values(r), at) for r in runs])


def areas(runs: Sequence[Result], at: np.ndarray) -> np.ndarray:
    """Mean height of each curve, [runs]."""
    return np.asarray(efficiency.area(curves(runs, at), at)) if len(at) > 1 else final(runs)


def is_normal(results: Iterable[Result]) -> bool:
    return all(r.normal is not None for r in results)
