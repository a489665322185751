"""The data that pass between environments, learner and base methods. None has a reward."""

from typing import Any, NamedTuple

import numpy as np


class Spec(NamedTuple):
    """Sizes as the networks see them."""

    observation: int  # with the absorbing indicator, where there is one
    action: int
    absorbing: bool = False  # whether the last coordinate of an observation is that indicator

    def alive(self, observations: Any) -> Any:
        """False where the state is the absorbing one: it has a single action, written as zeros."""
        return observations[..., -1] == 0


class Batch(NamedTuple):
    """Transitions (s, a, s'); ``continues`` is 0 where the value of s' is zero by definition."""

    observations: Any
    actions: Any
    next_observations: Any
    continues: Any
    weights: Any  # steps it stands for: 1, or 1 / (1 - gamma) where the absorbing state stays


class Trajectories(NamedTuple):
    """Steps of each of n trajectories, all of them or some."""

    batch: Batch  # [m, n]
    weights: Any  # [m, n] that make means over a trajectory; they sum to one in each
    share: Any  # [n] weights that make every trajectory count alike; they sum to one


class Trajectory(NamedTuple):
    """One episode as the environment gave it; actions are in [-1, 1]."""

    observations: np.ndarray  # [T + 1, d_s]
    actions: np.ndarray  # [T, d_a]
    terminated: bool  # the environment ended it, not a time limit


class Treated(NamedTuple):
    """An episode as the learner stores it, after the termination mode has had its say."""

    observations: np.ndarray  # [T + 1, d_s] as the networks see them
    actions: np.ndarray  # [T, d_a]
    continues: np.ndarray  # [T]
    weights: np.ndarray  # [T]
    occupancy: np.ndarray  # [T] gamma^t times the weight
