"""A report on disk: the page, and its figures and tables as files."""

import shlex
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from soar_il import provenance
from soar_il.report import claims, html, plots, table, tables, tabular
from soar_il.report.results import Study
from soar_il.report.style import PANEL, inline, save
from soar_il.report.table import Table
from soar_il.report.verdict import Finding

NOTES = (
    "Returns are the environment's own, which no learner saw; higher is better. Normalised: 0 is a "
    "uniformly random policy, 1 the expert. The policy is always the last one, never the best.",
    "Intervals are 95 %: Student's for means over seeds, else a seeded bootstrap within each "
    "environment, widened for few runs. In simulated studies with 5 and 10 seeds of normal, "
    "heavy-tailed and bimodal scores they held the truth in 88 to 99 % "
    "(tests/test_aggregate.py: test_intervals_cover). Below five seeds there is none.",
    "Supported: the whole interval is on the claim's side. Not supported: the whole interval is on "
    "the other. Undecided: it is on both, or seeds are few, or runs are missing.",
    "Verdicts are per claim, without a correction for their number.",
)


def write(study: Study, out: Path, title: str) -> Path:
    """index.html, report.md, figures/ and tables/; the path of the page."""
    found, silent = claims.findings(study)
    drawn = []
    (out / "figures").mkdir(parents=True, exist_ok=True)
    (out / "tables").mkdir(exist_ok=True)
    for panel in plots.panels(study):
        with plt.rc_context(PANEL):
            svg = inline(panel.figure)
            save(panel.figure, out / "figures", panel.name)
        drawn.append(html.Drawn(panel.name, panel.section, panel.caption, svg))
    made = _tables(study, found)
    for kind in ("csv", "md"):  # of an earlier report, which lacked runs that are there now
        (out / "tables" / f"missing.{kind}").unlink(missing_ok=True)
    for t in made:
        (out / "tables" / f"{t.name}.csv").write_text(table.as_csv(t), encoding="utf-8")
        (out / "tables" / f"{t.name}.md").write_text(table.markdown(t), encoding="utf-8")
    commands = list(dict.fromkeys(r.about.get("command", "?") for r in study.results))
    contents = html.Contents(
        title=title,
        findings=found,
        silent=silent,
        figures=drawn,
        tables=made,
        command=shlex.join(["soar", *sys.argv[1:]]),
        about=provenance.about(),
        commands=commands,
        notes=NOTES,
    )
    (out / "index.html").write_text(html.page(contents), encoding="utf-8")
    (out / "report.md").write_text(_markdown(contents), encoding="utf-8")
    return out / "index.html"


def _tables(study: Study, found: list[Finding]) -> list[Table]:
    made: list[Table | None] = [tables.verdicts(found) if found else None]
    made += [tables.missing(study)] if study.missing else []
    if study.results:
        made += [tables.returns(study), tables.aggregates(study), tables.pairs(study)]
        made += [tables.selection(study), tables.runs(study)]
    made += [tabular.table(content, number) for number, content in enumerate(study.studies)]
    made += [tables.experts(study)] if study.experts else []
    if study.results or study.settings:
        made.append(tables.settings(study))
    return [t for t in made if t is not None]


def _markdown(c: html.Contents) -> str:
    parts = [f"# {c.title}\n"]
    for t in c.tables:
        parts.append(f"## {t.title}\n\n{table.markdown(t)}")
    for f in c.figures:
        parts.append(f"![{f.caption}](figures/{f.name}.png)\n\n{f.caption}\n")
    notes = "\n".join(f"- {note}" for note in c.notes)
    parts.append(f"## How to read this\n\n{notes}\n\n```\n{c.command}\n```\n")
    return "\n".join(parts)
