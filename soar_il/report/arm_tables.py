"""Arms in tables. What a reader wants first is in the first columns: who, and how good."""

from collections.abc import Sequence

import numpy as np

from soar_il.report import failures
from soar_il.report.compare import THRESHOLD, Comparison, ranked
from soar_il.report.failures import Failed
from soar_il.report.headline import stated
from soar_il.report.results import (
    Result,
    Study,
    cells,
    final,
    is_normal,
    last_common,
    value_at,
)
from soar_il.report.table import Table
from soar_il.statistics import aggregate
from soar_il.statistics.efficiency import Ratio
from soar_il.statistics.intervals import mean_interval, shown

MANY = 6  # comparisons and runs: what is beyond them is folded away
FURTHER = 1.1  # a run that took so many times the common steps has an end of its own
MEASURED = {
    "spread_share": "spread over Q's range",
    "gradient_share": "of the actor's gradient",
    "visits": "correlation with visits",
}
SQUARE = "[square brackets]: 95 % interval; (round ones): lowest and highest, of few seeds."


def returns(study: Study, found: Sequence[Failed]) -> Table:
    """Each arm on each environment, all at the same steps."""
    groups = _best_first(study)
    common = {env: last_common(r for r in study.results if r.env == env) for env, _, _ in groups}
    ends = {key: last_common(runs) for key, runs in groups.items()}
    further = any(end > FURTHER * common[key[0]] for key, end in ends.items())
    rows = []
    for (env, label, purpose), runs in groups.items():
        at = common[env]
        raw = [value_at(r, at, raw=True) for r in runs]
        known = [value_at(r, at) for r in runs] if is_normal(runs) else []
        gone = sum((m.env, m.label, m.purpose) == (env, label, purpose) for m in study.missing)
        row = {
            "method": label,
            "return": _middle(raw, False),
            "normalised": _middle(known, True) if known else "-",
            "environment": env,
            "seeds": f"{len(runs)}{f' ({gone} missing)' if gone else ''}",
            "failed": ", ".join(f"seed {f.seed}" for f in failures.of(runs, found)) or "none",
            "steps": "none" if runs[0].stepless else f"{at:,.0f}",
            "at its own end": _own_end(runs) if ends[env, label, purpose] > FURTHER * at else "-",
            "purpose": purpose,
            "termination": str(runs[0].settings["termination"]),
        }
        rows.append(row)
    drop = {
        "normalised": all(row["normalised"] == "-" for row in rows),
        "environment": len(common) == 1,
        "at its own end": not further,
        "purpose": {row["purpose"] for row in rows} == {"report"},
    }
    note = (
        "Interquartile mean over seeds of the true return of the latest policy, played without "
        f"noise; no learner saw it. {SQUARE} Between two evaluations a return is interpolated."
    )
    where = f" on {next(iter(common))}" if len(common) == 1 else ""
    return _table("returns", f"Returns{where}", rows, drop, note)


def _best_first(study: Study) -> dict[tuple[str, str, str], list[Result]]:
    """Cells by purpose and environment, the best arm of each first."""
    by_place: dict[tuple[str, str], list[list[Result]]] = {}
    for (env, _, purpose), runs in cells(study.results).items():
        by_place.setdefault((purpose, env), []).append(runs)
    return {
        (env, runs[0].label, purpose): runs
        for (purpose, env), arms in sorted(by_place.items())
        for runs in ranked(arms)
    }


def _own_end(runs: Sequence[Result]) -> str:
    normal = is_normal(runs)
    return f"{_middle(list(final(runs)), normal)} after {last_common(runs):,.0f}"


