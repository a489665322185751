"""Runs as a report sees them: where each stands in a study, its returns, and what is missing."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.report import arms
from soar_il.statistics import efficiency

POINTS = 41  # of a curve that is put on a grid
Purpose = Literal["report", "selection"]


class Seen(NamedTuple):
    """Means of what the learner saw of itself; NaN where nothing is known."""

    over: float  # all of training
    end: float  # its last tenth


@dataclasses.dataclass(frozen=True)
class Result:
    """One run; ``normal`` are its returns on a scale from random (0) to expert (1), where known."""

    place: str
    env: str
    base: str
    critics: int
    sigma: float
    demonstrations: int
    seed: int
    purpose: Purpose
    label: str  # of its arm
    steps: np.ndarray
    returns: np.ndarray
    spreads: np.ndarray  # of the returns, over the episodes of an evaluation
    noisy: np.ndarray  # returns with the noise of training
    normal: np.ndarray | None
    seen: dict[str, Seen]  # what the learner saw of itself; no reward
    seconds: np.ndarray | None  # that learning had taken at each evaluation, where it was kept
    options: Fields  # what it was asked with
    settings: Fields  # what that came to
    about: Fields
    expert_return: float | None = None  # that its demonstrations say

    @property
    def stepless(self) -> bool:
        """Whether it took no environment step, as a clone: it is as good after any number."""
        return bool(self.steps[-1] == 0)


class Missing(NamedTuple):
    """A run that should be there."""

    name: str
    env: str
    base: str
    label: str
    why: str
    critics: int = 1
    seed: int = 0
    purpose: Purpose = "report"
    options: Fields = {}  # noqa: RUF012
    settings: Fields = {}  # noqa: RUF012


class Expert(NamedTuple):
    """A policy trained on the true reward, and its last evaluation."""

    env: str
    seed: int
    steps: int
    mean: float
    std: float
    paper: float | None


class Reference(NamedTuple):
    """What returns of an environment are measured against, and where the numbers are from."""

    random: float | None
    random_from: str
    expert: float | None
    expert_from: str

    def scaled(self, returns: np.ndarray) -> np.ndarray | None:
        """0 for random, 1 for the expert; None where one of them is not known."""
        if self.random is None or self.expert is None or self.expert == self.random:
            return None
        return (returns - self.random) / (self.expert - self.random)


class Study(NamedTuple):
    """All that a report is made from."""

    results: tuple[Result, ...]
    missing: tuple[Missing, ...]
    titles: tuple[str, ...] = ()
    studies: tuple[Fields, ...] = ()  # tabular ones, as soar tabular wrote them
    experts: tuple[Expert, ...] = ()
    settings: tuple[Fields, ...] = ()  # of all runs that were asked for, done or not
    references: dict[str, Reference] = {}  # noqa: RUF012


def labelled(study: Study) -> Study:
    """Every run with its arm's label, from what was asked for, done or not."""
    runs: list[Result | Missing] = [*study.results, *study.missing]
    names = arms.labels(runs)
    done, count = [], len(study.results)
    for r, name in zip(study.results, names[:count], strict=True):
        done.append(dataclasses.replace(r, label=name))
    gone = zip(study.missing, names[count:], strict=True)
    lacking = tuple(m._replace(label=name if m.env else m.label) for m, name in gone)
    return study._replace(results=tuple(done), missing=lacking)


def checked(study: Study) -> Study:
    """The study in an order of its own; refuses what must not be averaged or compared."""
    study = study._replace(results=tuple(r for runs in cells(study.results).values() for r in runs))
    seen: dict[Any, Result] = {}
    for r in study.results:
        key = (r.purpose, r.env, r.label, r.seed)
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


def _without_seed(r: Result) -> Fields:
    return {name: value for name, value in r.settings.items() if name != "seed"}


def cells(results: Iterable[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """By environment, arm and purpose; runs in the order of their seeds."""
    found: dict[tuple[str, str, str], list[Result]] = {}
    order = sorted(results, key=lambda r: (r.env, r.base, r.critics, r.sigma, r.label, r.seed))
    for r in order:
        found.setdefault((r.env, r.label, r.purpose), []).append(r)
    return found


class Pair(NamedTuple):
    """Runs of two arms with the same seeds, row by row."""

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
    """Each SOAR arm beside its base method with the same options and seeds."""
    found = list(cells(results).values())
    same = arms.alike(results, besides=("learner.critics", "learner.sigma"))
    pairs = []
    for runs in found:
        for other in found:
            if runs[0].critics > 1 and other[0].critics == 1 and same(runs[0], other[0]):
                made = pair(runs, other)
                pairs += [made] if made.ours else []
    return pairs


def values(r: Result) -> np.ndarray:
    """Its curve: normalised where that is known."""
    return r.returns if r.normal is None else r.normal


def final(runs: Sequence[Result]) -> np.ndarray:
    """Of what each run handed out at the end, [runs]."""
    return np.array([values(r)[-1] for r in runs])


def last_common(runs: Iterable[Result]) -> float:
    """The most steps that every run has reached; those without steps are there from the start."""
    return float(min((r.steps[-1] for r in runs if not r.stepless), default=0.0))


def held(r: Result, series: np.ndarray, at: np.ndarray | float) -> np.ndarray:
    """What was kept at each evaluation, at these steps; the one of a run without steps for ever."""
    if r.stepless:
        return np.full(np.shape(at), series[-1])
    return efficiency.on_grid(r.steps, series, at)


def value_at(r: Result, steps: float, raw: bool = False) -> float:
    """After so many steps, linear between the evaluations around them."""
    curve = r.returns if raw else values(r)
    return float(held(r, curve, steps))


def grid(runs: Sequence[Result]) -> np.ndarray:
    """Steps that every run has reached."""
    first, last = max(r.steps[0] for r in runs), last_common(runs)
    return np.linspace(first, last, POINTS if last > first else 1)


def curves(runs: Sequence[Result], at: np.ndarray) -> np.ndarray:
    """[runs, points]."""
    return np.stack([held(r, values(r), at) for r in runs])


def clocks(runs: Sequence[Result], at: np.ndarray) -> np.ndarray:
    """Seconds that learning had taken at these steps, [runs, points]; of runs that know them."""
    return np.stack([held(r, r.seconds, at) for r in runs if r.seconds is not None])


def areas(runs: Sequence[Result], at: np.ndarray) -> np.ndarray:
    """Mean height of each curve, [runs]."""
    return np.asarray(efficiency.area(curves(runs, at), at)) if len(at) > 1 else final(runs)


def is_normal(results: Iterable[Result]) -> bool:
    return all(r.normal is not None for r in results)
