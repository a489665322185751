"""What looks at an ``Imitator`` while it learns, and may stop it; nothing is handed back."""

from collections.abc import Callable, Sequence
from typing import Any

from soar_il.types import Metrics

Function = Callable[[Any, Metrics], bool | None]  # (the Imitator, what an iteration saw by name)


class Callback:
    """Write those of the three that you need; learning stops where one returns False."""

    def on_start(self, imitator: Any) -> None:
        """Before the first iteration of a call of ``learn``."""

    def on_iteration(self, imitator: Any, seen: Metrics) -> bool | None:
        """After each iteration."""

    def on_end(self, imitator: Any) -> None:
        """After the last, also where an error or Ctrl-C was the end."""


Given = Function | Callback | Sequence["Function | Callback"] | None


class Called(Callback):
    """A function, as a callback."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def on_iteration(self, imitator: Any, seen: Metrics) -> bool | None:
        return self.function(imitator, seen)


class Every(Callback):
    """Several, in their order; each is asked, and one that returns False is enough to stop."""

    def __init__(self, given: Given) -> None:
        several = given if isinstance(given, Sequence) else [given] if given is not None else []
        self.each = [one if isinstance(one, Callback) else Called(one) for one in several]

    def on_start(self, imitator: Any) -> None:
        for one in self.each:
            one.on_start(imitator)

    def on_iteration(self, imitator: Any, seen: Metrics) -> bool:
        answers = [one.on_iteration(imitator, seen) for one in self.each]
        return all(answer is not False for answer in answers)

    def on_end(self, imitator: Any) -> None:
        for one in self.each:
            one.on_end(imitator)


class StopWhenLevel(Callback):
    """Stop when the best value of a number has not improved for so many steps.

    Args:
        name: What an iteration saw: kept_gap, the distance of the kept policy's states from the
            demonstrated ones, needs no reward. The smaller the better.
        patience: Environment steps.
    """

    def __init__(self, name: str = "kept_gap", patience: int = 20_000) -> None:
        self.name, self.patience = name, patience
        self.best, self.since = float("inf"), 0

    def on_iteration(self, imitator: Any, seen: Metrics) -> bool:
        if float(seen[self.name]) < self.best:
            self.best, self.since = float(seen[self.name]), int(seen["steps"])
        return int(seen["steps"]) - self.since < self.patience