def compared(found: Sequence[Comparison]) -> list[Table]:
    """Two arms a row; where there are many, those without the best arm are folded away."""
    if not found:
        return []
    rows = [_compared(c) for c in found]
    drop = {
        "environment": len({c.envs for c in found}) == 1,
        "steps to 0.9": all(c.to_goal is None for c in found),
        "seconds to 0.9": all(c.seconds is None for c in found),
        "never there": all(c.to_goal is None for c in found),
    }
    note = (
        "The first arm minus the second, on the same seeds and after the same steps; interquartile "
        f"means. {SQUARE} P(higher): the probability that a run of the first beats one of the "
        "second. Area: the difference over all of training, not only at its end."
    )
    if not drop["steps to 0.9"]:
        note += (
            f" Steps and seconds to {THRESHOLD:g} of the expert are ratios, first over second: "
            "below 1 the first is faster. A run that never gets there counts with all it was "
            "given, and is counted under 'never there'. Over environments it is the geometric mean."
        )
    if not drop["seconds to 0.9"]:
        note += " Seconds are the processor's, without evaluation."
    first = _worth_a_look(found)
    shown_rows = [row for row, keep in zip(rows, first, strict=True) if keep]
    made = [_table("comparisons", "Every two arms", shown_rows, drop, note)]
    rest = [row for row, keep in zip(rows, first, strict=True) if not keep]
    if rest:
        title = f"The other {len(rest)} comparisons"
        made.append(_table("comparisons-rest", title, rest, drop)._replace(folded=True))
    return made


def _worth_a_look(found: Sequence[Comparison]) -> list[bool]:
    """All where they are few; else the best arm with the others, over all environments if it is."""
    if len(found) <= MANY:
        return [True] * len(found)
    best = {c.envs: c.ours for c in reversed(found)}
    whole = any(len(c.envs) > 1 for c in found)
    return [best[c.envs] == c.ours and (len(c.envs) > 1 or not whole) for c in found]


def _compared(c: Comparison) -> dict[str, str]:
    ends = [c.lowest, c.highest][: c.seeds]  # one pair has no range
    count = f"{c.seeds}{f' ({c.unpaired} without partner)' if c.unpaired else ''}"
    return {
        "arms": f"{c.ours} minus {c.theirs}",
        "difference": stated(c.difference, ends, c.normal),
        "environment": c.envs[0] if len(c.envs) == 1 else f"all {len(c.envs)}",
        "seeds": count,
        "steps": f"{c.steps:,.0f}",
        "P(higher)": shown(c.better),
        "area": shown(c.area, 2 if c.normal or abs(c.area.value) < 10 else 0),
        "steps to 0.9": ratio(c.to_goal),
        "seconds to 0.9": ratio(c.seconds),
        "never there": never(c.to_goal),
    }


def never(made: Ratio | None) -> str:
    """How many runs of each never got there."""
    return "-" if made is None else "{} and {} of {}".format(*made.censored, made.runs)


def ratio(made: Ratio | None) -> str:
    """With its interval, or the range of few pairs; nothing where no run of either got there."""
    if made is None or min(made.censored) == made.runs or np.isnan(made.interval.value):
        return "-"
    if np.isfinite(made.interval.low) or made.lowest == made.highest:
        return shown(made.interval)
    return f"{made.interval.value:.2f} ({made.lowest:.2f} to {made.highest:.2f})"


def optimism(study: Study) -> Table | None:
    """Whether SOAR did anything: how far the critics were apart, and what was clipped of it."""
    rows = []
    for (env, label, _), runs in cells(study.results).items():
        if runs[0].critics == 1:
            continue
        numbers = {
            name: np.array([r.seen[name] for r in runs]).T for name in ("q_spread", "clipped")
        }
        if not np.isfinite(numbers["q_spread"]).any():
            continue
        rows.append(
            {
                "method": label,
                "spread over training": f"{numbers['q_spread'][0].mean():.2f}",
                "spread at the end": f"{numbers['q_spread'][1].mean():.2f}",
                "clipped over training": _share(numbers["clipped"][0]),
                "clipped at the end": _share(numbers["clipped"][1]),
                **{title: _measured(runs, name) for name, title in MEASURED.items()},
                "sigma": f"{runs[0].sigma:g}",
                "environment": env,
            }
        )
    if not rows:
        return None
    note = (
        "Spread is how far the L critics disagree, as a standard deviation in units of "
        "cost-to-go; clipped is the share of states where that is more than sigma, so that the "
        "bonus is sigma whatever the policy does there and has no gradient: near 100 % the critics "
        "are averaged and nothing is explored, near a spread of 0 they agree and SOAR does little."
    )
    drop = {"environment": len({r.env for r in study.results}) == 1}
    drop |= {title: all(row[title] == "-" for row in rows) for title in MEASURED.values()}
    if not all(drop[title] for title in MEASURED.values()):
        note += (
            " At the end, by soar bonus: the spread over the range of Q; the bonus's share of the "
            "actor's gradient; Spearman's correlation of the spread with how often the "
            "surroundings were visited, which a bonus for exploration has below 0."
        )
    return _table("optimism", "What the critics disagreed on", rows, drop, note)


