"""The paper's empirical claims, each as a function of results: estimate, interval, verdict.

A verdict needs an interval: where seeds are fewer than five or runs are missing, it is undecided.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from soar_il.report import arms
from soar_il.report.results import (
    Pair,
    Result,
    Study,
    areas,
    cells,
    curves,
    final,
    grid,
    is_normal,
    pair,
    with_base,
)
from soar_il.report.tabular import hard_exploration
from soar_il.report.verdict import Finding, above, below, counted, honest, within
from soar_il.statistics import aggregate, efficiency

HALF = 0.6  # "approximately half": at most this share of the base's steps
ALIKE = 0.1  # "comparable": within this much of the way from random to expert
HARD = ("Ant-v5", "Humanoid-v5")
RIVAL = "opt-ail"  # how the names of its forms begin


def improves(study: Study) -> list[Finding]:
    """SOAR beats its base on average over environments, by the area under the curve."""
    claim = "SOAR improves the performance of the base method on average"
    return [
        _difference(claim, f"{name}, {len(pairs)} environments", pairs, study)
        for name, pairs in _by_method(study).items()
        if len(pairs) > 1 and _comparable(pairs)
    ]


def everywhere(study: Study) -> list[Finding]:
    """... and in each environment."""
    claim = "SOAR outperforms the base method in each environment"
    return [
        _difference(claim, f"{name}, {p.env}", [p], study)
        for name, pairs in _by_method(study).items()
        for p in pairs
    ]


def half_the_steps(study: Study) -> list[Finding]:
    """SOAR is at the base's best level after about half the steps."""
    found = []
    for name, pairs in _by_method(study).items():
        if len(pairs) > 1 and len({len(p.ours) for p in pairs}) == 1:
            found.append(_half(f"{name}, {len(pairs)} environments", pairs, study))
        found += [_half(f"{name}, {p.env}", [p], study) for p in pairs]
    return found


def _half(about: str, pairs: list[Pair], study: Study) -> Finding:
    """Over environments: the geometric mean."""
    grids = [grid([*p.ours, *p.theirs]) for p in pairs]
    ours = np.stack([curves(p.ours, at) for p, at in zip(pairs, grids, strict=True)], axis=1)
    theirs = np.stack([curves(p.theirs, at) for p, at in zip(pairs, grids, strict=True)], axis=1)
    ratio = efficiency.catch_up_ratio(ours, theirs, np.stack(grids))
    claim = f"SOAR needs about half the steps to the base's best (at most {HALF:g} of them)"
    measure = "steps to the base's best mean return, SOAR over base"
    verdict = below(ratio, HALF)
    finding = Finding(claim, about, measure, ratio, verdict, len(pairs[0].ours))
    return honest(finding, pairs, study)


def harder_gains_more(study: Study) -> list[Finding]:
    """The advantage is larger on Ant and Humanoid than on the others."""
    found = []
    for name, pairs in _by_method(study).items():
        hard, easy = ([p for p in pairs if (p.env in HARD) == side] for side in (True, False))
        if not hard or not easy or not _comparable(pairs):
            continue
        gains = [_gain(p) for p in (*hard, *easy)]
        n = min(map(len, gains))
        weights = np.array([1 / len(hard)] * len(hard) + [-1 / len(easy)] * len(easy))

        def contrast(x: np.ndarray, weights: np.ndarray = weights) -> Any:
            return (x * weights).sum(axis=-1).mean(axis=-1)

        made = aggregate.bootstrap(contrast, np.stack([g[:n] for g in gains], axis=1))
        finding = Finding(
            "the advantage of SOAR is larger in Ant and Humanoid",
            name,
            "gain there minus gain elsewhere, area under the curve",
            made,
            above(made),
            n,
        )
        found.append(honest(finding, pairs, study))
    return found


