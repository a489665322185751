"""A job's directory: whether it is new, begun or done, and how far it is."""

import json
import shutil
from pathlib import Path
from typing import Literal, NamedTuple

from soar_il import files
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.runs import lock
from soar_il.sweep.grid import Job

State = Literal["new", "begun", "done"]
FAILED = "failed.json"


class Reached(NamedTuple):
    """How far a run is, and its last return where it was evaluated."""

    steps: int = 0
    score: float | None = None


def state(folder: Path, job: Job) -> State:
    if (folder / "done.json").exists():
        return "done"
    return "begun" if (folder / "plan.json").exists() and job.kind.resumes else "new"


def arguments(folder: Path, job: Job) -> list[str]:
    """The command that starts the job, or goes on with it."""
    if state(folder, job) == "begun":
        return ["resume", str(folder)]
    if (folder / "config.json").exists() and not (folder / "plan.json").exists():
        shutil.rmtree(folder)  # killed before its first step
    return job.arguments(folder)


def reached(folder: Path) -> Reached:
    """From the end of the logs, as far as they are whole."""
    metrics = _last(folder / "metrics.jsonl")
    scores = _last(folder / "scores.jsonl")
    return Reached(int(metrics.get("steps", 0)), scores.get("return"))


def _last(path: Path) -> Fields:
    try:
        with files.regular(path) as (file, size):
            file.seek(max(0, size - 8192))
            lines = file.read(8192).split(b"\n")
    except (StorageError, OSError):
        return {}
    for line in reversed(lines[:-1]):
        try:
            return files.json_object(line, str(path))
        except StorageError:
            continue
    return {}


def finish(folder: Path, seconds: float, since: int) -> None:
    """Say that the job is done, and how long its last process took from step ``since`` on."""
    content = {"seconds": round(seconds, 2), "since": since, "steps": reached(folder).steps}
    files.write_atomically(folder / "done.json", (json.dumps(content) + "\n").encode())


def fail(folder: Path, problem: str) -> None:
    """Keep what went wrong, for the report; until the job is started again."""
    files.make_dir(folder)
    files.write_atomically(folder / FAILED, (json.dumps({"problem": problem}) + "\n").encode())


def problem(folder: Path) -> str:
    """What ended the job's last attempt, "" where nothing did."""
    try:
        return str(files.read_json(folder / FAILED)["problem"])
    except (StorageError, KeyError):
        return ""


def pace(folder: Path) -> float | None:
    """Seconds an environment step, where the job is done and took any."""
    try:
        done = files.read_json(folder / "done.json")
        steps = done["steps"] - done["since"]
        return float(done["seconds"] / steps) if steps > 0 else None
    except (StorageError, KeyError, TypeError, OverflowError):
        return None


def in_use(folder: Path) -> bool:
    """Whether another process works on it."""
    if not folder.exists():
        return False
    try:
        with lock.held(folder):
            return False
    except StorageError:
        return True
