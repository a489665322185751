"""Videos that `soar video` has made of a study's runs, for the inside of a page."""

import base64
import shutil
from pathlib import Path
from typing import NamedTuple

from soar_il.report.results import Study, cells

KINDS = {".mp4": "video/mp4", ".gif": "image/gif"}
LARGEST = 6_000_000  # bytes inside the page; a larger one lies beside it
MOST = 4


class Video(NamedTuple):
    """What it shows, and an address that needs no network."""

    title: str
    kind: str
    source: str


def of(study: Study, out: Path) -> list[Video]:
    """The first that there is of each arm."""
    found: list[Video] = []
    for (env, label, _), runs in cells(study.results).items():
        made = [
            (r, path)
            for r in runs
            for suffix in KINDS
            if (path := Path(r.place) / f"video{suffix}").is_file()
        ]
        if made and len(found) < MOST:
            r, path = made[0]
            named = f"{label} on {env}, seed {r.seed}: each picture says what it shows"
            found.append(Video(named, KINDS[path.suffix], _source(path, out, len(found))))
    return found


def _source(path: Path, out: Path, number: int) -> str:
    if path.stat().st_size <= LARGEST:
        content = base64.b64encode(path.read_bytes()).decode()
        return f"data:{KINDS[path.suffix]};base64,{content}"
    place = out / "videos" / f"{number}{path.suffix}"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, place)
    return f"videos/{place.name}"
