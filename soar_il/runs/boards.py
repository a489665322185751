"""Numbers of a run for TensorBoard and Weights & Biases, where they are installed and asked for."""

import importlib.util
from pathlib import Path
from typing import Any, Protocol

from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.types import Metrics

SCORES = ("return", "stochastic_return", "length")  # of an evaluation's record


class Board(Protocol):
    """Takes numbers by name, each at a number of environment steps."""

    def add(self, numbers: dict[str, float], steps: int) -> None: ...
    def close(self) -> None: ...


class TensorBoard:
    """Event files in a folder."""

    def __init__(self, folder: Path) -> None:
        from tensorboardX import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder))

    def add(self, numbers: dict[str, float], steps: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, steps)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """A run of a project; its id is kept in the folder, so that a resumed run goes on with it."""

    def __init__(self, folder: Path, project: str) -> None:
        import wandb

        kept = folder / "wandb.txt"
        known = kept.read_text() if kept.exists() else None
        made = wandb.init(
            project=project, name=folder.resolve().name, dir=folder, id=known, resume="allow"
        )
        kept.write_text(made.id)
        self._run: Any = made

    def add(self, numbers: dict[str, float], steps: int) -> None:
        self._run.log({**numbers, "steps": steps})  # its own count may not go back on resume

    def close(self) -> None:
        self._run.finish()


def check(tensorboard: bool, wandb: str) -> None:
    """Those that are asked for are installed."""
    wanted = {"tensorboardX": (tensorboard, "tensorboard"), "wandb": (bool(wandb), "wandb")}
    for module, (asked, extra) in wanted.items():
        if asked and importlib.util.find_spec(module) is None:
            raise ConfigError(f"{module} is not installed", do=f"pip install 'soar-il[{extra}]'")


def opened(folder: Path, tensorboard: Path | None, wandb: str) -> list[Board]:
    """The boards of the run in ``folder``; ``tensorboard`` is where its events go."""
    check(tensorboard is not None, wandb)
    made: list[Board] = [] if tensorboard is None else [TensorBoard(tensorboard)]
    return made + ([WeightsAndBiases(folder, wandb)] if wandb else [])


def seen(boards: list[Board], numbers: Metrics) -> None:
    """What the learner saw of itself in an iteration."""
    named = {f"learner/{name}": float(value) for name, value in numbers.items()}
    for board in boards:
        board.add(named, int(numbers["steps"]))


def scored(boards: list[Board], record: Fields) -> None:
    """What an evaluation gave."""
    named = {f"evaluation/{name}": float(record[name]) for name in SCORES}
    for board in boards:
        board.add(named, int(record["steps"]))
