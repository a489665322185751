"""``times.jsonl``: how long learning took, beside ``metrics.jsonl``, whose bits must repeat.

One record an iteration: seconds on the clock and of the processor since training began, over all
processes that worked on the run, without what evaluation took. A run that is resumed goes on from
the seconds of its checkpoint; what was lost is not counted, starting again is.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from soar_il.runs import log

NAME = "times.jsonl"


class Moment(NamedTuple):
    """Both clocks of this process, in seconds from some beginning."""

    wall: float
    process: float

    def after(self, other: "Moment") -> "Moment":
        return Moment(self.wall - other.wall, self.process - other.process)

    def plus(self, other: "Moment") -> "Moment":
        return Moment(self.wall + other.wall, self.process + other.process)


def now() -> Moment:
    return Moment(time.perf_counter(), time.process_time())


class Clock:
    """Writes the times of one run; ``began`` is when this process began to work on it."""

    def __init__(
        self,
        folder: Path,
        k: int,
        steps: int,
        began: Moment | None = None,
        warn: log.Warn | None = None,
    ) -> None:
        path = folder / NAME
        log.cut(path, k, warn)
        kept = log.read(path)
        self._began = began or now()
        self._before = Moment(kept[-1]["wall"], kept[-1]["process"]) if kept else Moment(0.0, 0.0)
        # A run that went on without being timed would seem faster than it was.
        self._timed = k == 0 or (bool(kept) and kept[-1]["k"] == k)
        self._log = log.Log(path) if self._timed else None
        if not kept:
            self.iteration(k, steps)

    def iteration(self, k: int, steps: int) -> None:
        """Iteration ``k`` is over, after so many environment steps in all."""
        if self._log is not None:
            total = self._before.plus(now().after(self._began))
            seconds = {"wall": round(total.wall, 3), "process": round(total.process, 3)}
            self._log.append({"k": int(k), "steps": int(steps), **seconds})

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What happens inside is not learning, such as evaluation."""
        stopped = now()
        try:
            yield
        finally:
            self._began = self._began.plus(now().after(stopped))

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def seconds_at(folder: Path, steps: np.ndarray) -> np.ndarray | None:
    """Seconds of the processor that learning had taken at these steps; None where not kept."""
    kept = log.read(folder / NAME)
    if not kept:
        return None
    at = np.array([record["steps"] for record in kept], float)
    taken = np.array([record["process"] for record in kept], float)
    return np.interp(steps, at, taken, right=np.nan)
