"""The live line of a training run, or a line a tenth where there is no terminal."""

import time
from typing import Self

from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Column
from rich.text import Text

from soar_il.files import Fields
from soar_il.terminal.progress import console

WIDE = 100  # columns from which there is room for a bar


class Line(ProgressColumn):
    """Steps, rate, time left, what is seen: a narrow terminal cuts off the end."""

    def __init__(self) -> None:
        super().__init__(table_column=Column(no_wrap=True, overflow="ellipsis"))

    def render(self, task: Task) -> Text:
        parts = [f"{task.completed:,.0f}/{task.total or 0:,.0f} steps"]
        speed = task.finished_speed or task.speed
        if speed and task.completed:
            parts.append(f"{speed:,.0f}/s")
            left = round(((task.total or 0) - task.completed) / speed)
            parts.append(f"{left // 60}:{left % 60:02d} left")
        parts += [task.fields["seen"]] if task.fields["seen"] else []
        return Text(", ".join(parts))


class TrainingProgress:
    """Steps, steps/s, time left, last return; then cost gap, Q spread, share of clipped spread."""

    def __init__(self, start: int, total: int, show: bool = True) -> None:
        self.start, self.total = start, total
        self.score: float | None = None
        self._shown = show and console.is_terminal
        self._lines = show and not console.is_terminal
        self._steps, self._began = start, 0.0
        self._said: set[str] = set()
        columns = [*([BarColumn(bar_width=20)] if console.width >= WIDE else []), Line()]
        self._progress = Progress(*columns, console=console, disable=not self._shown)
        self._task = self._progress.add_task("", total=total, completed=start, seen="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, seen: Fields) -> None:
        steps, before = int(seen["steps"]), self._steps
        self._steps = steps
        if not self._began:  # the first iteration waited for compilation
            self._began, self._first = time.perf_counter(), steps
        words = self.words(seen)
        self._progress.update(self._task, completed=min(steps, self.total), seen=words)
        tenth = max(1, (self.total - self.start) // 10)
        if self._lines and steps // tenth > before // tenth:
            rate = (steps - self._first) / max(time.perf_counter() - self._began, 1e-9)
            left = max(0.0, self.total - steps) / rate if rate else 0.0
            speed = f"{rate:,.0f}/s, {left:.0f} s left, " if rate else ""
            console.print(f"{steps:,}/{self.total:,} steps, {speed}{words}", soft_wrap=True)

    def phase(self, text: str) -> None:
        """What it is busy with, where steps do not tell."""
        self._progress.update(self._task, seen=text)
        if self._lines and text not in self._said:
            self._said.add(text)
            console.print(text, markup=False, soft_wrap=True)

    def words(self, seen: Fields) -> str:
        """What the learner sees of itself, and what evaluation said last."""
        parts = [] if self.score is None else [f"return {self.score:,.0f}"]
        parts += [f"cost gap {seen['cost_gap']:.2f}"] if "cost_gap" in seen else []
        parts += [f"Q spread {seen['q_spread']:.2f}", f"clipped {100 * seen['clipped']:.0f}%"]
        return ", ".join(parts)