def more_critics(study: Study) -> list[Finding]:
    """More critics beat one; and four beat ten."""
    found = []
    by_method = _by_method(study)
    bases = {pairs[0].ours[0].base for pairs in by_method.values()}
    for base in sorted(bases):
        mine = [p for pairs in by_method.values() for p in pairs if p.ours[0].base == base]
        if len({p.ours[0].critics for p in mine}) < 2:
            continue
        for p in mine:
            critics = p.ours[0].critics
            about = f"{base}, {p.env}, L = {critics}"
            found.append(_difference("more critics are better than one", about, [p], study))
        for four in mine:
            for ten in mine:
                if (four.ours[0].critics, ten.ours[0].critics) == (4, 10) and four.env == ten.env:
                    versus = pair(four.ours, ten.ours)
                    about = f"{base}, {four.env}"
                    found.append(_difference("4 critics beat 10", about, [versus], study))
    return found


def beyond_the_ensemble(study: Study) -> list[Finding]:
    """SOAR beats as many critics without a bonus: what it gains is optimism's."""
    claim = "the bonus gains something that as many critics without it do not"
    reported = [r for r in study.results if r.purpose == "report"]
    same, several = arms.alike(reported, besides=("learner.sigma",)), _several_clips(reported)
    groups = list(cells(reported).values())
    found: dict[str, list[Pair]] = {}
    for soar, without in itertools.product(groups, groups):
        r = soar[0]
        if r.sigma > 0 and without[0].sigma == 0 and r.critics > 1 and same(r, without[0]):
            p = pair(soar, without)
            if p.ours and (r.env, r.base, r.critics) not in several:
                found.setdefault(r.label, []).append(p)
    made = []
    for name, pairs in found.items():
        if len(pairs) > 1 and _comparable(pairs):
            made.append(_difference(claim, f"{name}, {len(pairs)} environments", pairs, study))
        made += [_difference(claim, f"{name}, {p.env}", [p], study) for p in pairs]
    return made


def above_opt_ail(study: Study) -> list[Finding]:
    """SOAR on another base method beats OPT-AIL, which is optimistic by a term of its own."""
    claim = "SOAR outperforms OPT-AIL"
    reported = [r for r in study.results if r.purpose == "report"]
    several, groups = _several_clips(reported), list(cells(reported).values())
    found: dict[tuple[str, str], list[Pair]] = {}
    for soar, rival in itertools.product(groups, groups):
        r, other = soar[0], rival[0]
        optimistic = r.critics > 1 and r.sigma > 0 and not r.base.startswith(RIVAL)
        same = (r.env, r.demonstrations) == (other.env, other.demonstrations)
        if optimistic and other.base.startswith(RIVAL) and same:
            p = pair(soar, rival)
            if p.ours and (r.env, r.base, r.critics) not in several:
                found.setdefault((r.label, other.label), []).append(p)
    return [
        _difference(claim, f"{ours} minus {theirs}, {p.env}", [p], study)
        for (ours, theirs), pairs in found.items()
        for p in pairs
    ]


def large_clips_hurt(study: Study) -> list[Finding]:
    """The largest clip value is worse than the others are on average: nothing is selected."""
    found = []
    groups: dict[tuple[str, str, int], list[list[Result]]] = {}
    for runs in cells(study.results).values():
        if runs[0].critics > 1 and runs[0].sigma > 0:
            groups.setdefault((runs[0].env, runs[0].base, runs[0].critics), []).append(runs)
    for (env, base, critics), sides in groups.items():
        if len({runs[0].sigma for runs in sides}) < 3:
            continue
        sides = sorted(sides, key=lambda runs: runs[0].sigma)
        seeds = set.intersection(*({r.seed for r in runs} for runs in sides))
        rows = [[r for r in runs if r.seed in seeds] for runs in sides]
        at = grid([r for runs in rows for r in runs]) if seeds else np.zeros(1)
        if not seeds:
            continue
        heights = [areas(runs, at)[:, None] for runs in rows]
        made = aggregate.bootstrap(
            aggregate.difference, np.mean(heights[:-1], axis=0), heights[-1], paired=True
        )
        clip = f"{rows[-1][0].sigma:g}"
        finding = Finding(
            "a large clip value degrades performance",
            f"{base}, {env}, L = {critics}",
            f"mean of the smaller clip values minus sigma = {clip}, area under the curve",
            made,
            above(made),
            len(seeds),
        )
        found.append(counted(finding, {(env, base)}, study))
    return found


