"""``NAME.sweep.json``: what a directory is meant to hold, for the report and the next start.

Several sweeps may share a directory, and then the runs whose names they share.
"""

import dataclasses
import json
from pathlib import Path

from soar_il import files
from soar_il.config import merged
from soar_il.errors import ConfigError, StorageError
from soar_il.files import Fields
from soar_il.seal import seal, unsealed
from soar_il.sweep.grid import Sweep

SUFFIX = ".sweep.json"
FIELDS = {"title", "command", "purpose", "trained", "demos", "jobs"}
# "shared" stands in a packed one: the settings that all jobs have in common (report/packed.py).
KNOWN = {*FIELDS, "shared", *(field.name for field in dataclasses.fields(Sweep)), "sha256"} - {
    "kind"
}


def write(out: Path, name: str, sweep: Sweep, settings: Fields, demos: dict[str, str]) -> None:
    """Keep what was asked; refuse a directory that has other settings under the same names.

    ``settings`` are by job, as far as they could be resolved, ``demos`` hashes by environment.
    """
    jobs = [
        {"name": job.name, "options": job.options, "settings": settings.get(job.name)}
        for job in sweep.jobs
    ]
    said = {
        field.name: getattr(sweep, field.name)
        for field in dataclasses.fields(sweep)
        if field.name not in ("jobs", "kind")
    }
    said["command"] = sweep.kind.name
    content = json.loads(json.dumps({**said, "demos": demos, "jobs": jobs}))
    for path in found(out):
        then = read(path)
        _compare(out, then, content)
        if path.name == name + SUFFIX:
            content["demos"] = then["demos"] | content["demos"]
    files.make_dir(out)
    files.write_atomically(out / f"{name}{SUFFIX}", seal(content, "sha256", indent=1))


def found(out: Path) -> list[Path]:
    """The sweeps of a directory."""
    return sorted(out.glob(f"*{SUFFIX}"))


def read(path: Path) -> Fields:
    """What ``write`` wrote; StorageError if it was damaged since."""
    said = unsealed(path)
    missing, foreign = FIELDS - said.keys(), said.keys() - KNOWN
    jobs = said.get("jobs")
    if missing or not isinstance(jobs, list) or not isinstance(said.get("demos"), dict):
        what = f"is not a sweep's book (it lacks {', '.join(sorted(missing)) or 'jobs or demos'})"
        raise StorageError(what, str(path), files.DAMAGED)
    if foreign:  # a damaged seal is one
        raise StorageError(f"says {', '.join(sorted(foreign))}", str(path), files.DAMAGED)
    for job in jobs:
        if not isinstance(job, dict) or {"name", "options", "settings"} - job.keys():
            raise StorageError(f"has a job {job!r}", str(path), files.DAMAGED)
    shared = said.pop("shared", {})
    for job in jobs if shared else ():
        if job["settings"] is not None:
            job["settings"] = merged(shared, job["settings"])
    return said


def _compare(out: Path, then: Fields, now: Fields) -> None:
    old = {job["name"]: job for job in then["jobs"]}
    for job in now["jobs"]:
        before = old.get(job["name"])
        if before is None or not (out / job["name"]).exists():
            continue
        for part in ("options", "settings"):
            if before[part] is not None and job[part] is not None:
                _same(before[part], job[part], str(out / job["name"]))
    shared = then["demos"].keys() & now["demos"].keys()
    for env in sorted(shared):
        what = f"demonstrations of {env}"
        _same({what: then["demos"][env]}, {what: now["demos"][env]}, str(out))


def _same(then: Fields, now: Fields, where: str) -> None:
    for name in sorted(then.keys() | now.keys()):
        before, after = then.get(name), now.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            _same(before, after, where)
        elif before != after:
            raise ConfigError(
                f"was begun with {name} {before}, and is now asked for with {after}",
                where,
                "put it back as it was, or choose another folder with --out",
            )
