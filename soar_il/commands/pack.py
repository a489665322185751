"""``soar pack``: a sweep's results as a few small files."""

from pathlib import Path
from typing import Annotated

import tyro

from soar_il.errors import ConfigError
from soar_il.terminal.progress import console

Place = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


def pack(place: Place, out: Path | None = None) -> None:
    """Put a sweep's results in a few small files, to be committed; `soar report` reads them.

    evaluations.csv has a row for each evaluation: environment, method, options, seed, steps,
    seconds, returns. `soar report OUT` makes every figure and table again, without a run.

    Args:
        place: The folder of a sweep, or one of its .sweep.json.
        out: Folder for the files; by default docs/results and the sweep's name.
    """
    from soar_il.report import packed

    out = out or Path("docs/results") / place.name.removesuffix(".sweep.json")
    folder = place.parent if place.is_file() else place
    if out.resolve() == folder.resolve():
        raise ConfigError("would be packed into itself", str(out), "choose another --out")
    runs, missing = packed.write(place, out)
    console.print(
        f"{runs} runs, {missing} missing, in {out}\nsoar report {out}",
        markup=False, soft_wrap=True,
    )  # fmt: skip