def _measured(runs: Sequence[Result], name: str) -> str:
    """The mean over the runs that `soar bonus` looked at, with their range."""
    known = [r.seen[name].end for r in runs if name in r.seen and np.isfinite(r.seen[name].end)]
    return stated(mean_interval(np.array(known)), known, True) if known else "-"


def _share(values: np.ndarray) -> str:
    return f"{100 * values.mean():.0f} %" if np.isfinite(values).all() else "-"


def aggregates(study: Study) -> Table | None:
    """Over environments, for what is normalised and has the same seeds everywhere."""
    rows = []
    for label, scores, envs in over_environments(study.results):
        made = [
            aggregate.bootstrap(statistic, scores)
            for statistic in (aggregate.iqm, aggregate.mean, aggregate.optimality_gap)
        ]
        rows.append((label, *map(shown, made), str(len(envs)), str(len(scores))))
    if not rows:
        return None
    head = ("method", "IQM", "mean", "optimality gap", "environments", "seeds")
    note = "Normalised returns of the policies handed out at the end; stratified bootstrap, 95 %."
    return Table("aggregates", "Over environments", head, tuple(rows), note)


def runs(study: Study, found: Sequence[Failed]) -> Table:
    """One row for each seed: what a mean does not show."""
    rows = []
    for r in study.results:
        lowest = 1 + int(np.argmin(r.returns[1:])) if len(r.returns) > 1 else 0
        shown_at = [f"{r.returns[i]:,.0f} ± {r.spreads[i]:,.0f}" for i in (0, lowest, -1)]
        flags = [f.why for f in failures.of([r], found)]
        rows.append(
            {
                "method": r.label,
                "seed": str(r.seed),
                "at the end": shown_at[2],
                "failed": flags[0] if flags else "",
                "environment": r.env,
                "first evaluation": shown_at[0],
                "lowest later (steps)": f"{shown_at[1]} ({r.steps[lowest]:,.0f})",
                "with the noise of training": f"{r.noisy[-1]:,.0f}",
                "steps": f"{r.steps[-1]:,.0f}",
            }
        )
    drop = {
        "failed": not any(row["failed"] for row in rows),
        "environment": len({r.env for r in study.results}) == 1,
    }
    note = "Returns, mean ± standard deviation over the episodes of one evaluation."
    title = f"Each of the {len(rows)} runs" if len(rows) > 1 else "The run"
    made = _table("runs", title, rows, drop, note)
    return made._replace(folded=len(rows) > MANY)


def over_environments(
    results: Sequence[Result],
) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
    """Label, final scores [runs, tasks] of the seeds that all its environments have, and those."""
    grouped: dict[str, list[list[Result]]] = {}
    for (_, label, _), runs in cells(r for r in results if r.purpose == "report").items():
        grouped.setdefault(label, []).append(runs)
    made = []
    for label, sides in grouped.items():
        if is_normal([r for runs in sides for r in runs]):
            seeds = set.intersection(*({r.seed for r in runs} for runs in sides))
            kept = [[r for r in runs if r.seed in seeds] for runs in sides]
            if seeds and len(sides) > 1:
                scores = np.stack([final(runs) for runs in kept], axis=1)
                made.append((label, scores, tuple(runs[0].env for runs in kept)))
    return made


def _middle(values: Sequence[float], normal: bool) -> str:
    column = np.array(values, float)[:, None]
    return stated(aggregate.bootstrap(aggregate.iqm, column), values, normal)


def _table(
    name: str, title: str, rows: Sequence[dict[str, str]], drop: dict[str, bool], note: str = ""
) -> Table:
    """Rows by column's name, less the columns that say nothing here."""
    head = tuple(column for column in rows[0] if not drop.get(column))
    body = tuple(tuple(row[column] for column in head) for row in rows)
    return Table(name, title, head, body, note)
