"""An environment of your own, and demonstrations of it: docs/your-environment.md goes on from here.

``python your_environment.py`` records sixteen episodes of a controller to Reach2D-v0.demos.
"""

import gymnasium as gym
import numpy as np

import soar_il


class Reach2D(gym.Env):
    """A puck on ice has to be brought to a flag, against the wind."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = gym.spaces.Dict(
        flag=gym.spaces.Box(-1.0, 1.0, (2,)),
        position=gym.spaces.Box(-np.inf, np.inf, (2,)),
        speed=gym.spaces.Box(-np.inf, np.inf, (2,)),
    )
    action_space = gym.spaces.Box(-1.0, 1.0, (2,))

    def __init__(self, wind: float = 0.0, render_mode: str | None = None):
        self.wind, self.render_mode = np.array([wind, 0.0]), render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.flag, self.position = self.np_random.uniform(-1, 1, (2, 2))
        self.speed = np.zeros(2)
        return self._observation(), {}

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.2 * np.asarray(action) + 0.1 * self.wind
        self.position = self.position + 0.1 * self.speed
        reward = -float(np.linalg.norm(self.position - self.flag))  # for evaluation only
        return self._observation(), reward, False, False, {}

    def render(self):
        picture = np.full((200, 200, 3), 255, np.uint8)
        for point, colour in ((self.flag, (213, 94, 0)), (self.position, (0, 114, 178))):
            column, row = np.clip(100 + 70 * point * (1, -1), 6, 193).astype(int)
            picture[row - 6 : row + 6, column - 6 : column + 6] = colour
        return picture

    def _observation(self):
        known = {"flag": self.flag, "position": self.position, "speed": self.speed}
        return {name: value.astype(np.float32) for name, value in known.items()}


gym.register("Reach2D-v0", Reach2D, max_episode_steps=50)


def controller(observation):
    """Whoever shows how it is done. An observation's parts come joined, in their names' order."""
    flag, position, speed = np.split(observation, 3)
    return np.clip(6 * (flag - position) - 4 * speed, -1, 1)


if __name__ == "__main__":
    demos = soar_il.record("Reach2D-v0", controller, n=16)
    demos.save("Reach2D-v0.demos", overwrite=True)
    print(f"Reach2D-v0.demos: {demos!r}")
