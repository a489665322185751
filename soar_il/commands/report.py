"""``soar report``: what runs came to, as one page."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.terminal.progress import console

Folders = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR [DIR ...]")]
Returns = Annotated[
    tuple[str, ...], tyro.conf.arg(metavar="[ENV=]RETURN [...]", name="expert-return")
]


def report(
    folders: Folders,
    out: Path | None = None,
    title: str = "",
    expert_returns: Returns = (),
    poster: Path | None = None,
    marks: Path | None = None,
) -> None:
    """Write one page about runs: which method is ahead, by how much, with figures and tables.

    Writes index.html, which needs no network, and the same as figures/ (SVG, PNG), tables/
    (Markdown, CSV) and report.md. Missing and failed runs are named, never averaged over.

    Args:
        folders: Folders of sweeps or runs, or a sweep's .sweep.json; several make one report.
        out: Folder for the report; by default report/ beside what it is about.
        title: The page's title; by default the sweeps' titles.
        expert_returns: What the expert of an environment of your own reaches, so that returns can
            be normalised: 3500, or Own-v0=3500 where there are several environments.
        poster: Write one wide figure instead, a panel for each environment: a .png or .svg.
        marks: A TOML file of what others published, for the poster: [[marks]] with env, method,
            steps to 0.9 of the expert, and source.
    """
    from soar_il.report import poster as wide
    from soar_il.report import reader, references
    from soar_il.report.write import write

    told, place = references.given(expert_returns), reader.root(folders[0])
    study = reader.read(folders, told)

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    if references.measure(study, place, say):
        study = reader.read(folders, told)
    if poster is not None:
        known = wide.marks(marks) if marks else []
        say(f"figure: {wide.write(study, poster, known)}")
        return
    page = write(study, out or reader.beside(folders), title or "; ".join(study.titles))
    say(f"{len(study.results)} runs, {len(study.missing)} missing\nreport: {page}")
