"""``soar report``: what runs came to, as one page."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.terminal.progress import console

Folders = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR [DIR ...]")]


def report(folders: Folders, out: Path = Path("results/report"), title: str = "") -> None:
    """Verdicts on the paper's claims, figures and tables from finished runs.

    Writes index.html, one page without network, and the same as figures/ (SVG, PNG), tables/
    (Markdown, CSV) and report.md. Missing runs are listed, never averaged over.

    Args:
        folders: Folders of sweeps or runs, or a sweep's .sweep.json; several make one report.
        out: Folder for the report.
        title: Of the page; by default what the sweeps are called.
    """
    from soar_il.report import reader
    from soar_il.report.write import write

    study = reader.read(folders)
    page = write(study, out, title or "; ".join(study.titles))
    counts = f"{len(study.results)} runs, {len(study.missing)} missing"
    console.print(f"{counts}\nreport: {page}", soft_wrap=True)
