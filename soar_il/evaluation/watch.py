"""Looks at a run while it trains: evaluation, a readable log, TensorBoard, the final plot.

It is handed files and numbers, and hands nothing back.
"""

import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Self

from soar_il import files
from soar_il.evaluation import times
from soar_il.evaluation.score import Evaluator
from soar_il.figures.training import training_figure
from soar_il.files import Fields
from soar_il.policy import Policy
from soar_il.runs import boards, log
from soar_il.runs.boards import Board
from soar_il.runs.run import Run
from soar_il.terminal.phases import phase
from soar_il.terminal.progress import console


class Watch:
    """Scores every snapshot that has no score yet."""

    def __init__(
        self, run: Run, episodes: int, writers: list[Board], began: times.Moment | None = None
    ) -> None:
        self.folder, self._open = run.folder, ExitStack()
        self.last: float | None = None
        self._evaluator = self._made(run, episodes) if episodes else None
        path = self.folder / "scores.jsonl"
        log.cut(path, run.k, run.say)
        self._done = {record["k"] for record in log.read(path)}
        self._scores = self._open.enter_context(log.Log(path))
        self._run = run
        self._clock = times.Clock(run.folder, run.k, run.steps, began, run.say)
        self._open.callback(self._clock.close)
        text = self.folder / "log.txt"
        self._text = self._open.enter_context(text.open("ab", buffering=0))
        self._noted = text.stat().st_size
        self._boards = writers

    def _made(self, run: Run, episodes: int) -> Evaluator:
        evaluator = Evaluator(run.source, episodes, run.cfg.horizon or None)
        self._open.callback(evaluator.close)
        return evaluator

    def iteration(self, seen: Fields) -> None:
        write, k, steps = self._run.patiently, self._run.k, self._run.steps
        write(lambda: self._clock.iteration(k, steps))
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in seen.items())
        write(lambda: self._note(f"{stamp}  {numbers}\n".encode()))
        boards.seen(self._boards, seen)

    def _note(self, line: bytes) -> None:
        with files.storing(self.folder / "log.txt"):
            files.append(self._text, line, self._noted)
        self._noted += len(line)

    def catch_up(self) -> None:
        """Evaluate what has not been: also what a killed process left behind."""
        if self._evaluator is None:
            return
        for path in sorted((self.folder / "snapshots").glob("*.safetensors")):
            if int(path.stem) in self._done:
                continue
            phase("evaluating")
            with self._clock.paused():
                record = self._evaluator.record(Policy.load(path))
            self._run.patiently(partial(self._scores.append, record))
            self._done.add(record["k"])
            self.last = record["return"]
            boards.scored(self._boards, record)

    def finish(self) -> None:
        """The curve, and where everything is."""
        figure = self._run.patiently(self._figure)
        scores = log.read(self.folder / "scores.jsonl")
        if scores:
            last = scores[-1]
            normal = f", normalised {last['normalised']:.2f}" if "normalised" in last else ""
            console.print(
                f"policy handed out, {last['steps']:,} steps: return {last['return']:.0f} ± "
                f"{last['return_std']:.0f} deterministic, {last['stochastic_return']:.0f} "
                f"stochastic{normal}",
                soft_wrap=True,
            )
        console.print(f"run: {self.folder}\nfigure: {figure}", soft_wrap=True)

    def _figure(self) -> Path:
        metrics = log.read(self.folder / "metrics.jsonl")
        scores = log.read(self.folder / "scores.jsonl")
        with files.storing(self.folder / "curve"):
            return training_figure(metrics, scores, str(self.folder), self.folder / "curve")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for board in self._boards:
            board.close()
        self._open.close()
