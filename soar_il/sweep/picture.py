"""The curves of a sweep while it runs: one figure, renewed when a policy has been evaluated."""

import time
from collections.abc import Sequence
from pathlib import Path

from soar_il.errors import SoarError
from soar_il.files import Fields
from soar_il.runs import log
from soar_il.sweep.grid import Job

NAME = "curves"
PAUSE = 5.0  # seconds from one figure to the next, which costs half a second
LEVELS = "▁▂▃▄▅▆▇█"
LONGEST = 16  # evaluations in a line of text

Records = list[Fields]


class Picture:
    """What the evaluations of all jobs say so far."""

    def __init__(self, jobs: Sequence[Job], out: Path) -> None:
        self.jobs, self.out = jobs, out
        self.path: Path | None = None  # of the figure, once there is one
        self._scores: dict[str, Records] = {}
        self._sizes: dict[str, int] = {}
        self._looked = -PAUSE

    def renew(self, at_once: bool = False) -> None:
        """Read what is new, and draw it."""
        now = time.monotonic()
        if now - self._looked < PAUSE and not at_once:
            return
        self._looked, new = now, False
        for job in self.jobs:
            file = self.out / job.name / "scores.jsonl"
            try:
                size = file.stat().st_size
                if size == self._sizes.get(job.name):
                    continue
                self._scores[job.name] = log.read(file)
            except (OSError, SoarError):  # not there yet, or not to be read now
                continue
            self._sizes[job.name], new = size, True
        if new and any(len(scores) > 1 for scores in self._scores.values()):
            self._draw()

    def spark(self, job: Job) -> str:
        """The returns of a job as a line of text, from the lowest of all to the highest."""
        shown = [r["return"] for r in self._scores.get(job.name, [])][-LONGEST:]
        every = [r["return"] for other in self._like(job) for r in self._scores[other.name]]
        if len(shown) < 2 or max(every) == min(every):
            return ""
        low, high = min(every), max(every)
        return "".join(LEVELS[round(7 * (value - low) / (high - low))] for value in shown)

    def _like(self, job: Job) -> list[Job]:
        """Jobs whose returns can be compared with this one's: of the same environment."""
        known = [other for other in self.jobs if other.name in self._scores]
        return [other for other in known if other.get("env") == job.get("env")]

    def _draw(self) -> None:
        from soar_il.figures.training import live_figure

        curves: dict[str, dict[str, list[Records]]] = {}
        for job in self.jobs:
            if self._scores.get(job.name):
                label = job.row.rpartition("/")[2]
                place = curves.setdefault(str(job.get("env")), {})
                place.setdefault(label, []).append(self._scores[job.name])
        self.path = live_figure(curves, self.out / NAME)
