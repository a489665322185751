"""``points:Point-v0``: the point mass by an id that any process can make; Painted has pictures."""

import gymnasium as gym
import numpy as np
import tiny
import toys

tiny.register()


class Painted(toys.PointMass):
    """A white square on black, where the point is."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def render(self):
        picture = np.zeros((40, 40, 3), np.uint8)
        row, column = np.clip(10 * self.position + 20, 0, 35).astype(int)
        picture[row : row + 5, column : column + 5] = 255
        return picture


if "Painted-v0" not in gym.registry:
    gym.register("Painted-v0", "points:Painted", max_episode_steps=toys.HORIZON)
