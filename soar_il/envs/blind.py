"""An environment whose reward and info end here: what is learned cannot have seen them."""

import difflib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from soar_il.envs import ids
from soar_il.errors import EnvError

NESTED = (gym.spaces.Dict, gym.spaces.Tuple)
Source = str | gym.Env | Callable[[], gym.Env]


class BlindEnv:
    """Observations, terminated, truncated; actions in [-1, 1] whatever the environment's bounds."""

    def __init__(self, source: Source, horizon: int | None = None, name: str = "") -> None:
        made = make(source)
        self._space, self._env = made.observation_space, flattened(made)
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

    @property
    def nested(self) -> bool:
        """Whether an observation is several arrays, which are joined here, by their names."""
        return isinstance(self._space, NESTED)

    def flat(self, observation: Any) -> np.ndarray:
        """A nested observation as one vector, in Gymnasium's order; or a batch of them, [n, d]."""
        n = _rows(self._space, observation)
        if n is not None:
            return np.stack([self.flat(_row(observation, row)) for row in range(n)])
        return np.asarray(gym.spaces.utils.flatten(self._space, observation), np.float32)

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


def _rows(space: Any, nested: Any) -> int | None:
    """How many observations a batch has; None where it is one observation."""
    while isinstance(space, NESTED):
        first: Any = next(iter(space)) if isinstance(space, gym.spaces.Dict) else 0
        space, nested = space[first], nested[first]
    return len(nested) if np.ndim(nested) > len(space.shape or ()) else None


def _row(nested: Any, row: int) -> Any:
    """One row of every array in it."""
    if isinstance(nested, dict):
        return {name: _row(x, row) for name, x in nested.items()}
    return tuple(_row(x, row) for x in nested) if isinstance(nested, tuple) else nested[row]


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
    return made(source)


def flattened(env: gym.Env) -> gym.Env:
    """Nested observations as one vector: the parts of a Dict in the order of their names."""
    nested = isinstance(env.observation_space, NESTED)
    return gym.wrappers.FlattenObservation(env) if nested else env


def made(env: str, **more: Any) -> gym.Env:
    """An environment by its name, with the arguments that the name has and more."""
    name, arguments = ids.parse(env)
    quiet_simulator(name)
    try:
        return gym.make(name, **arguments, **more)
    except (gym.error.NameNotFound, gym.error.NamespaceNotFound):
        raise EnvError("there is no environment of this name", env, near(name)) from None
    except gym.error.Error as error:
        unknown = isinstance(error, gym.error.UnregisteredEnv)
        raise EnvError(f"cannot be made: {error}", env, near(name) if unknown else "") from None
    except ModuleNotFoundError as error:
        module, colon, _ = name.rpartition(":")
        root = module.split(".")[0]
        gone = colon and importlib.util.find_spec(root) is None
        do = f"start in the folder of {root}.py, or install the package that has it"
        raise EnvError(f"cannot be made: {error}", env, do if gone else "") from None
    except Exception as error:  # whatever the environment's own code raises
        what = f"cannot be made: {type(error).__name__}: {error}{_place(error)}"
        asked = arguments and isinstance(error, TypeError)
        do = f"look whether it takes {', '.join(arguments)} (--env-args)" if asked else ""
        raise EnvError(what, env, do) from error


def near(name: str) -> str:
    """What an unknown id may have meant, by ids that are their name's newest version."""
    newest: dict[str, gym.envs.registration.EnvSpec] = {}
    for spec in gym.registry.values():
        if (spec.version or 0) >= (newest[spec.name].version or 0 if spec.name in newest else 0):
            newest[spec.name] = spec
    like = difflib.get_close_matches(name, [spec.id for spec in newest.values()], cutoff=0.75)
    own = "an environment of your own: --env MODULE:ID imports MODULE.py of this folder first"
    return f"did you mean {like[0]}? Or {own}" if like else own


def _place(error: Exception) -> str:
    """Where in the environment's code it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


SAID: set[str] = set()  # what the simulator has warned of already


def quiet_simulator(source: str) -> None:
    """MuJoCo's warnings are shown once each, and not written to a file in the current folder."""
    spec = gym.registry.get(ids.without_module(source))
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
    name = getattr(getattr(source, "spec", None), "id", None)  # a wrapper's class has no such id
    return str(name or getattr(source, "__name__", type(source).__name__))


def check_spaces(env: gym.Env, name: str) -> None:
    """Flat boxes only, with bounds on the actions."""
    for kind, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, gym.spaces.Box):
            do = "use an environment with continuous spaces: the networks here know no others"
            raise EnvError(f"its {kind} space is {space}, not a Box", name, do)
        if len(space.shape) == 3 and kind == "observation":
            do = "wrap it so that an observation is a vector of features: images are not learned"
            raise EnvError(f"its observations are images, {space.shape}", name, do)
        if len(space.shape) != 1:
            raise EnvError(
                f"its {kind} space has shape {space.shape}",
                name,
                f"wrap it with gymnasium.wrappers.FlattenObservation: {space.shape} is no vector"
                if kind == "observation"
                else "give it a vector of actions in its action_space",
            )
    box: Any = env.action_space
    if not (np.isfinite(box.low).all() and np.isfinite(box.high).all()):
        raise EnvError(
            "its action space has no bounds",
            name,
            "write finite low and high into its action_space: policies here act within bounds",
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
            "give the number of steps after which an episode is cut: --set horizon=200, or "
            "horizon=200 in Python; or register it with max_episode_steps",
        )
    return int(limit)
