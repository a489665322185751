"""An environment whose reward and info end here: what is learned cannot have seen them."""

import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from soar_il.errors import EnvError, closest

Source = str | gym.Env | Callable[[], gym.Env]


class BlindEnv:
    """Observations, terminated, truncated; actions in [-1, 1] whatever the environment's bounds."""

    def __init__(self, source: Source, horizon: int | None = None, name: str = "") -> None:
        self._env = make(source)
        self.name = name or name_of(source)
        check_spaces(self._env, self.name)
        box: Any = self._env.action_space
        low, high = box.low.astype(np.float64), box.high.astype(np.float64)
        self.low, self.high = low.astype(np.float32), high.astype(np.float32)
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        (self.observation_size,) = self._env.observation_space.shape or (0,)
        self.action_size = len(low)
        self.horizon = _horizon(self._env, horizon, self.name)
        self._steps = 0

    def reset(self, seed: int) -> np.ndarray:
        self._steps = 0
        observation, _ = self._env.reset(seed=seed)
        return self._checked(observation)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, bool, bool]:
        self._steps += 1
        observation, _, terminated, truncated, _ = self._env.step(self.to_env(action))
        truncated = bool(truncated) or self._steps >= self.horizon
        return self._checked(observation), bool(terminated), truncated

    def to_env(self, actions: np.ndarray) -> np.ndarray:
        """From [-1, 1] to the environment's own bounds."""
        scaled = (self._middle + actions * self._half).astype(np.float32)
        return np.clip(scaled, self.low, self.high)

    def from_env(self, actions: np.ndarray) -> np.ndarray:
        """From the environment's own bounds to [-1, 1]."""
        return np.clip((actions - self._middle) / self._half, -1, 1).astype(np.float32)

    def close(self) -> None:
        self._env.close()

    def _checked(self, observation: Any) -> np.ndarray:
        observation = np.asarray(observation, np.float32)
        if observation.shape != (self.observation_size,):
            raise EnvError(
                f"an observation has shape {observation.shape}, not ({self.observation_size},)",
                self.name,
                "mend the environment or its observation_space",
            )
        if not np.isfinite(observation).all():
            bad = int(np.flatnonzero(~np.isfinite(observation))[0])
            raise EnvError(
                f"observation {bad} is {observation[bad]} after step {self._steps} of an episode",
                self.name,
                "the simulation has diverged or divides by zero; mend the environment",
            )
        return observation


def make(source: Source) -> gym.Env:
    """An environment from its id, a function that makes it, or itself."""
    if isinstance(source, gym.Env):
        return source
    if callable(source):
        env = source()
        if not isinstance(env, gym.Env):
            raise EnvError(
                f"the factory returned a {type(env).__name__}",
                name_of(source),
                "return a gymnasium.Env",
            )
        return env
    quiet_simulator(source)
    try:
        return gym.make(source)
    except gym.error.DependencyNotInstalled as error:
        raise EnvError(str(error), source) from None
    except (gym.error.Error, ModuleNotFoundError, ValueError) as error:
        raise EnvError(
            f"cannot be made: {error}", source, closest(source, gym.registry.keys(), show=5)
        ) from None


SAID: set[str] = set()  # what the simulator has warned of already


def quiet_simulator(source: str) -> None:
    """MuJoCo's warnings are shown once each, and not written to a file in the current folder."""
    spec = gym.registry.get(source.rpartition(":")[2])
    if spec is None or "mujoco" not in str(spec.entry_point):
        return
    try:
        import mujoco
    except ImportError:  # gym.make says what to install
        return

    def warn(text: str) -> None:
        if text not in SAID:
            SAID.add(text)
            print(f"MuJoCo: {text}", file=sys.stderr)

    mujoco.set_mju_user_warning(warn)


def name_of(source: Source) -> str:
    """How error messages and run directories call it."""
    if isinstance(source, str):
        return source
    spec = getattr(source, "spec", None)
    return spec.id if spec is not None else getattr(source, "__name__", type(source).__name__)


def check_spaces(env: gym.Env, name: str) -> None:
    """Flat boxes only, with bounds on the actions."""
    for kind, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, gym.spaces.Box):
            raise EnvError(
                f"its {kind} space is {space}, not a Box",
                name,
                "methods built on SAC need continuous spaces"
                + ("; gymnasium.wrappers.FlattenObservation may help" * (kind == "observation")),
            )
        if len(space.shape) != 1:
            raise EnvError(
                f"its {kind} space has shape {space.shape}",
                name,
                "make it flat, for example with gymnasium.wrappers.FlattenObservation",
            )
    box: Any = env.action_space
    if not (np.isfinite(box.low).all() and np.isfinite(box.high).all()):
        raise EnvError(
            "its action space has no bounds",
            name,
            "give bounds, for example with gymnasium.wrappers.RescaleAction",
        )
    if not (box.low < box.high).all():
        dim = int(np.flatnonzero(box.low >= box.high)[0])
        raise EnvError(f"action {dim} has no room between its bounds", name, "drop that action")


def _horizon(env: gym.Env, given: int | None, name: str) -> int:
    limit = given or (env.spec.max_episode_steps if env.spec else None)
    inner: Any = env
    while limit is None and isinstance(inner, gym.Wrapper):
        limit, inner = getattr(inner, "_max_episode_steps", None), inner.env
    if limit is None or limit < 1:
        raise EnvError(
            "it has no time limit, so an episode might never end"
            if not limit
            else f"horizon is {limit}",
            name,
            "give horizon=..., the number of steps after which an episode is cut",
        )
    return int(limit)
