"""One page that needs nothing else: figures, tables, style and provenance inside it."""

import html
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

from soar_il.report.table import Table, as_html
from soar_il.report.verdict import Finding
from soar_il.statistics.intervals import shown

KIND = {"supported": "yes", "not supported": "no", "undecided": "open"}

SPOKEN = '<svg role="img" aria-label="figure, described below"'


class Drawn(NamedTuple):
    """A figure as SVG for the inside of the page."""

    name: str
    section: str
    caption: str
    svg: str


class Contents(NamedTuple):
    """What the page says, from top to bottom."""

    title: str
    findings: Sequence[Finding]
    silent: Sequence[str]
    figures: Sequence[Drawn]
    tables: Sequence[Table]
    command: str
    about: dict[str, Any]
    commands: Sequence[str]
    notes: Sequence[str]


def page(c: Contents) -> str:
    style = (resources.files("soar_il") / "report" / "page.css").read_text(encoding="utf-8")
    sections = "".join(
        _figures(c.figures, name) for name in dict.fromkeys(f.section for f in c.figures)
    )
    first = [t for t in c.tables if t.name == "missing"]
    rest = [t for t in c.tables if t.name not in ("missing", "verdicts")]  # the cards have those
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in c.notes)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(c.title)}</title>
<style>{style}</style></head>
<body><header><h1>{html.escape(c.title)}</h1></header><main>
<section id="verdicts-first"><h2>Verdicts</h2>{_cards(c.findings)}{_silent(c.silent)}</section>
{_tables(first)}
{sections}
{_tables(rest)}
<section id="method"><h2>How to read this</h2><ul>{notes}</ul></section>
<section id="provenance"><h2>Where it comes from</h2>
<p>This page:</p><pre>{html.escape(c.command)}</pre>
<details><summary>Versions and machine</summary><pre>{_json(c.about)}</pre></details>
<details><summary>The commands of the {len(c.commands)} runs</summary>
<pre>{html.escape(chr(10).join(c.commands))}</pre></details></section>
</main></body></html>
"""


def _tables(tables: Sequence[Table]) -> str:
    return "".join(
        f'<section id="{t.name}"><h2>{html.escape(t.title)}</h2>{as_html(t)}</section>'
        for t in tables
    )


def _cards(findings: Sequence[Finding]) -> str:
    if not findings:
        return "<p>These runs speak of none of the paper's claims.</p>"
    cards = []
    for f in findings:
        note = f'<p class="note">{html.escape(f.note)}</p>' if f.note else ""
        cards.append(
            f'<div class="card {KIND[f.verdict]}"><span class="verdict">{f.verdict}</span>'
            f"<p>{html.escape(f.claim)}</p><p><b>{html.escape(f.about)}</b></p>"
            f'<p class="number">{html.escape(shown(f.interval))}</p>'
            f'<p class="note">{html.escape(f.measure)}; {f.runs} seed(s)</p>{note}</div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _silent(names: Sequence[str]) -> str:
    return f'<p class="note">Not measured by these runs: {", ".join(names)}.</p>' if names else ""


def _figures(figures: Sequence[Drawn], section: str) -> str:
    made = "".join(
        f'<figure id="{html.escape(f.name)}">{f.svg.replace("<svg", SPOKEN, 1)}'
        f"<figcaption>{html.escape(f.caption)}</figcaption></figure>"
        for f in figures
        if f.section == section
    )
    return f'<section><h2>{html.escape(section)}</h2><div class="panels">{made}</div></section>'


def _json(content: dict[str, Any]) -> str:
    return html.escape(json.dumps(content, indent=1))