def one_demonstration_is_enough(study: Study) -> list[Finding]:
    """With one demonstration the performance is that with sixteen."""
    found = []
    reported = [r for r in study.results if r.purpose == "report"]
    same = arms.alike(reported, besides=("demonstrations",))
    groups = [runs for runs in cells(reported).values() if runs[0].demonstrations in (1, 16)]
    for one, many in itertools.product(groups, groups):
        counts = one[0].demonstrations, many[0].demonstrations
        if counts != (1, 16) or not same(one[0], many[0]) or not is_normal([*one, *many]):
            continue
        p = pair(one, many)
        if p.ours:
            a, b = (final(side)[:, None] for side in (p.ours, p.theirs))
            made = aggregate.bootstrap(aggregate.difference, a, b, paired=True)
            finding = Finding(
                "one demonstration gives a performance comparable to sixteen",
                f"{arms.label(one[0].base, one[0].critics)}, {one[0].env}",
                f"difference of the normalised returns at the end, within ±{ALIKE:g}",
                made,
                within(made, ALIKE),
                len(p.ours),
            )
            found.append(honest(finding, [p], study))
    return found


CLAIMS: dict[str, Callable[[Study], list[Finding]]] = {
    "half-the-steps": half_the_steps,
    "improves": improves,
    "everywhere": everywhere,
    "above-opt-ail": above_opt_ail,
    "harder-gains-more": harder_gains_more,
    "more-critics": more_critics,
    "beyond-the-ensemble": beyond_the_ensemble,
    "large-clips-hurt": large_clips_hurt,
    "one-demonstration": one_demonstration_is_enough,
    "hard-exploration": hard_exploration,
}


def findings(study: Study) -> list[Finding]:
    """What the results say of the claims that they speak of."""
    return [finding for claim in CLAIMS.values() for finding in claim(study)]


def _by_method(study: Study) -> dict[str, list[Pair]]:
    """Pairs by label, less those with several clip values: to pick one here would be selection.

    Without a bonus it is no SOAR but an ensemble, which ``beyond_the_ensemble`` compares it with.
    """
    reported = [r for r in study.results if r.purpose == "report"]
    several = _several_clips(reported)
    found: dict[str, list[Pair]] = {}
    for p in with_base(reported):
        r = p.ours[0]
        if r.sigma > 0 and (r.env, r.base, r.critics) not in several:
            found.setdefault(r.label, []).append(p)
    return found


def _several_clips(results: Sequence[Result]) -> set[tuple[str, str, int]]:
    clips: dict[tuple[str, str, int, int], set[float]] = {}
    for r in results:
        if r.sigma > 0:
            clips.setdefault((r.env, r.base, r.critics, r.demonstrations), set()).add(r.sigma)
    return {key[:3] for key, values in clips.items() if len(values) > 1 and key[2] > 1}


def _comparable(pairs: list[Pair]) -> bool:
    """Returns of several environments can be averaged only if they are normalised."""
    return is_normal([r for p in pairs for r in (*p.ours, *p.theirs)])


def _gain(p: Pair) -> np.ndarray:
    at = grid([*p.ours, *p.theirs])
    return areas(p.ours, at) - areas(p.theirs, at)


def _difference(claim: str, about: str, pairs: list[Pair], study: Study) -> Finding:
    gains = [_gain(p) for p in pairs]
    n = min(map(len, gains))
    made = aggregate.bootstrap(aggregate.mean, np.stack([g[:n] for g in gains], axis=1))
    unit = "normalised " if is_normal([r for p in pairs for r in p.ours]) else ""
    measure = f"difference in {unit}return, area under the curve, same seeds"
    return honest(Finding(claim, about, measure, made, above(made), n), pairs, study)
