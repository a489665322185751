"""What a base method is: how the cost is learned. A tuple of pure functions, in one small file."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from soar_il.types import Batch, Spec, Trajectories

Metrics = dict[str, Any]


class Data(Protocol):
    """Transitions to draw from: the demonstrations D_E, or the learner's own D^k."""

    @property
    def new_steps(self) -> Any:
        """How many environment steps the last iteration took."""

    @property
    def fresh(self) -> Any:
        """How many transitions the last iteration added."""

    def draw(self, key: Any, n: int, recent: Any = None) -> Batch:
        """n transitions, or of the ``recent`` newest, uniformly."""

    def draw_occupancy(self, key: Any, n: int, discount: float, recent: Any = None) -> Batch:
        """n transitions, step t of a trajectory as often as discount^t; they weigh alike.

        The trajectories are those of all transitions, or of the ``recent`` newest.
        """

    def draw_trajectories(
        self,
        key: Any,
        n: int,
        m: int,
        recent: Any = None,
        whole: bool = False,
        discount: float = 1.0,
    ) -> Trajectories:
        """m steps of each of n trajectories that the newest transitions belong to.

        Drawn by the time they stand for, or as a discounted occupancy has them; with ``whole`` the
        first m steps.
        """

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

    All are pure and may be traced; ``update`` is compiled as a whole. What follows ``cost`` is for
    methods that ask more of the learner.
    """

    needs: Needs
    init: Callable[[Any, Spec, Data], Any]  # (key, spec, expert) -> cost state
    update: Callable[[Any, Data, Data, Any], tuple[Any, Metrics]]
    """(cost state, expert D_E, data D^k, key) -> cost state, metrics"""
    cost: Callable[[Any, Batch], Any]  # (cost state, batch) -> c_w, one a transition
    start: Callable[[Any], Any] | None = None  # cost state -> the first layers of the actor
    log_prior: Callable[[Any, Any, Any], Any] | None = None
    """(cost state, s, a) -> log q(a|s): entropy is then relative to q, in backup and actor"""
    expert_share: float = 0.0  # the part of every minibatch that is the expert's
    actions: Callable[[Any, Batch], Any] | None = None
    """(cost state, expert's batch) -> its actions, where they are inferred"""
    critic_term: Callable[[Callable[[Any, Any], Any], int, Batch], Any] | None = None
    """(q, n, expert's batch) -> what is added to the loss of all n = 2L critics; q(s, a) is [n, B]
    for actions [B, d] or, each critic its own, [n, B, d]"""
    critic_steps: int = 0  # steps of the critics on the demonstrations before anything else
    least_cost: float = -math.inf  # no cost is below this, so no value below it / (1 - gamma)
