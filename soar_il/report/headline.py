"""What came out, in sentences: the first thing on the page."""

from collections.abc import Sequence

import numpy as np

from soar_il.report.compare import Comparison, ranked
from soar_il.report.failures import Failed
from soar_il.report.results import Result, Study, cells, is_normal, last_common, value_at
from soar_il.statistics import aggregate
from soar_il.statistics.intervals import FEWEST, Interval

MOST = 5  # failed runs of an arm that are named
SCALE = "of the expert's lead over random play"


def headlines(study: Study, compared: Sequence[Comparison]) -> list[str]:
    """A sentence for all environments together, or one for each."""
    reported = [r for r in study.results if r.purpose == "report"]
    envs = list(dict.fromkeys(r.env for r in reported))
    whole = [c for c in compared if len(c.envs) > 1]
    if whole:
        return [_first(study, whole, envs)]
    said = []
    for env in envs:
        mine = [c for c in compared if c.envs == (env,)]
        if mine:
            said.append(_first(study, mine, [env]))
        else:
            arms = [runs for (place, _, _), runs in cells(reported).items() if place == env]
            said += [_alone(runs) for runs in ranked(arms)]
    return said


def _first(study: Study, compared: Sequence[Comparison], envs: Sequence[str]) -> str:
    """The best arm beside the next; of many, that it was picked by this very number."""
    arms = {c.ours for c in compared} | {c.theirs for c in compared}
    sentence = sentence_of(compared[0])
    if len(arms) == 2:
        return sentence
    ours = [c for c in compared if _base_of(c.ours) == _base_of(c.theirs)]
    if len(ours) == 1 and len(arms) == 3:
        return f"{sentence_of(ours[0])} {_beside(study, envs, ours[0])}"
    return (
        f"The highest of {len(arms)} arms beside the next: {sentence} It was picked by this "
        "number, so that its lead is, if anything, too large."
    )


def _base_of(label: str) -> str:
    """SOAR on ml-irl is of ml-irl."""
    return label.partition(" + SOAR")[0]


def _beside(study: Study, envs: Sequence[str], c: Comparison) -> str:
    """A third arm, where SOAR and its base method are what is compared."""
    reported = [r for r in study.results if r.purpose == "report" and r.env in envs]
    arms = [runs for (_, label, _), runs in cells(reported).items() if label not in c[:2]]
    return " ".join(_alone(runs) for runs in arms)


def sentence_of(c: Comparison) -> str:
    """Who is ahead, by how much, and how sure that is."""
    where = f"on {c.envs[0]}" if len(c.envs) == 1 else f"over {len(c.envs)} environments"
    when = f"after {c.steps:,.0f} steps {where}"
    value, low, high = (number(x, c.normal) for x in c.difference)
    unit = SCALE if c.normal else "in return"
    seeds = f"{c.seeds} seed{'s' * (c.seeds != 1)}"
    if c.seeds < FEWEST:
        if c.seeds == 1:
            apart = "of one seed little can be said"
        else:
            apart = f"range {number(c.lowest, c.normal)} to {number(c.highest, c.normal)}, "
            apart += "no interval"
        level = float(value.replace(",", "")) == 0
        lead = "ended level with" if level else f"ended {value} {unit} above"
        return f"{c.ours} {lead} {c.theirs} {when} ({seeds}: {apart})."
    if c.difference.low > 0:
        lead = f"by {value} [{low}, {high}] {unit}"
        return f"{c.ours} is ahead of {c.theirs} {lead} {when} ({seeds})."
    return (
        f"{c.ours} and {c.theirs} are not told apart {when}: the difference is {value} "
        f"[{low}, {high}] {unit} ({seeds})."
    )


def _alone(runs: Sequence[Result]) -> str:
    """One arm has nobody to be compared with: where it is, and where it began."""
    at, normal = last_common(runs), is_normal(runs)
    made = aggregate.bootstrap(aggregate.iqm, np.array([[value_at(r, at)] for r in runs]))
    ends = [value_at(r, at) for r in runs]
    first = np.array([value_at(r, r.steps[0]) for r in runs])
    began = number(float(aggregate.iqm(first[:, None])), normal)
    what = "of the way from random play to the expert" if normal else "in return"
    seeds = f"{len(runs)} seed{'s' * (len(runs) != 1)}"
    if runs[0].stepless:
        where = f"on {runs[0].env}, without an environment step ({seeds})."
        return f"{runs[0].label} is at {stated(made, ends, normal)} {what} {where}"
    before = f"its first evaluation, after {runs[0].steps[0]:,.0f}, was {began}"
    return (
        f"{runs[0].label} is at {stated(made, ends, normal)} {what} after {at:,.0f} steps on "
        f"{runs[0].env}; {before} ({seeds})."
    )


def warnings(study: Study, found: Sequence[Failed]) -> list[str]:
    """What the first sentences must not be read without."""
    by_arm: dict[tuple[str, str], list[Failed]] = {}
    for f in found:
        by_arm.setdefault((f.label, f.env), []).append(f)
    said = []
    for (label, env), fallen in by_arm.items():
        count = sum((r.label, r.env) == (label, env) for r in study.results)
        each = [f"seed {f.seed} ended at {f.value:,.0f} ({f.why})" for f in fallen[:MOST]]
        more = f", and {len(fallen) - MOST} more" if len(fallen) > MOST else ""
        named = f"{len(fallen)} of {count} runs of {label} on {env} failed"
        said.append(f"{named}: {', '.join(each)}{more}.")
    gone = [m for m in study.missing if m.purpose == "report"]
    if gone:
        names = ", ".join(m.name for m in gone[:3]) + (", ..." if len(gone) > 3 else "")
        said.append(f"{len(gone)} run(s) are missing and counted nowhere: {names}.")
    return said


def number(value: float, normal: bool) -> str:
    """Normalised returns have two decimals, others as many as they need."""
    if not np.isfinite(value):
        return "-"
    text = f"{value:.2f}" if normal or abs(value) < 10 else f"{value:,.0f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def stated(made: Interval, values: Sequence[float] | np.ndarray, normal: bool) -> str:
    """``value [low, high]``; with few seeds the range instead, in round brackets."""
    value = number(float(made.value), normal)
    if np.isfinite(made.low) or np.isfinite(made.high):
        return f"{value} [{number(made.low, normal)}, {number(made.high, normal)}]"
    if len(values) < 2:
        return value
    low, high = number(float(np.min(values)), normal), number(float(np.max(values)), normal)
    return f"{value} ({low} to {high})"
