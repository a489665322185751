"""A report on disk: the page, and its figures and tables as files."""

import json
import shlex
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from soar_il import provenance
from soar_il.figures.style import PANEL, inline, save
from soar_il.report import (
    arm_tables,
    claims,
    compare,
    failures,
    headline,
    html,
    plots,
    settings,
    speed,
    table,
    tables,
    tabular,
    videos,
)
from soar_il.report.results import Study
from soar_il.report.table import Table

MADE = "made.json"  # the files of the last report here, which the next one may replace
NOTES = (
    "Returns are the environment's own, which no learner saw; higher is better. Normalised: 0 is a "
    "uniformly random policy, 1 the expert. The policy is always the last one, never the best.",
    "An arm is the runs that were asked for the same, but for the seed. Two arms are compared on "
    "the seeds that both have, after the steps that all their runs have reached.",
    "Intervals are 95 %: Student's for means over seeds, else a seeded bootstrap within each "
    "environment, widened for few runs. In simulated studies with 5 and 10 seeds of normal, "
    "heavy-tailed and bimodal scores they held the truth in 88 to 99 % "
    "(tests/statistics/test_aggregate.py: test_intervals_cover). Below five seeds there is none, "
    "and a range is shown.",
    "An interquartile mean leaves out the best and the worst quarter of the runs: what failed is "
    "named apart. A run failed if it ended within 5 % of random play; or a fifth of the way from "
    "random to the expert (or of the largest return) below where it began; or as far below the "
    "others, by three of their deviations too.",
)
JUDGED = (
    "Supported: the whole interval is on the claim's side. Not supported: the whole interval is on "
    "the other. Undecided: it is on both, or seeds are few, or runs are missing. Verdicts are per "
    "claim, without a correction for their number.",
)


def write(study: Study, out: Path, title: str) -> Path:
    """index.html, report.md, figures/ and tables/; the path of the page."""
    compared = compare.comparisons(study)
    failed, found = failures.failed(study), claims.findings(study)
    drawn, files = [], []
    (out / "figures").mkdir(parents=True, exist_ok=True)
    (out / "tables").mkdir(exist_ok=True)
    for panel in plots.panels(study, compared):
        with plt.rc_context(PANEL):
            svg = inline(panel.figure)
            save(panel.figure, out / "figures", panel.name)
        files += [f"figures/{panel.name}.{kind}" for kind in ("svg", "png")]
        drawn.append(html.Drawn(panel.name, panel.section, panel.caption, svg))
    made = [tables.verdicts(found)] if found else []
    made += _tables(study, compared, failed)
    for t in made:
        (out / "tables" / f"{t.name}.csv").write_text(table.as_csv(t), encoding="utf-8")
        (out / "tables" / f"{t.name}.md").write_text(table.markdown(t), encoding="utf-8")
        files += [f"tables/{t.name}.{kind}" for kind in ("csv", "md")]
    contents = html.Contents(
        title=title,
        headlines=headline.headlines(study, compared),
        warnings=headline.warnings(study, failed),
        findings=found,
        figures=drawn,
        videos=videos.of(study, out),
        tables=made,
        command=shlex.join(["soar", *sys.argv[1:]]),
        about=provenance.about(),
        commands=list(dict.fromkeys(r.about.get("command", "?") for r in study.results)),
        notes=NOTES + (JUDGED if found else ()),
    )
    (out / "index.html").write_text(html.page(contents), encoding="utf-8")
    (out / "report.md").write_text(_markdown(contents), encoding="utf-8")
    _replace(out, files)
    return out / "index.html"


def _tables(
    study: Study, compared: list[compare.Comparison], failed: list[failures.Failed]
) -> list[Table]:
    made: list[Table | None] = []
    if study.results:
        made += [arm_tables.returns(study, failed), *arm_tables.compared(compared)]
        made += [speed.table(study), arm_tables.optimism(study)]
    made += [tables.missing(study)] if study.missing else []
    if study.results:
        made += [arm_tables.aggregates(study), tables.selection(study)]
        made += [arm_tables.runs(study, failed)]
    made += [tabular.table(content, number) for number, content in enumerate(study.studies)]
    made += [tables.experts(study)] if study.experts else []
    made += [tables.references(study), *settings.tables(study)]
    return [t for t in made if t is not None]


def _replace(out: Path, files: list[str]) -> None:
    """Remove what an earlier report made here and this one does not; nothing else."""
    listed = out / MADE
    try:
        before = json.loads(listed.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = []
    for name in set(map(str, before)) - set(files):
        if (out / name).resolve().is_relative_to(out.resolve()):  # whoever wrote the list
            (out / name).unlink(missing_ok=True)
    listed.write_text(json.dumps(sorted(files), indent=1) + "\n", encoding="utf-8")


def _markdown(c: html.Contents) -> str:
    parts = [f"# {c.title}\n", *(f"**{text}**\n" for text in c.headlines)]
    parts += ["\n".join(f"- {text}" for text in c.warnings) + "\n"] if c.warnings else []
    for t in c.tables:
        parts.append(f"## {t.title}\n\n{table.markdown(t)}")
    for f in c.figures:
        parts.append(f"![{f.caption}](figures/{f.name}.png)\n\n{f.caption}\n")
    notes = "\n".join(f"- {note}" for note in c.notes)
    parts.append(f"## How to read this\n\n{notes}\n\n```\n{c.command}\n```\n")
    return "\n".join(parts)
