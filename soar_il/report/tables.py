"""What a study's tables say besides those of its arms (arm_tables.py)."""

from collections.abc import Sequence

import numpy as np

from soar_il.report.headline import number
from soar_il.report.results import Result, Study, areas, cells, grid
from soar_il.report.table import Table
from soar_il.report.verdict import Finding
from soar_il.statistics.intervals import Interval, mean_interval, shown

SEEDS = "Mean over seeds and 95 % interval; no interval below five seeds."


def verdicts(found: Sequence[Finding]) -> Table:
    rows = tuple(
        (f.verdict, f.claim, f.about, shown(f.interval), str(f.runs), f.measure, f.note)
        for f in found
    )
    head = ("verdict", "claim", "where", "estimate [95 %]", "seeds", "measure", "note")
    return Table("verdicts", "What the paper says, and what these runs say", head, rows)


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
        gaps = [float(np.mean([r.seen["cost_gap"].end for r in runs])) for runs in sides]
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


def references(study: Study) -> Table | None:
    """What 0 and 1 mean in a normalised return, as far as it is known."""
    rows = []
    for env, known in study.references.items():
        for name, value, source in (
            ("random play", known.random, known.random_from),
            ("the expert", known.expert, known.expert_from),
        ):
            if value is not None:
                rows.append((env, name, number(value, False), source))
    if not rows:
        return None
    head = ("environment", "whose", "return", "from")
    note = "A normalised return is 0 for random play and 1 for the expert."
    return Table("references", "What returns are measured against", head, tuple(rows), note)


def _column(values: np.ndarray) -> Interval:
    return Interval(*(float(x) for x in np.ravel(mean_interval(values))))
