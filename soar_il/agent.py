"""Imitator: demonstrations in, a policy out, with the habits of Stable-Baselines3."""

import dataclasses
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import jax
import numpy as np

from soar_il.bases.api import Base
from soar_il.configure import Config, resolve
from soar_il.demos import Demos
from soar_il.envs.blind import Source, name_of
from soar_il.envs.view import Termination
from soar_il.errors import ConfigError
from soar_il.report.training import TrainingProgress
from soar_il.runs import compiled
from soar_il.runs.run import Run
from soar_il.runs.train import Keep, train
from soar_il.soar import Seen

Callback = Callable[["Imitator", Seen], bool | None]


class Imitator:
    """Learns to act as the demonstrations do; the environment's reward is never looked at.

    Args:
        env: A Gymnasium id, a function that makes an environment, or an environment.
        demos: What to imitate.
        base: The base method: a name of the table, or a ``Base`` of your own.
        critics: L; 1 is the base method without SOAR.
        sigma: The largest standard deviation that optimism may subtract.
        termination: absorbing, fixed or early.
        seed: Of every random draw.
        preset: tuned, paper, or a TOML file.
        folder: Where to keep the run; a temporary place unless given.
        learner: More settings of the learner, by name.
        cost: More settings of the base method, by name.
    """

    def __init__(
        self,
        env: Source,
        demos: Demos,
        base: str | Base = "ml-irl",
        critics: int | None = None,
        sigma: float | None = None,
        termination: Termination | None = None,
        seed: int = 0,
        preset: str = "tuned",
        folder: Path | str | None = None,
        learner: dict[str, Any] | None = None,
        cost: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        said: dict[str, Any] = {
            **settings,
            "critics": critics,
            "sigma": sigma,
            "termination": termination,
            "seed": seed,
            "learner": learner or {},
        }
        if isinstance(base, Base):
            if cost:
                raise ConfigError("cost=... is for methods of the table", do="set up your Base")
            cfg = resolve("ml-irl", name_of(env), preset, **said)
            cfg, method = dataclasses.replace(cfg, base="your own", cost=None), base
        else:
            cfg, method = resolve(base, name_of(env), preset, **said, cost=cost or {}), None
        compiled.keep_compiled_programs()
        place = Path(folder or tempfile.mkdtemp(prefix="soar-il-"))
        try:
            self._hold(Run.create(place, cfg, env, demos, method), temporary=folder is None)
        except BaseException:
            if folder is None:
                shutil.rmtree(place)
            raise

    @property
    def config(self) -> Config:
        """The settings as they were resolved."""
        return self._run.cfg

    @property
    def num_timesteps(self) -> int:
        """Environment steps so far."""
        return self._run.steps

    def learn(
        self,
        total_timesteps: int,
        progress_bar: bool = False,
        callback: Callback | None = None,
    ) -> "Imitator":
        """Train for this many more environment steps, to the end of the iteration that has them.

        The callback is given this object and what the iteration saw; False stops the training.
        """
        if total_timesteps < 1:
            raise ConfigError(f"total_timesteps is {total_timesteps}", do="give at least 1")
        total = self._run.steps + total_timesteps
        with TrainingProgress(self._run.steps, total, show=progress_bar) as progress:

            def on_iteration(seen: Seen) -> bool | None:
                progress.update(seen)
                return callback(self, seen) if callback else None

            train(self._run, total, Keep(snapshot=0), on_iteration, lambda run: None)
        return self

    def predict(
        self, observation: Any, deterministic: bool = True, seed: int = 0
    ) -> tuple[np.ndarray, None]:
        """An action in the environment's units for an observation, or a batch of them.

        The second value is None: it keeps the place of a recurrent policy's state.
        """
        observation = np.asarray(observation, np.float32)
        size = self._run.built.env.observation_size
        if observation.ndim not in (1, 2) or observation.shape[-1] != size:
            raise ConfigError(
                f"the observation has shape {observation.shape}", do=f"give [{size}] or [n, {size}]"
            )
        acting, noise = self._run.policy(), None
        if not deterministic:
            shape = (*observation.shape[:-1], self._run.built.env.action_size)
            noise = np.asarray(jax.random.normal(jax.random.key(seed), shape))
        return self._run.built.env.to_env(acting.act(observation, noise)), None

    def save(self, path: Path | str) -> None:
        """The whole run, from which ``load`` goes on exactly."""
        self._run.checkpoint()
        if Path(path).resolve() != self._run.folder.resolve():
            shutil.copytree(self._run.folder, path, ignore=shutil.ignore_patterns("lock", "tmp-*"))

    @classmethod
    def load(
        cls, path: Path | str, env: Source | None = None, base: Base | None = None
    ) -> "Imitator":
        """What ``save`` kept; an environment or base that is not known by name is given again."""
        compiled.keep_compiled_programs()
        imitator = cls.__new__(cls)
        imitator._hold(Run.resume(Path(path), env, base), temporary=False)
        return imitator

    def fingerprint(self) -> str:
        """SHA-256 over every array that learning has produced."""
        return self._run.fingerprint()

    def close(self) -> None:
        """Let go of the folder and the environment; forgetting the object does it too."""
        self._close()

    def _hold(self, run: Run, temporary: bool) -> None:
        self._run = run
        self._close = weakref.finalize(self, _let_go, run, temporary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _let_go(run: Run, temporary: bool) -> None:
    run.close()
    if temporary:
        shutil.rmtree(run.folder, ignore_errors=True)
