"""What a study's tables say."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from soar_il.report import aggregate, efficiency
from soar_il.report.results import (
    Result,
    Study,
    areas,
    cells,
    curves,
    final,
    grid,
    is_normal,
    with_base,
)
from soar_il.report.stats import mean_interval, shown
from soar_il.report.table import Table
from soar_il.report.verdict import Finding

THRESHOLD = 0.9  # of the expert's level
SEEDS = "Mean over seeds and 95 % interval; no interval below five seeds."


def verdicts(found: Sequence[Finding]) -> Table:
    rows = tuple(
        (f.verdict, f.claim, f.about, shown(f.interval), str(f.runs), f.measure, f.note)
        for f in found
    )
    head = ("verdict", "claim", "where", "estimate [95 %]", "seeds", "measure", "note")
    return Table("verdicts", "What the paper says, and what these runs say", head, rows)


def returns(study: Study) -> Table:
    """Each setting on each environment."""
    rows = []
    for (env, label, count, purpose), runs in cells(study.results).items():
        at = grid(runs)
        raw = mean_interval(np.array([r.returns[-1] for r in runs]))
        normal = shown(mean_interval(final(runs))) if is_normal(runs) else "-"
        gone = sum(1 for m in study.missing if (m.env, m.label) == (env, label))
        rows.append(
            (
                *(env, label, str(count or "all"), purpose),
                f"{len(runs)}{f' ({gone} missing)' if gone else ''}",
                *(shown(raw, 0), normal),
                shown(mean_interval(areas(runs, at)), 2 if is_normal(runs) else 0),
                f"{min(r.steps[-1] for r in runs):,.0f}",
                runs[0].settings["termination"],
            )
        )
    head = (
        *("environment", "method", "demonstrations", "purpose", "seeds", "return", "normalised"),
        *("area under the curve", "steps", "termination"),
    )
    note = f"Deterministic returns of the policy handed out at the end. {SEEDS}"
    return Table("returns", "Returns", head, tuple(rows), note)


def aggregates(study: Study) -> Table | None:
    """Over environments, for what is normalised and has the same seeds everywhere."""
    rows = []
    for label, scores, envs in over_environments(study.results):
        made = [
            aggregate.bootstrap(statistic, scores)
            for statistic in (aggregate.iqm, aggregate.mean, aggregate.optimality_gap)
        ]
        rows.append((label, str(len(envs)), str(len(scores)), *map(shown, made)))
    if not rows:
        return None
    head = ("method", "environments", "seeds", "IQM", "mean", "optimality gap")
    note = "Normalised returns of the policies handed out at the end; stratified bootstrap, 95 %."
    return Table("aggregates", "Over environments", head, tuple(rows), note)


def runs(study: Study) -> Table:
    """One row for each seed: what a mean does not show."""
    rows = []
    for r in study.results:
        lowest = 1 + int(np.argmin(r.returns[1:])) if len(r.returns) > 1 else 0
        shown_at = [f"{r.returns[i]:,.0f} ± {r.spreads[i]:,.0f}" for i in (0, lowest, -1)]
        at = f"{shown_at[1]} ({r.steps[lowest]:,.0f})"
        who = (r.env, r.label, str(r.demonstrations or "all"), str(r.seed))
        rows.append((*who, shown_at[0], at, shown_at[2], f"{r.noisy[-1]:,.0f}"))
    head = (
        *("environment", "method", "demonstrations", "seed", "first evaluation"),
        *("lowest later (steps)", "at the end", "with the noise of training"),
    )
    note = "Returns, mean ± standard deviation over the episodes of one evaluation."
    return Table("runs", "Each run", head, tuple(rows), note)


def over_environments(
    results: Sequence[Result],
) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    """Label, final scores [runs, tasks] of the seeds that all its environments have, and those."""
    grouped: dict[str, list[list[Result]]] = {}
    reported = [r for r in results if r.purpose == "report"]
    several = len({r.demonstrations for r in reported}) > 1
    for (_, label, count, _), runs in cells(reported).items():
        grouped.setdefault(f"{label}, {count} demo(s)" if several else label, []).append(runs)
    made = []
    for label, sides in grouped.items():
        if is_normal([r for runs in sides for r in runs]):
            seeds = set.intersection(*({r.seed for r in runs} for runs in sides))
            kept = [[r for r in runs if r.seed in seeds] for runs in sides]
            if seeds:
                scores = np.stack([final(runs) for runs in kept], axis=1)
                made.append((label, scores, tuple(runs[0].env for runs in kept)))
    return made


def pairs(study: Study) -> Table | None:
    """Base against SOAR on the same seeds."""
    rows = []
    for p in with_base([r for r in study.results if r.purpose == "report"]):
        both = [*p.ours, *p.theirs]
        at, digits = grid(both), 2 if is_normal(both) else 0
        a, b = (final(side)[:, None] for side in (p.ours, p.theirs))
        heights = [areas(side, at)[:, None] for side in (p.ours, p.theirs)]
        last = aggregate.bootstrap(aggregate.difference, a, b, paired=True)
        height = aggregate.bootstrap(aggregate.difference, *heights, paired=True)
        better = aggregate.bootstrap(aggregate.probability_of_improvement, a, b)
        x, y = (curves(side, at) for side in (p.ours, p.theirs))
        caught = efficiency.catch_up_ratio(x, y, at)
        goal, late = "-", "-"
        if is_normal(both):
            ratio = efficiency.threshold_ratio(x, y, at, THRESHOLD)
            goal = shown(ratio.interval)
            late = f"{ratio.censored[0]} and {ratio.censored[1]} of {ratio.runs}"
        count = f"{len(p.ours)}{f' ({p.unpaired} without partner)' if p.unpaired else ''}"
        rows.append(
            (
                *(p.env, p.ours[0].label, count, shown(last, digits), shown(height, digits)),
                *(shown(better), shown(caught), goal, late),
            )
        )
    if not rows:
        return None
    head = (
        *("environment", "method", "pairs", "at the end", "area", "P(better)"),
        *("steps to base's best", f"steps to {THRESHOLD:g}", "never there"),
    )
    note = (
        "SOAR minus base, paired by seed; steps as a ratio, SOAR over base, below 1 is faster. A "
        "run that never gets there counts with all its steps and is named in the last column."
    )
    return Table("pairs", "Base against SOAR", head, tuple(rows), note)


def selection(study: Study) -> Table | None:
    """Clip values by what chose them: the true return on seeds of their own, or no reward."""
    groups: dict[tuple[str, str, int], list[list[Result]]] = {}
    for runs in cells(r for r in study.results if r.purpose == "selection").values():
        if runs[0].critics > 1:
            groups.setdefault((runs[0].env, runs[0].base, runs[0].critics), []).append(runs)
    rows = []
    for (env, base, critics), sides in groups.items():
        at = grid([r for runs in sides for r in runs])
        heights = [float(areas(runs, at).mean()) for runs in sides]
        gaps = [float(np.mean([r.gap for r in runs])) for runs in sides]
        for runs, height, gap in zip(sides, heights, gaps, strict=True):
            by = ["return"] if height == max(heights) else []
            by += ["cost gap"] if gap == min(gaps) else []
            seeds = f"{len(runs)}: {', '.join(str(r.seed) for r in runs)}"
            numbers = (f"{runs[0].sigma:g}", f"{height:.2f}", f"{gap:.3f}")
            rows.append((env, base, str(critics), *numbers, seeds, " and ".join(by)))
    if not rows:
        return None
    head = ("environment", "base", "L", "sigma", "area", "cost gap", "seeds", "chosen by")
    note = "These seeds report nothing else. The cost gap is the learner's own, without any reward."
    return Table("selection", "How clip values were chosen", head, tuple(rows), note)


def experts(study: Study) -> Table:
    rows = tuple(
        (
            *(e.env, str(e.seed), f"{e.steps:,}", f"{e.mean:.0f} ± {e.std:.0f}"),
            "-" if e.paper is None else f"{e.paper:.0f}",
        )
        for e in study.experts
    )
    head = ("environment", "seed", "steps", "return, mean ± std over episodes", "paper")
    return Table("experts", "Experts", head, rows)


def missing(study: Study) -> Table:
    rows = tuple((m.name, m.why) for m in study.missing)
    return Table("missing", "Runs that are missing", ("run", "why"), rows)


def settings(study: Study) -> Table:
    """One column for each kind of run; seeds apart. What is the same everywhere comes last."""
    kinds: dict[str, dict[str, str]] = {}
    for said in (*(r.settings for r in study.results), *study.settings):
        flat = _flat({name: value for name, value in said.items() if name != "seed"})
        kinds[str(sorted(flat.items()))] = flat
    columns = list(kinds.values())
    names = list(dict.fromkeys(name for flat in columns for name in flat))
    varied = [n for n in names if len({flat.get(n, "-") for flat in columns}) > 1]
    ordered = [*varied, *(n for n in names if n not in varied)]
    rows = tuple((n, *(flat.get(n, "-") for flat in columns)) for n in ordered)
    head = ("setting", *(str(number + 1) for number in range(len(columns))))
    return Table("settings", "Settings", head, rows)


def _flat(nested: dict[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in nested.items():
        inner = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{name}.") if inner else {f"{prefix}{name}": f"{value}"}
    return flat
