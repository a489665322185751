"""An environment whose rewards are noted: for evaluation, and for training experts, only."""

from typing import Any

import gymnasium as gym

from soar_il.envs.blind import BlindEnv, Source, make, name_of


class RewardLog(gym.Wrapper):
    """Writes down the rewards of the episode it is in, and passes everything on."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.rewards: list[float] = []

    def reset(self, **given: Any) -> Any:
        self.rewards = []
        return self.env.reset(**given)

    def step(self, action: Any) -> Any:
        after = self.env.step(action)
        self.rewards.append(float(after[1]))
        return after


def scored(source: Source, horizon: int | None = None) -> tuple[BlindEnv, RewardLog]:
    """An environment to play in, and the log of its rewards."""
    log = RewardLog(make(source))
    return BlindEnv(log, horizon, name_of(source)), log
