"""How networks see observations, and what becomes of an episode that ends early.

Termination must not be a reward in disguise. Three modes treat demonstrations, rollouts and replay
alike: ``absorbing`` (the terminal state becomes one absorbing state, marked by an indicator
coordinate, that leads to itself for ever), ``fixed`` (the terminal state stays until the horizon),
``early`` (the value after the end is zero: whoever uses it tells the learner what survival is
worth).
"""

import numpy as np

from soar_il.config import Termination
from soar_il.policy.sight import Sight
from soar_il.types import Spec, Trajectory, Treated


class View(Sight):
    """What a policy sees, and what the learner is given of an episode."""

    def spec(self, observation_size: int, action_size: int) -> Spec:
        absorbing = self.termination == "absorbing"
        return Spec((self.observed or observation_size) + absorbing, action_size, absorbing)

    def treat(self, tau: Trajectory) -> Treated:
        """The trajectory as the learner stores it.

        Under ``absorbing`` the terminal observation is replaced, as in DAC, and followed by one
        transition of the absorbing state to itself, which stands for all that would follow. Under
        ``fixed`` the frozen state meets the trajectory's own actions again, from the first:
        critics must see it with many of them.
        """
        observations, actions = self(tau.observations), tau.actions
        if tau.terminated and self.termination == "absorbing":
            absorbing = np.zeros_like(observations[-1:])
            absorbing[:, -1] = self.indicator
            observations = np.concatenate([observations[:-1], absorbing, absorbing])
            actions = np.concatenate([actions, np.zeros_like(actions[-1:])])
        elif tau.terminated and self.termination == "fixed":
            missing = max(0, self.horizon - len(actions))
            observations = np.concatenate([observations, np.repeat(observations[-1:], missing, 0)])
            actions = np.concatenate([actions, np.resize(actions, (missing, actions.shape[1]))])
        continues = np.ones(len(actions), np.float32)
        weights = np.ones(len(actions))
        if tau.terminated and self.termination == "early":
            continues[-1] = 0.0
        elif tau.terminated and self.termination == "absorbing":
            weights[-1] /= 1.0 - self.discount
        occupancy = weights * self.discount ** np.arange(len(actions), dtype=np.float64)
        both = weights.astype(np.float32), occupancy.astype(np.float32)
        return Treated(observations, actions, continues, *both)


def view_of(
    demonstrations: list[np.ndarray],
    standardise: bool,
    termination: Termination,
    indicator: float,
    horizon: int,
    discount: float,
    observed: int = 0,
) -> View:
    """The view that a set of demonstrated observations gives."""
    empty = np.zeros(0, np.float32)
    if not standardise:
        return View(empty, empty, termination, indicator, horizon, discount, observed)
    stacked = np.concatenate(demonstrations)[:, : observed or None].astype(np.float64)
    scale = stacked.std(axis=0)
    scale = np.where(scale > 1e-6, scale, 1.0)  # a coordinate that never moves stays as it is
    mean = stacked.mean(axis=0).astype(np.float32)
    return View(mean, scale.astype(np.float32), termination, indicator, horizon, discount, observed)
