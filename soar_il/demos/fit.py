"""Whether demonstrations can be of an environment at all: labels, sizes, bounds.

Nothing is stepped and every answer is certain, so training asks this before its first step. What
only looks wrong is found by check.py.
"""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from soar_il.demos.format import Demos
from soar_il.demos.validate import FloatArray
from soar_il.envs import ids
from soar_il.errors import DemoError

if TYPE_CHECKING:
    from soar_il.envs.blind import BlindEnv

SLACK = 1e-5  # of a bound's size: what float32 may lose
VERSIONED = re.compile(
    r"[\w:./-]+-v\d+(\(.*\))?"
)  # as Gymnasium writes ids; a function's name is none


def require_fit(demos: Demos, env: "BlindEnv", needs_actions: bool) -> None:
    """Raise DemoError where demonstrations cannot be of that environment, or lack what is needed.

    The label ``about["env"]`` is compared where both sides have a Gymnasium id with a version;
    an environment that a function makes is known by sizes and bounds alone.
    """
    require_same_env(demos, env.name)
    require_size("observations", demos.observation_size, env.observation_size, env.name)
    if demos.actions is None:
        if needs_actions:
            raise DemoError(
                "there are no actions, and this method needs the expert's",
                "demonstrations",
                "use a state-only method such as ml-irl, or demonstrations with actions",
            )
        return
    require_size("actions", demos.actions[0].shape[1], env.action_size, env.name)
    require_inside("actions", demos.actions, env.low, env.high, env.name)


def require_same_env(demos: Demos, env: str) -> None:
    """The label is of that environment; a module's prefix does not count, a version does."""
    said = demos.about.get("env")
    if not isinstance(said, str) or not (VERSIONED.fullmatch(said) and VERSIONED.fullmatch(env)):
        return
    if not _same(said, env):
        raise DemoError(
            f"the demonstrations say {said}, the environment is {env}",
            "about.env",
            f"use {said}, or demonstrations of {env}; if the label is wrong, write it anew with "
            f"`soar demos convert SOURCE TARGET --env {env}`",
        )


def _same(one: str, other: str) -> bool:
    """Whether both are the same id, with the same arguments where both names have some."""
    (a, first), (b, second) = (ids.parse(ids.without_module(name)) for name in (one, other))
    return a == b and (not first or not second or first == second)


def require_size(field: str, size: int, wanted: int, env: str) -> None:
    """As many coordinates as the environment has."""
    if size != wanted:
        raise DemoError(
            f"{field} have {size} coordinates, those of {env} {wanted}",
            "demonstrations",
            f"use demonstrations of the same environment: these are not of {env}, or of another "
            "version or setting of it",
        )


def require_inside(
    field: str, arrays: tuple[FloatArray, ...], low: Any, high: Any, env: str
) -> None:
    """Every number within the bounds of its space."""
    low, high = (np.asarray(bound, dtype=np.float64) for bound in (low, high))
    with np.errstate(over="ignore", invalid="ignore"):  # of spaces without bounds
        room = SLACK * np.maximum(1.0, np.where(np.isfinite(high - low), high - low, 1.0))
    for i, array in enumerate(arrays):
        outside = (array < low - room) | (array > high + room)
        if outside.any():
            step, j = np.argwhere(outside)[0]
            raise DemoError(
                f"is {array[step, j]:g}, {env} allows {low[j]:g} to {high[j]:g}",
                f"trajectory {i}, step {step}, {field}[{j}]",
                "give the environment's own units (not normalised), as env.step received them: "
                "clipped to the bounds"
                if field == "actions"
                else "give the environment's own units (not normalised)",
            )
