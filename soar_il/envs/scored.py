"""An environment that still has its reward: for evaluation, and for training experts, only."""

from typing import Any

import numpy as np

from soar_il.envs.blind import BlindEnv


class ScoredEnv(BlindEnv):
    """A blind environment that also returns the reward of the step."""

    def step_scored(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        observation, reward, terminated, truncated, _ = self._env.step(self.to_env(action))
        self._steps += 1
        cut: Any = bool(truncated) or self._steps >= self.horizon
        return self._checked(observation), float(reward), bool(terminated), cut
