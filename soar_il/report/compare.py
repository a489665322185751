"""Any two arms side by side, on the same seeds and after the same steps."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soar_il.report.results import (
    Pair,
    Result,
    Study,
    areas,
    cells,
    clocks,
    curves,
    grid,
    is_normal,
    last_common,
    pair,
    value_at,
)
from soar_il.statistics import aggregate, efficiency
from soar_il.statistics.efficiency import Arrivals, Ratio
from soar_il.statistics.intervals import Interval

THRESHOLD = 0.9  # of the way from random to the expert


class Comparison(NamedTuple):
    """An arm minus another, which ended lower; over one environment or all of them."""

    ours: str
    theirs: str
    envs: tuple[str, ...]
    steps: float  # after which they are compared; the fewest over environments
    seeds: int
    unpaired: int  # runs left out for want of a partner
    normal: bool
    difference: Interval  # of the interquartile means
    lowest: float  # difference of a single pair
    highest: float
    better: Interval  # the probability that a run of ours beats one of theirs
    area: Interval  # difference of the mean heights of the curves
    to_goal: Ratio | None = None  # steps to THRESHOLD, ours over theirs; over tasks, geometric mean
    seconds: Ratio | None = None


def comparisons(study: Study) -> list[Comparison]:
    """Every two arms that share seeds, by environment; over all of them where that makes sense."""
    reported = [r for r in study.results if r.purpose == "report"]
    found, places = [], by_env(reported)
    for arms in places.values():
        for ours, theirs in itertools.combinations(ranked(list(arms.values())), 2):
            made = pair(ours, theirs)
            found += [compare([made])] if made.ours else []
    return [*over_all(places), *found] if len(places) > 1 else found


def over_all(places: dict[str, dict[str, list[Result]]]) -> list[Comparison]:
    """Every two arms that are on all environments, where returns can be averaged over them."""
    envs = list(places.values())
    shared = [label for label in envs[0] if all(label in arms for arms in envs)]
    runs = {label: [r for arms in envs for r in arms[label]] for label in shared}
    if not is_normal(r for side in runs.values() for r in side):
        return []
    found = []
    for ours, theirs in itertools.combinations(ranked(list(runs.values())), 2):
        pairs = [pair(arms[ours[0].label], arms[theirs[0].label]) for arms in envs]
        if all(p.ours for p in pairs):
            found.append(compare(pairs))
    return found


def compare(pairs: Sequence[Pair]) -> Comparison:
    """One arm beside the other; the tasks are the pairs' environments."""
    kept = _same_seeds(pairs)
    ours, theirs = (np.stack(side, axis=1) for side in zip(*map(_ends, kept), strict=True))
    heights = [np.stack(side, axis=1) for side in zip(*map(_heights, kept), strict=True)]
    apart = (ours - theirs).mean(axis=1)
    both = [r for p in kept for r in (*p.ours, *p.theirs)]
    made = Comparison(
        ours=kept[0].ours[0].label,
        theirs=kept[0].theirs[0].label,
        envs=tuple(p.env for p in kept),
        steps=min(last_common([*p.ours, *p.theirs]) for p in kept),
        seeds=len(apart),
        unpaired=sum(p.unpaired for p in kept),
        normal=is_normal(both),
        difference=aggregate.bootstrap(aggregate.iqm_difference, ours, theirs, paired=True),
        lowest=float(apart.min()),
        highest=float(apart.max()),
        better=aggregate.bootstrap(aggregate.probability_of_improvement, ours, theirs),
        area=aggregate.bootstrap(aggregate.difference, *heights, paired=True),
    )
    if not made.normal or any(r.stepless for r in both):
        return made
    to_goal = efficiency.ratio(_arrivals(kept, "ours"), _arrivals(kept, "theirs"))
    if any(r.seconds is None for r in both):
        return made._replace(to_goal=to_goal)
    clocked = _arrivals(kept, "ours", True), _arrivals(kept, "theirs", True)
    return made._replace(to_goal=to_goal, seconds=efficiency.ratio(clocked[0], clocked[1]))


def _arrivals(pairs: Sequence[Pair], side: str, clocked: bool = False) -> list[Arrivals]:
    """When the runs of a side are at THRESHOLD, by task; in steps, or by their own clocks."""
    found = []
    for p in pairs:
        at = grid([*p.ours, *p.theirs])
        runs = getattr(p, side)
        clock = clocks(runs, at) if clocked else at
        found.append(efficiency.arrivals(curves(runs, at), clock, THRESHOLD))
    return found


def ranked(arms: Sequence[list[Result]]) -> list[list[Result]]:
    """The best interquartile mean first, each environment at the steps that all have reached."""
    common = {
        env: last_common([r for runs in arms for r in runs if r.env == env])
        for env in {r.env for runs in arms for r in runs}
    }

    def height(runs: list[Result]) -> float:
        return float(aggregate.iqm(np.array([[value_at(r, common[r.env]) for r in runs]])))

    return sorted(arms, key=height, reverse=True)


def by_env(results: Sequence[Result]) -> dict[str, dict[str, list[Result]]]:
    """Environment, then arm's label."""
    found: dict[str, dict[str, list[Result]]] = {}
    for (env, label, _), runs in cells(results).items():
        found.setdefault(env, {})[label] = runs
    return found


def _same_seeds(pairs: Sequence[Pair]) -> list[Pair]:
    """Each task with the seeds that every one has."""
    seeds = set.intersection(*({r.seed for r in p.ours} for p in pairs))
    if not seeds:  # tasks with seeds of their own: as many rows as the shortest has
        count = min(len(p.ours) for p in pairs)
        return [Pair(p.ours[:count], p.theirs[:count], p.unpaired) for p in pairs]
    kept = []
    for p in pairs:
        ours, theirs = ([r for r in side if r.seed in seeds] for side in (p.ours, p.theirs))
        kept.append(Pair(ours, theirs, p.unpaired + 2 * (len(p.ours) - len(ours))))
    return kept


def _ends(p: Pair) -> list[np.ndarray]:
    """Of both sides, [runs] each, at the steps that both have reached."""
    at = last_common([*p.ours, *p.theirs])
    return [np.array([value_at(r, at) for r in side]) for side in (p.ours, p.theirs)]


def _heights(p: Pair) -> list[np.ndarray]:
    at = grid([*p.ours, *p.theirs])
    return [areas(side, at) for side in (p.ours, p.theirs)] if len(at) > 1 else _ends(p)
