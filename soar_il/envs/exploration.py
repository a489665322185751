"""Small tasks on which to look for a need to explore: ``soar_il.envs.exploration:Lock-v0``.

Each has a number that makes it harder. Rewards are for evaluation alone.
"""

from typing import Any

import gymnasium as gym
import numpy as np

Reset = tuple[np.ndarray, dict[str, Any]]
Step = tuple[np.ndarray, float, bool, bool, dict[str, Any]]


def box(size: int, bound: float = 100.0) -> gym.spaces.Box:
    return gym.spaces.Box(-bound, bound, (size,), np.float32)


def directions(gates: int, size: int, secret: int) -> np.ndarray:
    """The direction that opens each gate, [gates, size], of length one."""
    drawn = np.random.default_rng(secret).normal(size=(gates, size))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


class Lock(gym.Env):
    """A continuous lock: at each gate one direction of R^n leads on, every other slips back.

    The hard MDP of the paper's lower bound in R^n. ``width`` is the cosine from which on a
    direction counts as the right one; the reward is how far one is, from 0 to 1.
    """

    metadata = {"render_modes": []}  # noqa: RUF012
    speed, slip = 0.25, 0.05

    def __init__(self, gates: int = 8, size: int = 4, width: float = 0.5, secret: int = 0) -> None:
        self.gates, self.width = gates, width
        self.right = directions(gates, size, secret)
        self.action_space = box(size, 1.0)
        self.observation_space = box(gates + 1, 1.0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Reset:
        super().reset(seed=seed)
        self.place = float(self.np_random.uniform(0, 0.2))
        return self._seen(), {}

    def step(self, action: np.ndarray) -> Step:
        if self.place < self.gates:
            length = float(np.linalg.norm(action))
            cosine = float(self.right[int(self.place)] @ action) / max(length, 1e-9)
            open_ = max(0.0, (cosine - self.width) / (1 - self.width))
            moved = min(length, 1.0) * self.speed * open_ - self.slip * (open_ == 0)
            self.place = float(np.clip(self.place + moved, 0, self.gates))
        return self._seen(), self.place / self.gates, False, False, {}

    def _seen(self) -> np.ndarray:
        """At which gate, and how far through it."""
        seen = np.zeros(self.gates + 1, np.float32)
        gate = min(int(self.place), self.gates - 1)
        seen[gate], seen[-1] = 1.0, self.place - gate
        return seen


class SwingUp(gym.Env):
    """A pole that hangs from a cart and has to stand on it: Gymnasium's CartPole from below.

    ``force`` is the most that pushes the cart; the less there is, the more swings it takes.
    """

    metadata = {"render_modes": []}  # noqa: RUF012
    gravity, cart, pole, half, rail = 9.8, 1.0, 0.1, 0.5, 2.4
    substeps, dt = 2, 0.02
    observation_space = box(5)
    action_space = box(1, 1.0)

    def __init__(self, force: float = 10.0) -> None:
        self.force = force

    def reset(self, *, seed: int | None = None, options: Any = None) -> Reset:
        super().reset(seed=seed)
        self.state = np.array([0, 0, np.pi, 0]) + self.np_random.uniform(-0.05, 0.05, 4)
        return self._seen(), {}

    def step(self, action: np.ndarray) -> Step:
        for _ in range(self.substeps):
            x, v, angle, turn = self.state
            total, moment = self.cart + self.pole, self.pole * self.half
            push = (self.force * float(action[0]) + moment * turn**2 * np.sin(angle)) / total
            slope = self.pole * np.cos(angle) ** 2 / total
            fall = self.gravity * np.sin(angle) - np.cos(angle) * push
            spin = fall / (self.half * (4 / 3 - slope))
            v += self.dt * (push - moment * spin * np.cos(angle) / total)
            x, turn = x + self.dt * v, np.clip(turn + self.dt * spin, -20, 20)
            if abs(x) > self.rail:  # the cart stops at the end of its rail
                x, v = np.sign(x) * self.rail, 0.0
            self.state = np.array([x, v, angle + self.dt * turn, turn])
        return self._seen(), float(1 + np.cos(self.state[2])) / 2, False, False, {}

    def _seen(self) -> np.ndarray:
        x, v, angle, turn = self.state
        return np.array([x, v, np.cos(angle), np.sin(angle), turn], np.float32)


class Maze(gym.Env):
    """A point behind a wall: the goal is close, the way around it is ``detour`` long and back."""

    metadata = {"render_modes": []}  # noqa: RUF012
    pace, reach, gap = 0.05, 0.15, 0.4
    start, goal = np.array([-0.5, 0.0]), np.array([0.5, 0.0])
    action_space = box(2, 1.0)
    observation_space = box(2)

    def __init__(self, detour: float = 1.0) -> None:
        self.detour = detour

    def reset(self, *, seed: int | None = None, options: Any = None) -> Reset:
        super().reset(seed=seed)
        self.place = self.start + self.np_random.uniform(-0.05, 0.05, 2)
        return self._seen(), {}

    def step(self, action: np.ndarray) -> Step:
        top = self.detour + self.gap
        there = np.clip(self.place + self.pace * np.asarray(action), [-1, -0.2], [1, top])
        if there[0] * self.place[0] < 0 and min(there[1], self.place[1]) < self.detour:
            there[0] = np.sign(self.place[0]) * 0.01  # the wall stands at 0
        self.place = there
        near = np.linalg.norm(self.place - self.goal) < self.reach
        return self._seen(), float(near), False, False, {}

    def _seen(self) -> np.ndarray:
        return self.place.astype(np.float32)


KINDS: dict[str, tuple[Any, int]] = {
    "Lock-v0": (Lock, 80),
    "SwingUp-v0": (SwingUp, 250),
    "Maze-v0": (Maze, 200),
}
for name, (made, steps) in KINDS.items():
    if name not in gym.registry:
        gym.register(name, made, max_episode_steps=steps)
