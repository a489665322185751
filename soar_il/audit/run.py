"""The controls as runs, one after the other, and what they reached beside the real one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from soar_il.audit.controls import Control, controls, settings
from soar_il.configure import Config
from soar_il.demos import Demos
from soar_il.envs.blind import Source
from soar_il.evaluation.score import Evaluator, shipped
from soar_il.files import write_atomically
from soar_il.runs.run import Run
from soar_il.runs.train import Keep, train
from soar_il.terminal.training import TrainingProgress

FILE = "audit.json"


class Row(NamedTuple):
    """What one control reached."""

    name: str
    says: str
    value: float  # the mean deterministic return of the last policy
    std: float
    steps: int


class Audit(NamedTuple):
    """All controls, and the two returns they are held against."""

    rows: tuple[Row, ...]
    random: float  # of uniformly random actions
    expert: float  # of the shipped expert; where there is none, of the real run

    def share(self, row: Row) -> float:
        """0 for random actions, 1 for the expert."""
        return (row.value - self.random) / (self.expert - self.random)

    def best(self) -> Row:
        """The control that came furthest: so much of the real run's score proves no imitation."""
        return max(self.rows[1:], key=lambda row: row.value)


def audit(
    env: Source,
    demos: Demos,
    cfg: Config,
    steps: int,
    episodes: int,
    folder: Path,
    say: Callable[[str], None],
) -> Audit:
    """Train each control for so many steps; what is finished in the folder is not trained again."""
    rows = []
    evaluator = Evaluator(env, episodes, cfg.horizon or None)
    try:
        random = float(evaluator.random().returns.mean())
        for name, control in controls(demos, env, cfg).items():
            say(f"{name}: {control.says}")
            run = _opened(folder / name, env, settings(cfg, control), control, say)
            try:
                _train(run, steps)
                score = evaluator.score(run.policy(), deterministic=True)
            finally:
                run.close()
            mean, std = float(score.returns.mean()), float(score.returns.std())
            rows.append(Row(name, control.says, mean, std, run.steps))
    finally:
        evaluator.close()
    known = shipped(cfg.env)
    made = Audit(tuple(rows), random, known[1] if known else rows[0].value)
    _write(folder, made, cfg, episodes)
    return made


def _opened(
    folder: Path, env: Source, cfg: Config, control: Control, say: Callable[[str], None]
) -> Run:
    if (folder / "config.json").exists():
        return Run.resume(folder, env, control.base, say=say)
    return Run.create(folder, cfg, env, control.demos, control.base, say=say)


def _train(run: Run, steps: int) -> None:
    with TrainingProgress(run.steps, steps) as progress:
        train(run, steps, Keep(snapshot=0), progress.update, lambda run: None)


def _write(folder: Path, made: Audit, cfg: Config, episodes: int) -> None:
    said = {
        "env": cfg.env,
        "base": cfg.base,
        "critics": cfg.learner.critics,
        "seed": cfg.seed,
        "termination": cfg.termination,
        "episodes": episodes,
        "random": made.random,
        "expert": made.expert,
        "rows": [{**row._asdict(), "share": made.share(row)} for row in made.rows],
    }
    write_atomically(folder / FILE, (json.dumps(said, indent=1) + "\n").encode())
