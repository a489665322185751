"""What a base method is: how the cost is learned. A tuple of pure functions, in one small file."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from soar_il.types import Batch, Spec

Metrics = dict[str, Any]


class Data(Protocol):
    """Transitions to draw from: the demonstrations D_E, or the learner's own D^k."""

    @property
    def new_steps(self) -> Any:
        """How many environment steps the last iteration took."""

    def draw(self, key: Any, n: int) -> Batch:
        """n transitions, uniformly."""

    def newest(self, room: int | None = None) -> tuple[Batch, Any]:
        """What the last iteration added, weighted by discounted occupancy (sum one).

        For the demonstrations that is all of them. ``room`` bounds the size of the result.
        """


class Needs(NamedTuple):
    """What a method needs from the demonstrations and the learner's data."""

    actions: bool  # the expert's actions
    on_policy: bool  # only the trajectories of the current policy, not older ones


class Base(NamedTuple):
    """A base method: UpdateCost (line 6) and the cost it keeps.

    All three are pure and may be traced; ``update`` is compiled as a whole.
    """

    needs: Needs
    init: Callable[[Any, Spec, Data], Any]  # (key, spec, expert) -> cost state
    update: Callable[[Any, Data, Data, Any], tuple[Any, Metrics]]
    """(cost state, expert D_E, data D^k, key) -> cost state, metrics"""
    cost: Callable[[Any, Batch], Any]  # (cost state, batch) -> c_w, one a transition
