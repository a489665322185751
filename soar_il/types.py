"""The data that pass between environments, learner and base methods. None has a reward.

Letters in the shapes: B rows of a minibatch, L critics, s and a coordinates of an observation and
of an action, T steps of an episode.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Key

if TYPE_CHECKING:
    Array = jax.Array
else:  # functions of jax.numpy take NumPy's arrays as well
    Array = jax.Array | np.ndarray | np.generic

Scalar = Float[Array, ""]
Count = Int[Array, ""]
PRNGKey = Key[Array, ""]
Metrics = dict[str, Any]  # numbers about an iteration, by name; nothing reads them but people
Tree = Any  # a nest of tuples with arrays at its ends

__all__ = ["Array", "Batch", "Bool", "Count", "Float", "Int", "Metrics", "PRNGKey", "Scalar"]
__all__ += ["Spec", "Trajectories", "Trajectory", "Transitions", "Treated", "Tree"]


class Spec(NamedTuple):
    """Sizes as the networks see them."""

    observation: int  # with the absorbing indicator, where there is one
    action: int
    absorbing: bool = False  # whether the last coordinate of an observation is that indicator

    def alive(self, observations: Float[Array, "*B s"]) -> Bool[Array, "*B"]:
        """False where the state is the absorbing one: it has a single action, written as zeros."""
        return observations[..., -1] == 0


class Batch(NamedTuple):
    """Transitions (s, a, s'); ``continues`` is 0 where the value of s' is zero by definition."""

    observations: Float[Array, "*B s"]
    actions: Float[Array, "*B a"]
    next_observations: Float[Array, "*B s"]
    continues: Float[Array, "*B"]
    weights: Float[Array, "*B"]  # steps it stands for: 1, or 1 / (1 - gamma) where the
    # absorbing state stays
    expert: Bool[Array, "*B"]  # whether it is one of the expert's
    trajectory: Int[Array, "*B"]  # which of its data set it belongs to, counted from the first


if TYPE_CHECKING:
    Transitions = Batch
else:

    @runtime_checkable
    class Transitions(Protocol):
        """A minibatch: a ``Batch``, or an expert's, which has its true costs beside it."""

        observations: Array
        actions: Array
        next_observations: Array
        continues: Array
        weights: Array
        expert: Array
        trajectory: Array


class Trajectories(NamedTuple):
    """Steps of each of n trajectories, all of them or some."""

    batch: Batch  # [m, n]
    weights: Float[Array, "m n"]  # make means over a trajectory; they sum to one in each
    share: Float[Array, "n"]  # make every trajectory count alike; they sum to one


class Trajectory(NamedTuple):
    """One episode as the environment gave it; actions are in [-1, 1]."""

    observations: Float[np.ndarray, "T+1 s"]
    actions: Float[np.ndarray, "T a"]
    terminated: bool  # the environment ended it, not a time limit


class Treated(NamedTuple):
    """An episode as the learner stores it, changed as the termination mode asks for."""

    observations: Float[np.ndarray, "T+1 s"]  # as the networks see them
    actions: Float[np.ndarray, "T a"]
    continues: Float[np.ndarray, "T"]
    weights: Float[np.ndarray, "T"]
    occupancy: Float[np.ndarray, "T"]  # gamma^t times the weight
