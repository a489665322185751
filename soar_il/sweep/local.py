"""Jobs on this machine, one process a core; the directories are the queue.

Whatever is killed, the next start goes on from what is on disk.
"""

import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from soar_il import files
from soar_il.sweep import folder
from soar_il.sweep.grid import Job
from soar_il.terminal.progress import errors

SOAR = (sys.executable, "-m", "soar_il")
TRIES = 3  # of a job whose process dies without getting any further
LOOK = 0.1  # seconds between looks at the processes


class Screen(Protocol):
    """Who is told what happens."""

    def started(self, job: Job) -> None: ...
    def ended(self, job: Job, problem: str) -> None: ...
    def look(self) -> None: ...


class Running(NamedTuple):
    job: Job
    process: subprocess.Popen[bytes]
    began: float
    since: int


def cores() -> list[int]:
    """Those that this process may use; -1 where the system does not say."""
    if sys.platform == "linux":
        return sorted(os.sched_getaffinity(0))
    else:
        return [-1] * (os.cpu_count() or 1)


def run(
    jobs: Sequence[Job], out: Path, workers: int, screen: Screen, soar: Sequence[str] = SOAR
) -> dict[str, str]:
    """Every job that is not done; what went wrong, by name."""
    todo = [job for job in jobs if folder.state(out / job.name, job) != "done"]
    waiting, problems = deque(todo), dict[str, str]()
    deaths: dict[str, tuple[int, int]] = {}  # by name: how often, at which step
    places = cores()
    free = [places[n % len(places)] if workers <= len(places) else -1 for n in range(workers)]
    running: dict[int, tuple[int, Running]] = {}
    try:
        while waiting or running:
            for _ in range(len(waiting)):
                if not free:
                    break
                job = waiting.popleft()
                if folder.in_use(out / job.name):  # another sweep's, or the last one's: wait
                    waiting.append(job)
                    continue
                if folder.state(out / job.name, job) == "done":  # by another sweep meanwhile
                    screen.ended(job, "")
                    continue
                core = free.pop(0)
                started = start(job, out, core, soar)
                running[started.process.pid] = core, started
                screen.started(job)
            for pid, (core, now) in list(running.items()):
                code = now.process.poll()
                if code is None:
                    continue
                del running[pid]
                free.append(core)
                problem = settle(now, out, code, deaths)
                if problem is None:
                    waiting.append(now.job)
                    continue
                if problem:
                    problems[now.job.name] = problem
                    folder.fail(out / now.job.name, problem)
                screen.ended(now.job, problem)
            screen.look()
            time.sleep(LOOK)
    finally:
        _stop([now.process for _, now in running.values()])
    return problems


def start(job: Job, out: Path, core: int, soar: Sequence[str]) -> Running:
    """The job's process; what it prints is kept beside its results."""
    place = out / job.name
    command = [*soar, *folder.arguments(place, job)]
    files.patiently(lambda: _ready(place), errors.print)
    since = folder.reached(place).steps
    child = [sys.executable, "-m", "soar_il.sweep.child", str(os.getpid()), str(core)]
    with (place / "output.txt").open("ab") as output:
        process = subprocess.Popen(
            [*child, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is the sweep's, which then stops each job once
        )
    return Running(job, process, time.monotonic(), since)


def _ready(place: Path) -> None:
    """The job's folder, without what went wrong before."""
    with files.storing(place):
        files.make_dir(place)
        (place / folder.FAILED).unlink(missing_ok=True)


def settle(now: Running, out: Path, code: int, deaths: dict[str, tuple[int, int]]) -> str | None:
    """A process has ended: "" if its job is done, None if it shall go on, else the problem."""
    place, name = out / now.job.name, now.job.name
    if code == 0:
        seconds = time.monotonic() - now.began
        files.patiently(lambda: folder.finish(place, seconds, now.since), errors.print)
        return ""
    if code < 0 or code == 143:  # by a signal, not by a mistake: go on from the checkpoint
        at = folder.reached(place).steps
        times, before = deaths.get(name, (0, -1))
        deaths[name] = (times + 1 if at <= before else 1, max(at, before))
        if deaths[name][0] < TRIES:
            return None
        return f"its process was killed {TRIES} times at step {at:,} (exit code {code})"
    said = (place / "output.txt").read_text(errors="replace").strip().splitlines()
    return "\n".join(said[-4:]) or f"exit code {code}"


def _stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ask once; each keeps its last finished iteration."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()
