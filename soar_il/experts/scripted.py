"""Controllers written by hand for tasks without a trained expert: they show in seconds."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from soar_il.envs import exploration, ids
from soar_il.errors import ConfigError

Controller = Callable[[np.ndarray], np.ndarray]


class Script(NamedTuple):
    """Who shows how it is done, and how much of it is shown: every so many transitions."""

    make: Callable[..., Controller]  # of the environment's arguments
    every: int = 1


def lock(gates: int = 8, size: int = 4, width: float = 0.5, secret: int = 0) -> Controller:
    """Knows the directions."""
    right = exploration.directions(gates, size, secret)
    return lambda seen: right[int(np.argmax(seen[:-1]))] / np.abs(right).max()


def swing_up(force: float = 10.0) -> Controller:
    """Energy first, then a linear controller around the top."""

    def act(seen: np.ndarray) -> np.ndarray:
        x, v, cosine, sine, turn = (float(value) for value in seen)
        angle = np.arctan2(sine, cosine)
        if abs(angle) < 0.35 and abs(turn) < 5:
            push = 40 * angle + 9 * turn + 2 * x + 4 * v
        else:
            lacking = 0.5 * turn**2 * (2 / 3) - 9.8 * (1 - cosine)  # energy over m l, 0 at the top
            push = 4 * lacking * np.sign(turn * cosine) - 2 * x - 1 * v
        return np.clip([push / force], -1, 1)

    return act


def maze(detour: float = 1.0) -> Controller:
    """Up along the wall, across, down to the goal."""
    high = detour + exploration.Maze.gap / 2

    def act(seen: np.ndarray) -> np.ndarray:
        x, y = float(seen[0]), float(seen[1])
        if x < -0.1 and y < high - 0.05:
            target = np.array([-0.3, high])
        elif x < 0.3 and y > detour:
            target = np.array([0.5, high])
        else:
            target = exploration.Maze.goal
        return np.clip((target - (x, y)) / exploration.Maze.pace, -1, 1)

    return act


def mountain_car() -> Controller:
    """Always with the motion."""
    return lambda seen: np.array([1.0 if seen[1] >= 0 else -1.0])


def pendulum() -> Controller:
    """Energy first, then a linear controller around the top."""

    def act(seen: np.ndarray) -> np.ndarray:
        cosine, sine, turn = (float(value) for value in seen)
        angle = np.arctan2(sine, cosine)
        if abs(angle) < 0.5 and abs(turn) < 3:
            return np.clip([-12 * angle - 3 * turn], -2, 2)
        lacking = 15 * (1 - cosine) - 0.5 * turn**2
        return np.clip([2 * np.sign(turn or 1.0) * np.sign(lacking)], -2, 2)

    return act


def reacher() -> Controller:
    """The fingertip is drawn to the target, through the arm's Jacobian."""

    def act(seen: np.ndarray) -> np.ndarray:
        one, two = np.arctan2(seen[2], seen[0]), np.arctan2(seen[3], seen[1])
        lengths = 0.1, 0.11
        first = lengths[0] * np.array([-np.sin(one), np.cos(one)])
        second = lengths[1] * np.array([-np.sin(one + two), np.cos(one + two)])
        away = np.array([seen[8], seen[9]], float)
        pull = -np.array([(first + second) @ away, second @ away])
        return np.clip(20 * pull - 0.06 * np.asarray(seen[6:8], float), -1, 1)

    return act


SCRIPTS: dict[str, Script] = {
    "Lock-v0": Script(lock),
    "SwingUp-v0": Script(swing_up),
    "Maze-v0": Script(maze),
    "MountainCarContinuous-v0": Script(mountain_car),
    "Pendulum-v1": Script(pendulum, every=20),
    "Reacher-v5": Script(reacher),
}


def find(env: str) -> tuple[Controller, int] | None:
    """Of an environment by its name, and how much is shown; None where there is none."""
    name, arguments = ids.parse(ids.without_module(env))
    if name not in SCRIPTS:
        return None
    made = SCRIPTS[name]
    try:
        return made.make(**arguments), made.every
    except TypeError as error:
        what = f"the scripted expert does not know its arguments ({error})"
        raise ConfigError(what, env, "leave them out, or give --demos") from None


def code() -> str:
    """SHA-256 of the controllers and of the tasks that are written here."""
    sources = (Path(__file__), Path(exploration.__file__))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
