"""Demonstrations against an environment, and what looks wrong without being wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from soar_il.demos import align, fit, reference
from soar_il.demos.format import Demos
from soar_il.errors import DemoError


@dataclass(frozen=True)
class Notice:
    """Something a person should know; it does not stop anything."""

    what: str
    where: str = ""
    do: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({self.do})" if self.do else text


def check(demos: Demos, env_id: str, strict: bool = False) -> list[Notice]:
    """Raise on what cannot be right in that environment, return what only looks wrong.

    ``strict``: the first notice is raised too.
    """
    env = _make(env_id)
    try:
        _require_fit(demos, env, env_id)
        found = notices(demos) + _ends(demos, env.spec.max_episode_steps, env_id)
        found += [Notice(what, do=do) for what, do in reference.compare(demos, env)]
    finally:
        env.close()
    if strict and found:
        raise DemoError(found[0].what, found[0].where, found[0].do)
    return found


def _require_fit(demos: Demos, env: Any, env_id: str) -> None:
    """As training does, and observations too are held against their space."""
    fit.require_same_env(demos, env_id)
    for field, arrays, space in (
        ("observations", demos.observations, env.observation_space),
        ("actions", demos.actions, env.action_space),
    ):
        if arrays is not None:
            fit.require_size(field, arrays[0].shape[1], space.shape[0], env_id)
            fit.require_inside(field, arrays, space.low, space.high, env_id)


def spaces(env_id: str) -> tuple[Any, Any]:
    """The boxes of observations and actions."""
    env = _make(env_id)
    env.close()
    return env.observation_space, env.action_space


def _make(env_id: str) -> Any:
    import gymnasium

    try:
        env = gymnasium.make(env_id)
    except (gymnasium.error.Error, ImportError) as error:
        raise DemoError(
            f"cannot be made ({error})", env_id, "give the id of an installed Gymnasium environment"
        ) from None
    for name in ("observation_space", "action_space"):
        space = getattr(env, name)
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
            env.close()
            raise DemoError(
                f"is {space}", f"{env_id}, {name}", "choose an environment whose spaces are vectors"
            )
    return env


def _ends(demos: Demos, limit: int | None, env_id: str) -> list[Notice]:
    if limit is None or any("subsample" in str(x) for x in demos.about.get("history", [])):
        return []
    found = []
    long = np.flatnonzero(demos.lengths > limit)
    if len(long):
        found.append(
            Notice(
                f"{len(long)} of {len(demos)} are longer than the {limit} steps of {env_id}",
                f"trajectory {long[0]}",
                "were they recorded under another time limit, or past a termination?",
            )
        )
    # one short is what a shift or a missing final observation costs
    short = np.flatnonzero(~demos.terminated & (demos.lengths < limit - 1))
    if len(short):
        found.append(
            Notice(
                f"{len(short)} of {len(demos)} neither terminated nor reached {limit} steps",
                f"trajectory {short[0]}",
                "mark their ends in `terminated`, if the environment ended them",
            )
        )
    return found


def notices(demos: Demos) -> list[Notice]:
    """What looks wrong in the data alone."""
    found = []
    if copies := duplicates(demos):
        first, second = copies[0]
        found.append(
            Notice(
                f"{len(copies)} of {len(demos)} repeat another",
                f"trajectory {second} is trajectory {first} again",
                "fewer than they seem: leave the copies out",
            )
        )
    padded = [i for i, s in enumerate(demos.observations) if len(s) > 2 and not s[-2:].any()]
    if padded:
        found.append(
            Notice(
                f"{len(padded)} of {len(demos)} end in observations that are all zero",
                f"trajectory {padded[0]}",
                "padding? give lengths",
            )
        )
    if demos.actions is None:
        return found
    everything = np.concatenate(demos.actions)
    if len(everything) > 1 and (everything == everything[0]).all():
        found.append(Notice("all actions are equal", "actions", "are they the expert's?"))
    if wrong := align.suspicion(demos):
        found.append(Notice(wrong[0], "actions", wrong[1]))
    return found


def duplicates(demos: Demos) -> list[tuple[int, int]]:
    """Pairs (first, again) of trajectories with the same observations."""
    seen: dict[bytes, int] = {}
    pairs = []
    for i, states in enumerate(demos.observations):
        first = seen.setdefault(states.tobytes(), i)
        if first != i:
            pairs.append((first, i))
    return pairs
