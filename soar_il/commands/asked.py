"""What a user asked for, read and checked before anything is loaded."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import tyro

from soar_il.errors import ConfigError
from soar_il.files import Fields
from soar_il.terminal import phases

Assignments = Annotated[  # --set A --set B and --set A B
    tuple[tuple[str, ...], ...],
    tyro.conf.arg(metavar="NAME=VALUE", name="set"),
    tyro.conf.UseAppendAction,
]
Arguments = Annotated[
    tuple[tuple[str, ...], ...],
    tyro.conf.arg(metavar="NAME=VALUE", name="env-args"),
    tyro.conf.UseAppendAction,
]
Keys = Annotated[str, tyro.conf.arg(metavar="NAME=THEIRS,...")]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


def assigned(settings: tuple[tuple[str, ...], ...]) -> Fields:
    """learner.alpha=0.1 as a nested mapping; values as TOML has them, or plain words."""
    import tomllib

    nested: Fields = {}
    if any(not group for group in settings):
        raise ConfigError("--set without a setting", do="write --set learner.alpha=0.1")
    for setting in chain.from_iterable(settings):
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {setting}", do="write NAME=VALUE, such as learner.alpha=0.1")
        try:
            value = tomllib.loads(f"x = {text}")["x"]
        except (tomllib.TOMLDecodeError, RecursionError):
            value = text
        *path, last = name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


# What a sweep writes into a job's folder beforehand, and the run itself before it is one.
OURS = {"output.txt", "failed.json", phases.NAME}


def check_empty(folder: Path) -> None:
    """A run is not mixed with somebody's files."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError("is a file", str(folder), "name another folder with --out")
    others = sorted(p.name for p in folder.glob("*") if p.name not in OURS)
    if others and "config.json" not in others:
        what = f"is not empty: {', '.join(others[:3])}"
        raise ConfigError(what, str(folder), "name another folder with --out")


def check_steps(steps: int) -> None:
    if steps < 1:
        raise ConfigError(f"steps is {steps}", do="give at least 1")


def check_episodes(episodes: int) -> None:
    if episodes < 1:
        do = "give at least 1; without any evaluation: --evaluate-every 0"
        raise ConfigError(f"episodes is {episodes}", do=do)


def check_boards(tensorboard: bool, wandb: str) -> None:
    """Before anything is loaded: what is asked for can be written."""
    if tensorboard or wandb:
        from soar_il.runs import boards

        boards.check(tensorboard, wandb)
