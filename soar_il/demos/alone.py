"""What looks wrong in demonstrations by themselves, without their environment."""

from dataclasses import dataclass

import numpy as np

from soar_il.demos import align
from soar_il.demos.format import Demos


@dataclass(frozen=True)
class Notice:
    """Something a person should know; it does not stop anything."""

    what: str
    where: str = ""
    do: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({self.do})" if self.do else text


@dataclass(frozen=True)
class Check:
    """One question: what was found, or what was lacking to answer it."""

    name: str
    found: tuple[Notice, ...] = ()
    lacking: str = ""


def notices(demos: Demos) -> list[Notice]:
    """What looks wrong in the data alone."""
    found = list(data_alone(demos).found)
    if wrong := align.suspicion(demos):
        found.append(Notice(wrong[0], "actions", wrong[1]))
    return found


def data_alone(demos: Demos) -> Check:
    """Copies, padding with zeros, actions that are all the same."""
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
    everything = np.zeros((0, 1)) if demos.actions is None else np.concatenate(demos.actions)
    if len(everything) > 1 and (everything == everything[0]).all():
        found.append(Notice("all actions are equal", "actions", "are they the expert's?"))
    return Check("repeats and padding", tuple(found))


def duplicates(demos: Demos) -> list[tuple[int, int]]:
    """Pairs (first, again) of trajectories with the same observations."""
    seen: dict[bytes, int] = {}
    pairs = []
    for i, states in enumerate(demos.observations):
        first = seen.setdefault(states.tobytes(), i)
        if first != i:
            pairs.append((first, i))
    return pairs
