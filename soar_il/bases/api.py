"""What a base method is: how the cost is learned. A tuple of pure functions, in one small file."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from soar_il.networks.mlp import Layers
from soar_il.types import Array, Batch, Count, Float, Int, Metrics, PRNGKey, Spec, Trajectories

Cost = Any  # what a method keeps between two updates: its own tuple of arrays
LogPi = Callable[[Array, Array], Array]  # (states, actions) -> log pi(a|s)
Recent = (
    Int[Array, "..."] | np.ndarray | int | None
)  # how far back a draw may reach; None: to the start


@runtime_checkable
class Data(Protocol):
    """Transitions to draw from: the demonstrations D_E, or the learner's own D^k."""

    @property
    def new_steps(self) -> Count:
        """How many environment steps the last iteration took."""

    @property
    def trajectories(self) -> Count:
        """How many trajectories there have been so far."""

    @property
    def fresh(self) -> Count:
        """How many transitions the last iteration added."""

    def draw(self, key: PRNGKey, n: int, recent: Recent = None) -> Batch:
        """n transitions, or of the ``recent`` newest, uniformly."""

    def draw_occupancy(self, key: PRNGKey, n: int, discount: float, recent: Recent = None) -> Batch:
        """n transitions, step t of a trajectory as often as discount^t; they weigh alike.

        The trajectories are those of all transitions, or of the ``recent`` newest.
        """

    def draw_trajectories(
        self,
        key: PRNGKey,
        n: int,
        m: int,
        recent: Recent = None,
        whole: bool = False,
        discount: float = 1.0,
    ) -> Trajectories:
        """m steps of each of n trajectories that the newest transitions belong to.

        Drawn by the time they stand for, or as a discounted occupancy has them; with ``whole`` the
        first m steps.
        """

    def newest(self, room: int | None = None) -> tuple[Batch, Float[Array, " B"]]:
        """What the last iteration added, weighted by discounted occupancy (sum one).

        For the demonstrations that is all of them. ``room`` bounds the size of the result.
        """


EVERYTHING = np.iinfo(np.int32).max


def half_recent(n: int, recent: int) -> Int[np.ndarray, " n"] | None:
    """For each of n draws how far back it may reach: half only so far, the others to the start."""
    if not recent:
        return None
    return np.where(np.arange(n) < n // 2, recent, EVERYTHING).astype(np.int32)


class Look(NamedTuple):
    """What the loss of the critics may look at. All 2L critics are fitted at once."""

    q: Float[Array, "L 2 B"]  # each critic at its own minibatch
    goal: Float[Array, "L B"]  # c + gamma (Q_targ + alpha log pi), the same for both of a pair
    critics: Callable[[Array, Array], Array]
    """(states, actions), each [B, .] or [2L, B, .] -> [2L, B]: each critic elsewhere"""
    value: Callable[[Array], Array]
    """states [B, s] or [L, B, s] -> [L, 2, B]: Q + alpha log pi of each critic, for a ~ pi"""
    act: Callable[[Array, Array], tuple[Array, Array]]
    """(states, normal noise) -> actions of pi and alpha log pi of each; without noise the mode"""
    alpha: Array | float  # the temperature; 0 for a learner that has none
    key: PRNGKey  # for what a loss draws itself
    batch: Batch  # [L, B]
    expert: Batch | None  # [B], a minibatch of demonstrations, where the method needs one
    discount: float


def squared_error(cost: Cost, look: Look) -> Array:
    """UpdateCritics: the mean over each minibatch, summed over the critics."""
    return jnp.sum(jnp.mean((look.q - look.goal[:, None]) ** 2, axis=-1))


def nothing(cost: Cost, look: Look) -> Metrics:
    """No metrics of the critics but the engine's own."""
    return {}


class Needs(NamedTuple):
    """What a method cannot do without."""

    actions: bool = False  # the expert's actions
    log_pi: bool = False  # log pi(a|s) of the current policy, as the last argument of ``update``
    expert_rows: bool = False  # expert's rows in the minibatches of lines 7-11
    demonstrations: bool = False  # ``look.expert``, for the loss of the critics
    absorbing: bool = False  # termination "absorbing"
    steps: bool = True  # environment steps; a method without them only clones


class Clone(NamedTuple):
    """For a method that clones the expert first and starts from the clone."""

    layers: Callable[[Cost], Layers]  # the first layers of the actor
    log_prior: Callable[[Cost, Array, Array], Array] | None = None
    """(cost, s, a) -> log q(a|s): entropy is then relative to q, in backup and actor"""
    critic_steps: int = 0  # steps of the critics on the demonstrations before anything else


class Base(NamedTuple):
    """A base method: UpdateCost (line 6) and the cost it keeps.

    All are pure and may be traced; ``update`` is compiled as a whole.
    """

    needs: Needs
    init: Callable[[PRNGKey, Spec, Data], Cost]
    update: Callable[..., tuple[Cost, Metrics]]
    """(cost, expert D_E, data D^k, key) -> cost, metrics; and log pi where it is needed"""
    cost: Callable[[Cost, Batch], Array]  # c_w, one a transition
    least_cost: float = -math.inf  # no cost is below this, so no value below it / (1 - gamma)
    critic_loss: Callable[[Cost, Look], Array] = squared_error
    critic_metrics: Callable[[Cost, Look], Metrics] = nothing  # what that loss has to report
    clone: Clone | None = None
    infer_actions: Callable[[Cost, Batch], Array] | None = None
    """(cost, expert's batch) -> its actions, where the demonstrations have none"""
