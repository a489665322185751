"""One page that needs nothing else: figures, tables, style and provenance inside it."""

import html
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import NamedTuple

from soar_il.files import Fields
from soar_il.report.table import Table, as_html
from soar_il.report.verdict import Finding
from soar_il.report.videos import Video
from soar_il.statistics.intervals import shown

KIND = {"supported": "yes", "not supported": "no", "undecided": "open"}
FIRST = ("returns",)  # before any figure
SECOND = ("speed", "comparisons", "comparisons-rest", "optimism", "missing")  # after the curves
CARDS = "verdicts"  # a table that the page shows as cards instead

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
    headlines: Sequence[str]
    warnings: Sequence[str]
    findings: Sequence[Finding]
    figures: Sequence[Drawn]
    videos: Sequence[Video]
    tables: Sequence[Table]
    command: str
    about: Fields
    commands: Sequence[str]
    notes: Sequence[str]


def page(c: Contents) -> str:
    """What came out, then how it was learned, then what it was measured with."""
    style = (resources.files("soar_il") / "report" / "page.css").read_text(encoding="utf-8")
    early = [*FIRST, *SECOND, CARDS]
    sections = list(dict.fromkeys(f.section for f in c.figures))
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in c.notes)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(c.title)}</title>
<style>{style}</style></head>
<body><header><h1>{html.escape(c.title)}</h1>{_lead(c)}</header><main>
{_tables(t for t in c.tables if t.name in FIRST)}
{"".join(_figures(c.figures, name) for name in sections[:1])}
{_videos(c.videos)}
{_tables(t for t in c.tables if t.name in SECOND)}
{_cards(c.findings)}
{"".join(_figures(c.figures, name) for name in sections[1:])}
{_tables(t for t in c.tables if t.name not in early)}
<section id="method"><h2>How to read this</h2><ul>{notes}</ul></section>
<section id="provenance"><h2>Where it comes from</h2>
<p>This page:</p><pre>{html.escape(c.command)}</pre>
<details><summary>Versions and machine</summary><pre>{_json(c.about)}</pre></details>
<details><summary>The commands of the {len(c.commands)} runs</summary>
<pre>{html.escape(chr(10).join(c.commands))}</pre></details></section>
</main></body></html>
"""


def _lead(c: Contents) -> str:
    said = "".join(f'<p class="lead">{html.escape(text)}</p>' for text in c.headlines)
    flags = "".join(f"<li>{html.escape(text)}</li>" for text in c.warnings)
    return said + (f'<ul class="flags">{flags}</ul>' if flags else "")


def _tables(tables: Iterable[Table]) -> str:
    return "".join(map(_table, tables))


def _table(t: Table) -> str:
    title, body = html.escape(t.title), as_html(t)
    if t.folded:
        return (
            f'<section id="{t.name}"><details><summary>{title}</summary>{body}</details></section>'
        )
    return f'<section id="{t.name}"><h2>{title}</h2>{body}</section>'


def _videos(videos: Sequence[Video]) -> str:
    if not videos:
        return ""
    made = []
    for v in videos:
        title = html.escape(v.title)
        if v.kind.startswith("image/"):
            seen = f'<img src="{v.source}" alt="{title}">'
        else:
            seen = f'<video src="{v.source}" controls loop muted playsinline></video>'
        made.append(f'<figure class="film">{seen}<figcaption>{title}.</figcaption></figure>')
    return (
        f'<section id="videos"><h2>Videos</h2><div class="panels">{"".join(made)}</div></section>'
    )


def _cards(findings: Sequence[Finding]) -> str:
    """The paper's claims, where these runs speak of any."""
    if not findings:
        return ""
    cards = []
    for f in findings:
        note = f'<p class="note">{html.escape(f.note)}</p>' if f.note else ""
        cards.append(
            f'<div class="card {KIND[f.verdict]}"><span class="verdict">{f.verdict}</span>'
            f"<p>{html.escape(f.claim)}</p><p><b>{html.escape(f.about)}</b></p>"
            f'<p class="number">{html.escape(shown(f.interval))}</p>'
            f'<p class="note">{html.escape(f.measure)}; {f.runs} seed(s)</p>{note}</div>'
        )
    title = "The paper's claims, by these runs"
    return (
        f'<section id="claims"><h2>{title}</h2><div class="cards">{"".join(cards)}</div></section>'
    )


def _figures(figures: Sequence[Drawn], section: str) -> str:
    made = "".join(
        f'<figure id="{html.escape(f.name)}">{f.svg.replace("<svg", SPOKEN, 1)}'
        f"<figcaption>{html.escape(f.caption)}</figcaption></figure>"
        for f in figures
        if f.section == section
    )
    return f'<section><h2>{html.escape(section)}</h2><div class="panels">{made}</div></section>'


def _json(content: Fields) -> str:
    return html.escape(json.dumps(content, indent=1))
