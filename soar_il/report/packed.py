"""A sweep's results without its runs: a few small files from which every report is made again.

``NAME.sweep.json`` is the sweep's own book with the settings that all jobs share written once,
``evaluations.csv`` has a row an evaluation, ``runs.csv`` a row a job, and ``packed.json``, sealed,
the versions and the hashes of the other files.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from soar_il import files
from soar_il.errors import ConfigError, StorageError
from soar_il.report import arms, record, references
from soar_il.report.record import BONUS, SCORES, SEEN, Record
from soar_il.report.results import Seen
from soar_il.seal import seal, unsealed
from soar_il.sweep import book, folder

NAME, RUNS, EVALUATIONS = "packed.json", "runs.csv", "evaluations.csv"
FORMAT = 1
EMPTY: dict[str, np.ndarray] = {name: np.zeros(0) for name in SCORES}
DIRECTORIES = re.compile(r"(?<![\w.])/(?:[^\s/:'\"]+/)+")  # of an absolute path
Rows = list[dict[str, Any]]


def write(place: Path, out: Path) -> tuple[int, int]:
    """Pack a sweep's folder, or one of its books; how many runs there are, and are missing."""
    books = [place] if place.is_file() else book.found(place)
    if not books:
        do = f"give the folder of a sweep, or its {book.SUFFIX}"
        raise ConfigError("is no sweep", str(place), do)
    root, said = books[0].parent, [book.read(path) for path in books]
    jobs = {job["name"]: job for one in said for job in one["jobs"]}
    found = {name: _record(root / name, job) for name, job in jobs.items()}
    abouts: Rows = []
    contents = {
        RUNS: _csv([_run(name, one, abouts) for name, one in found.items()]),
        EVALUATIONS: _csv(list(_evaluations(jobs, found))),
    }
    if (root / references.NAME).exists():
        contents[references.NAME] = files.read(root / references.NAME)
    for path, one in zip(books, said, strict=True):
        contents[path.name] = _book(one, found)
    files.make_dir(out)
    for name, content in contents.items():
        files.write_atomically(out / name, content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    top = {"format": FORMAT, "files": hashes, "about": abouts}
    files.write_atomically(out / NAME, seal(top, "sha256", indent=1))
    gone = sum(bool(one.why) for one in found.values())
    return len(found) - gone, gone


def read(place: Path) -> dict[str, Record] | None:
    """The records of a packed folder by the names of their jobs; None where it is not packed."""
    if not (place / NAME).exists():
        return None
    said = unsealed(place / NAME)
    if said.get("format") != FORMAT:
        do = f"read it with a newer soar-il; this one knows format {FORMAT}"
        raise StorageError(f"has format {said.get('format')!r}", str(place / NAME), do)
    for name, digest in said["files"].items():
        if hashlib.sha256(files.read(place / name)).hexdigest() != digest:
            do = "put it back as it was, or pack the sweep again"
            raise StorageError("is not what was packed", str(place / name), do)
    rows: dict[str, Rows] = {}
    for row in _rows(place / EVALUATIONS):
        rows.setdefault(row["run"], []).append(row)
    jobs = {job["name"]: job for path in book.found(place) for job in book.read(path)["jobs"]}
    return {
        row["run"]: _unpacked(place, row, rows.get(row["run"], []), jobs, said["about"])
        for row in _rows(place / RUNS)
    }


def _record(place: Path, job: dict[str, Any]) -> Record:
    """What became of a job; with ``why`` where there is nothing to report."""
    if (place / "ablation.json").exists():
        do = "its ablation.csv is small already: keep that"
        raise ConfigError("is of soar tabular and needs no packing", str(place), do)
    if (place / "done.json").exists() and (place / "config.json").exists():
        return record.of(place)
    return Record(str(place), job["settings"] or {}, EMPTY, {}, {}, why=unfinished(place))


def unfinished(place: Path) -> str:
    """Why a job's run is not there."""
    problem = folder.problem(place)
    if problem:
        return f"failed: {problem.strip().splitlines()[-1]}"
    return "begun, not done" if (place / "metrics.jsonl").exists() else "not begun"


def _run(name: str, one: Record, abouts: Rows) -> dict[str, Any]:
    """A row of runs.csv; what the run was made with goes to ``abouts``, once."""
    about = {key: one.about[key] for key in one.about if key not in ("command", "files")}
    if about and about not in abouts:
        abouts.append(about)
    row = {"run": name, "missing": _portable(one.why)}
    row["about"] = str(abouts.index(about)) if about else ""
    row["expert_return"] = "" if one.expert_return is None else _text(one.expert_return)
    for key in SEEN:
        known = one.seen.get(key, Seen(np.nan, np.nan))
        row |= {key: _text(known.over), f"{key}_end": _text(known.end)}
    for key in BONUS:
        row[key] = _text(one.seen[key].end) if key in one.seen else ""
    return row | {"command": _portable(str(one.about.get("command", "")))}


def _evaluations(jobs: dict[str, Any], found: dict[str, Record]) -> Iterator[dict[str, Any]]:
    """A row for each evaluation: what was asked for, and what came out."""
    options = {name: arms.options_of(job["options"]) for name, job in jobs.items()}
    asked = {key for said in options.values() for key in said} - {"steps", "learner.sigma"}
    varied = [
        key for key in sorted(asked) if len({repr(said.get(key)) for said in options.values()}) > 1
    ]
    for name, one in found.items():
        settings, learner = one.settings, one.settings.get("learner", {})
        head = {"run": name, "env": settings.get("env"), "method": settings.get("base")}
        head |= {"L": learner.get("critics"), "sigma": learner.get("sigma")}
        head |= {key: options[name].get(key, "") for key in varied}
        head |= {"seed": settings.get("seed")}
        for n in range(0 if one.why else len(one.scores["steps"])):
            yield head | {key: _text(float(one.scores[key][n])) for key in SCORES}


def _book(said: dict[str, Any], found: dict[str, Record]) -> bytes:
    """A sweep's book, with what all settings have in common written once."""
    known = [found[job["name"]].settings for job in said["jobs"]]
    given = [one for one in known if one]
    shared = _common(given) if given else {}
    jobs = []
    for job, settings in zip(said["jobs"], known, strict=True):
        own = _less(settings, shared) if settings else None
        options = {
            key: _portable(v) if isinstance(v, str) else v for key, v in job["options"].items()
        }
        jobs.append({**job, "options": options, "settings": own})
    rest = {key: value for key, value in said.items() if key not in ("sha256", "jobs")}
    return seal({**rest, "shared": shared, "jobs": jobs}, "sha256", indent=1)


def _common(settings: Sequence[Any]) -> dict[str, Any]:
    """What is the same in all."""
    made: dict[str, Any] = {}
    for name, value in settings[0].items():
        values = [one.get(name) for one in settings]
        if all(isinstance(inner, dict) for inner in values):
            made[name] = _common(values)
        elif all(name in one for one in settings) and all(v == value for v in values):
            made[name] = value
    return made


def _less(settings: dict[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """What is left of the settings, so that ``merged`` gives them back."""
    made: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in shared:
            made[name] = value
        elif isinstance(value, dict) and value != shared[name]:
            made[name] = _less(value, shared[name])
    return made


def _unpacked(
    place: Path, row: dict[str, str], scores: Rows, jobs: dict[str, Any], abouts: Rows
) -> Record:
    columns = {name: np.array([_number(s[name]) for s in scores]) for name in SCORES}
    seen = {name: Seen(_number(row[name]), _number(row[f"{name}_end"])) for name in SEEN}
    seen |= {name: Seen(np.nan, _number(row.get(name, ""))) for name in BONUS}
    about = {**abouts[int(row["about"])]} if row["about"] else {}
    about |= {"command": row["command"]} if row["command"] else {}
    told = float(row["expert_return"]) if row["expert_return"] else None
    settings = jobs[row["run"]]["settings"] or {}
    name = str(place / row["run"])
    return Record(name, settings, columns, seen, about, told, row["missing"])


def _portable(text: str) -> str:
    """No folder of the machine that a run was made on."""
    return DIRECTORIES.sub("", text)


def _csv(rows: Rows) -> bytes:
    made = io.StringIO()
    writer = csv.DictWriter(made, list(rows[0]) if rows else ["run"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue().encode()


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files.read(path).decode())))


def _text(value: float) -> str:
    """Exactly this number, or nothing."""
    if np.isnan(value):
        return ""
    return str(int(value)) if value == int(value) else repr(float(value))


def _number(text: str) -> float:
    return float(text) if text else float("nan")
