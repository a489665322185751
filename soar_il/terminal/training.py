"""The live line of a training run, or a line a tenth where there is no terminal."""

import time
from typing import Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from soar_il.terminal.progress import Rate, console


class TrainingProgress:
    """Steps, steps/s, time left, cost gap, Q spread, share of clipped spread, last return."""

    def __init__(self, start: int, total: int, show: bool = True) -> None:
        self.start, self.total = start, total
        self.score: float | None = None
        self._shown = show and console.is_terminal
        self._lines = show and not console.is_terminal
        self._steps, self._began = start, 0.0
        columns: list[Any] = [
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            Rate(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[seen]}"),
        ]
        self._progress = Progress(*columns, console=console, disable=not self._shown)
        self._task = self._progress.add_task(
            "", total=total, completed=start, seen="the first episodes, then compiling"
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def update(self, seen: dict[str, Any]) -> None:
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

    def words(self, seen: dict[str, Any]) -> str:
        """What the learner sees of itself, and what evaluation said last."""
        parts = [f"cost gap {seen['cost_gap']:.2f}"] if "cost_gap" in seen else []
        parts += [f"Q spread {seen['q_spread']:.2f}", f"clipped {100 * seen['clipped']:.0f}%"]
        if self.score is not None:
            parts.append(f"return {self.score:,.0f}")
        return ", ".join(parts)
