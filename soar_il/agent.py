"""Imitator: demonstrations in, a policy out, with the habits of Stable-Baselines3."""

import dataclasses
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import numpy as np

from soar_il import callbacks
from soar_il.bases.api import Base
from soar_il.config import Termination
from soar_il.configure import Config, resolve
from soar_il.demos import Demos
from soar_il.envs.blind import Source, name_of
from soar_il.envs.several import taken_apart
from soar_il.errors import ConfigError, StorageError
from soar_il.evaluation.score import Evaluator
from soar_il.files import Fields
from soar_il.policy import Policy
from soar_il.runs import boards, compiled
from soar_il.runs.run import Run
from soar_il.runs.train import Keep, train
from soar_il.terminal import phases
from soar_il.terminal.training import TrainingProgress
from soar_il.types import Metrics


class Imitator:
    """Learns to act as the demonstrations do; the environment's reward is never looked at.

    Args:
        env: A Gymnasium id, a function that makes an environment, or an environment; with
            ``n_envs=8``, or as ``gymnasium.make_vec`` makes it, several are stepped together.
        demos: What to imitate.
        base: The base method: a name of the table, or a ``Base`` of your own.
        critics: L; 1 is the base method without SOAR.
        sigma: The clip value: the most that optimism subtracts from the critics' mean.
        termination: absorbing, fixed or early.
        seed: The seed of all random draws.
        preset: tuned, paper, or a TOML file.
        folder: Where to keep the run; a temporary place unless given.
        verbose: 0 prints nothing; 1 what it does, with a line for each tenth of the steps.
        tensorboard_log: A folder for TensorBoard's events (needs the extra soar-il[tensorboard]).
        wandb: A project of Weights & Biases (needs the extra soar-il[wandb]).
        learner: More settings of the learner, by name.
        cost: More settings of the base method, by name.
    """

    def __init__(
        self,
        env: Source | gym.vector.VectorEnv,
        demos: Demos,
        base: str | Base = "ml-irl",
        critics: int | None = None,
        sigma: float | None = None,
        termination: Termination | None = None,
        seed: int = 0,
        preset: str = "tuned",
        folder: Path | str | None = None,
        verbose: int = 0,
        tensorboard_log: Path | str | None = None,
        wandb: str = "",
        learner: Fields | None = None,
        cost: Fields | None = None,
        **settings: Any,
    ) -> None:
        if "device" in settings:
            do = "leave it out, and say JAX_PLATFORMS=cpu or cuda before Python starts"
            raise ConfigError("JAX chooses the device", "device", do)
        env, several = taken_apart(env)
        if several not in (None, settings.setdefault("n_envs", several or 1)):
            do = "leave n_envs out"
            raise ConfigError(f"the vector environment has {several}", "n_envs", do)
        more: Fields = {"learner": learner, "cost": cost}
        for name, value in more.items():
            if not isinstance(value, dict | None):
                do = f"name those that differ from the preset: {name}={{'learning_rate': 1e-3}}"
                raise ConfigError(f"is a {type(value).__name__}, not a dictionary", name, do)
        said: Fields = {
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
            with phases.heard_by(*([print] if verbose else [])):
                run = Run.create(place, cfg, env, demos, method)
            self._hold(run, folder is None, verbose)
            self._boards = boards.opened(
                place, None if tensorboard_log is None else Path(tensorboard_log), wandb
            )
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
        callback: callbacks.Given = None,
        progress_bar: bool = False,
    ) -> "Imitator":
        """Train for this many more environment steps, to the end of the iteration that has them.

        Args:
            total_timesteps: How many steps more.
            callback: A function, called after each iteration with this object and what the
                iteration saw, by name; a ``soar_il.callbacks.Callback``; or a list of these.
                Training stops when one returns False.
            progress_bar: Whether to show steps, rate and time left.
        """
        if total_timesteps < 1:
            raise ConfigError(f"total_timesteps is {total_timesteps}", do="give at least 1")
        called, total = callbacks.Every(callback), self._run.steps + total_timesteps
        progress = TrainingProgress(self._run.steps, total, progress_bar or self._verbose > 0)

        def on_iteration(seen: Metrics) -> bool:
            progress.update(seen)
            boards.seen(self._boards, seen)
            return called.on_iteration(self, seen)

        called.on_start(self)
        try:
            with progress, phases.heard_by(progress.phase):
                train(self._run, total, Keep(snapshot=0), on_iteration, lambda run: None)
        finally:
            called.on_end(self)
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[np.ndarray, Any]:
        """As ``Policy.predict``: actions in the environment's units, and ``state`` as it was.

        Args:
            observation: [d] or [n, d], or one of the environment's own where these are nested.
            state: Of a recurrent policy; given back as it is, for there is none.
            episode_start: Not needed.
            deterministic: The policy's mode; else a new draw from it at each call, which
                ``set_random_seed`` makes repeatable.
        """
        env = self._run.built.env
        if env.nested and isinstance(observation, dict | tuple):
            observation = env.flat(observation)
        return self.policy.predict(observation, state, episode_start, deterministic)

    @property
    def policy(self) -> Policy:
        """The policy learned so far. It can be saved and loaded without the run."""
        return dataclasses.replace(self._run.policy(), draws=self._draws)

    def set_random_seed(self, seed: int) -> None:
        """Seed the draws of ``predict``, for all policies of this object; not those of training."""
        self._draws = np.random.default_rng(seed)

    def evaluate(self, episodes: int = 10, seed: int = 0) -> Fields:
        """The true return of the policy on environments of its own, by name; nothing is learned."""
        source: Any = self._run.source
        if isinstance(source, gym.Env):
            raise ConfigError(
                "the environment was given as one object, and evaluation needs its own",
                do="give the Imitator an id or a function that makes the environment",
            )
        evaluator = Evaluator(source, episodes, self.config.horizon or None, seed)
        try:
            return evaluator.record(self._run.policy())
        finally:
            evaluator.close()

    def save(self, path: Path | str) -> None:
        """The whole run, from which ``load`` goes on exactly; it replaces what was saved there."""
        self._run.checkpoint()
        path = Path(path)
        if path.resolve() == self._run.folder.resolve():
            return
        if path.exists() and not (path / "config.json").is_file():
            raise StorageError("is there already and is no run", str(path), "choose another name")
        beside = path.with_name(path.name + ".new")
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(self._run.folder, beside, ignore=shutil.ignore_patterns("lock", "tmp-*"))
        if path.exists():
            shutil.rmtree(path)
        beside.rename(path)

    @classmethod
    def load(
        cls,
        path: Path | str,
        env: Source | gym.vector.VectorEnv | None = None,
        base: Base | None = None,
        allow_drift: bool = False,
        verbose: int = 0,
    ) -> "Imitator":
        """What ``save`` kept.

        Args:
            path: Where it was saved.
            env: The environment again, where it is not known by its id.
            base: The base method again, where it is not one of the table.
            allow_drift: Whether to go on although versions or the machine are others, so that
                training may continue with other bits.
            verbose: As of a new one.
        """
        compiled.keep_compiled_programs()
        imitator = cls.__new__(cls)
        source = None if env is None else taken_apart(env)[0]
        imitator._hold(Run.resume(Path(path), source, base, allow_drift), False, verbose)
        imitator._boards = []
        return imitator

    def fingerprint(self) -> str:
        """SHA-256 over every array that learning has produced."""
        return self._run.fingerprint()

    def close(self) -> None:
        """Release the folder and the environment; it also happens when the object is deleted."""
        while self._boards:
            self._boards.pop().close()
        self._close()

    def _hold(self, run: Run, temporary: bool, verbose: int) -> None:
        self._run, self._verbose = run, verbose
        self.set_random_seed(run.cfg.seed)
        self._close = weakref.finalize(self, _let_go, run, temporary)

    def __repr__(self) -> str:
        cfg = self.config
        return (
            f"Imitator({cfg.env!r}, base={cfg.base!r}, critics={cfg.learner.critics}, "
            f"seed={cfg.seed}, {self.num_timesteps:,} steps)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _let_go(run: Run, temporary: bool) -> None:
    run.close()
    if temporary:
        shutil.rmtree(run.folder, ignore_errors=True)
