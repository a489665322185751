"""All jobs of a sweep on one screen: a row for each setting, a column for each seed."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text

from soar_il.sweep import folder
from soar_il.sweep.grid import Job
from soar_il.sweep.picture import Picture
from soar_il.terminal import phases
from soar_il.terminal.progress import console

REFRESH = 1.0  # seconds


class Cells:
    """Live where there is a terminal, a line for each event where there is none."""

    def __init__(self, jobs: Sequence[Job], out: Path) -> None:
        self.jobs, self.out = jobs, out
        self._running: dict[str, int] = {}  # with the tenth last spoken of
        self._problems: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        self._began, self._looked = time.monotonic(), 0.0
        self._first = self._steps()
        self._picture = Picture(jobs, out)
        self._live = Live(console=console, auto_refresh=False, transient=False)

    def __enter__(self) -> Self:
        if console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._picture.renew(at_once=True)
        if console.is_terminal:
            self._live.update(self.table(), refresh=True)
            self._live.stop()

    def started(self, job: Job) -> None:
        self._running[job.name] = 0
        if not console.is_terminal:
            at = folder.reached(self.out / job.name).steps
            console.print(f"{job.name}: {f'going on from {at:,}' if at else 'started'}")

    def ended(self, job: Job, problem: str) -> None:
        self._running.pop(job.name, None)
        if problem:
            self._problems.add(job.name)
        if not console.is_terminal:
            said = problem or f"done{_return(folder.reached(self.out / job.name))}"
            console.print(f"{job.name}: {said}", markup=False, soft_wrap=True)

    def look(self) -> None:
        now = time.monotonic()
        if now - self._looked < REFRESH:
            return
        self._looked = now
        self._renew()
        if console.is_terminal:
            self._live.update(self.table(), refresh=True)
            return
        for job in self.jobs:
            if job.name not in self._running:
                continue
            at = folder.reached(self.out / job.name)
            tenth = 10 * at.steps // job.steps
            if not at.steps:
                self._say_phase(job)
            if tenth > self._running[job.name]:
                self._running[job.name] = tenth
                shown = f"{at.steps:,}/{job.steps:,}{_return(at)}{self._left()}"
                console.print(f"{job.name}: {shown}", soft_wrap=True)

    def table(self) -> RenderableType:
        """What is known of every job."""
        seeds = sorted({job.seed for job in self.jobs})
        shown = Table(
            Column("", overflow="fold"), *(f"seed {n}" for n in seeds), box=None, pad_edge=False
        )
        rows: dict[str, dict[int, Text]] = {}
        for job in self.jobs:
            rows.setdefault(job.row or job.name, {})[job.seed] = self._cell(job)
        before = ""
        for row, cells in rows.items():
            env, method = row.split("/", 1) if "/" in row else ("", row)
            if env != before:
                shown.add_row(env)
            before = env
            label = f"  {method}" if env else method
            shown.add_row(label, *(cells.get(seed, Text("")) for seed in seeds))
        done = sum(folder.state(self.out / job.name, job) == "done" for job in self.jobs)
        running = len(self._running)
        line = f"{done} of {len(self.jobs)} done, {running} running{self._left()}"
        seen = [] if self._picture.path is None else [Text(f"curves: {self._picture.path}")]
        return Group(shown, Text(line, style="bold"), *seen)

    def _renew(self) -> None:
        first = self._picture.path is None
        self._picture.renew()
        if first and self._picture.path and not console.is_terminal:
            where = f"curves so far, renewed as they grow: {self._picture.path}"
            console.print(where, markup=False, soft_wrap=True)

    def _say_phase(self, job: Job) -> None:
        """Once each: cloning says how far it is, which a log need not hold."""
        text = phases.read(self.out / job.name).partition(":")[0]
        if text and (job.name, text) not in self._said:
            self._said.add((job.name, text))
            console.print(f"{job.name}: {text}", markup=False, soft_wrap=True)

    def _cell(self, job: Job) -> Text:
        if job.name in self._problems:
            return Text("failed", style="red")
        at, state = folder.reached(self.out / job.name), folder.state(self.out / job.name, job)
        score = "" if at.score is None else f" {at.score:,.0f}"
        if state == "done":
            return Text(f"done{score} {self._picture.spark(job)}", style="green")
        share = f"{min(99, 100 * at.steps // job.steps)}%{score}"
        if job.name in self._running:
            began = _short(phases.read(self.out / job.name) or "loading")
            return Text(f"{share} {self._picture.spark(job)}" if at.steps else began, style="cyan")
        return Text(f"{share}, waits" if at.steps else "waits", style="dim")

    def _steps(self) -> int:
        return sum(min(folder.reached(self.out / j.name).steps, j.steps) for j in self.jobs)

    def _left(self) -> str:
        done = self._steps()
        if done <= self._first:
            return ""
        missing = sum(job.steps for job in self.jobs) - done
        seconds = missing * (time.monotonic() - self._began) / (done - self._first)
        return f", {duration(seconds)} left"


def _short(phase: str) -> str:
    """A cell has room for the verb of what a log says in full."""
    verb = phase.split()[0]
    return verb if verb in ("compiling", "checking", "making") else phase


def duration(seconds: float) -> str:
    """1 h 05 min, 3 min, 20 s."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60:02d} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"


def _return(at: folder.Reached) -> str:
    return "" if at.score is None else f", return {at.score:,.0f}"
