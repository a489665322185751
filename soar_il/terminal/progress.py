"""Long work shows itself, and Ctrl-C keeps what is done."""

import errno
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

T = TypeVar("T")


class Forgiving(Console):
    """Where the output cannot be written because a disk is full, the work goes on without it."""

    def print(self, *objects: Any, **how: Any) -> None:
        try:
            super().print(*objects, **how)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise


console = Forgiving(highlight=False)
errors = Forgiving(highlight=False, stderr=True)


def say(text: str) -> None:
    """A line for a person, as it is."""
    console.print(text, markup=False, soft_wrap=True)


class Rate(ProgressColumn):
    """Units a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "compiling")


class Ticker:
    """What a job is given: say how far it is, ask whether to stop."""

    def __init__(self, advance: Callable[[int], None], stop: threading.Event) -> None:
        self.advance = advance
        self._stop = stop

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()


def run_jobs(
    jobs: Sequence[tuple[str, int, Callable[[Ticker], T]]], workers: int | None = None
) -> tuple[list[T], bool]:
    """Run (name, total, work) jobs, one a core; the results, and whether Ctrl-C cut them short.

    On Ctrl-C each running job is asked to stop and returns what it has; the rest are not started.
    """
    stop = threading.Event()
    columns: list[Any] = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        pool = ThreadPoolExecutor(workers or os.cpu_count() or 1)
        futures = []
        for name, total, work in jobs:
            advance = _bar(progress, name, total) if console.is_terminal else _lines(name, total)
            futures.append(pool.submit(work, Ticker(advance, stop)))
        try:
            wait(futures)
        except KeyboardInterrupt:
            stop.set()
            console.print("stopping: what is done is kept")
        finally:
            stop_early = stop.is_set()
            pool.shutdown(wait=True, cancel_futures=stop_early)
    return [f.result() for f in futures if not f.cancelled()], stop_early


def _bar(progress: Progress, name: str, total: int) -> Callable[[int], None]:
    task = progress.add_task(name, total=total)
    return lambda n: progress.advance(task, n)


def _lines(name: str, total: int) -> Callable[[int], None]:
    """A line for each tenth of the work: what a log file wants."""
    done, compiled, start = 0, 0, 0.0

    def advance(n: int) -> None:
        nonlocal done, compiled, start
        done += n
        if not start:  # what came first waited for compilation: the clock starts after it
            compiled, start = n, time.perf_counter()
        elif done * 10 // total > (done - n) * 10 // total:
            speed = (done - compiled) / (time.perf_counter() - start)
            left = (total - done) / speed
            console.print(f"{name}: {done:,}/{total:,}, {speed:,.0f}/s, {left:.0f} s left")

    return advance
