"""A run directory: what was asked, what made it, what happened, and where to go on from.

    config.json  provenance.json  demos.demos/  metrics.jsonl  snapshots/  checkpoints/  segments/

A checkpoint is ``State`` at the end of an iteration, with the data as the trajectories they were
made of: each is written once, and pushed again in order on resume.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from soar_il import files, provenance, soar
from soar_il.bases.api import Base
from soar_il.build import Built, build
from soar_il.configure import Config
from soar_il.demos import Demos
from soar_il.envs.blind import Source
from soar_il.errors import ConfigError, StorageError
from soar_il.policy import Policy
from soar_il.runs import as_arrays, checkpoint, lock, log, origin, segments
from soar_il.runs.fingerprint import fingerprint
from soar_il.runs.segments import Segment
from soar_il.runs.snapshot import require_fit
from soar_il.runs.told import told
from soar_il.soar import State
from soar_il.terminal.phases import heard_by, phase
from soar_il.types import Metrics

Say = Callable[[str], None]
T = TypeVar("T")
Make = Callable[[Config, Source], Built]
FOLDERS = ("checkpoints", "segments", "snapshots")


class Run:
    """An open run; one process at a time holds its directory."""

    def __init__(self, folder: Path, cfg: Config, source: Source, make: Make, say: Say) -> None:
        self.folder, self.cfg, self.source, self.say = folder, cfg, source, say
        self.built = make(cfg, source)
        self.state: State
        self.steps = 0  # environment steps taken, all of them
        self.total: int | None = None  # how many there shall be; None where iterations are whole
        self.shortened: int | None = None  # the total that the last iteration was shortened to
        self.segments: list[Segment] = []
        self.demonstrations = ""  # their hash, where there are any
        self.parts = told(self.built.parts._replace(collect=self._collect))
        self._open = ExitStack()
        for env in (self.built.env, *self.built.others):
            self._open.callback(env.close)

    @staticmethod
    def create(
        folder: Path,
        cfg: Config,
        source: Source,
        demos: Demos | None,
        base: Base | None = None,
        say: Say = print,
        make: Make | None = None,
    ) -> "Run":
        """A new run; everything that can be wrong with it is found before the folder is made.

        ``make`` is for runs that are not imitation and have no demonstrations.
        """
        if (folder / origin.CONFIG).exists():
            raise StorageError(
                "there is a run here already",
                str(folder),
                "go on with it (`soar resume`, Imitator.load), or choose another folder",
            )
        phase("checking demonstrations and environment")
        run = Run(folder, cfg, source, make or _imitation(demos, base), say)
        try:
            phase("making the first networks")
            run.state = run.built.start()
            run._enter()
            if demos is not None:
                run.demonstrations = demos.hash
            origin.keep(folder, cfg, demos)
        except BaseException:
            run.close()
            raise
        return run

    @staticmethod
    def resume(
        folder: Path,
        source: Source | None = None,
        base: Base | None = None,
        allow_drift: bool = False,
        say: Say = print,
        make: Make | None = None,
        total: int | None = None,
    ) -> "Run":
        """A run as its newest good checkpoint has it; its logs are cut back to there.

        With a larger ``total`` than its last iteration was shortened to, that iteration is undone:
        the run goes on as one that was asked for so many steps from the start.
        """
        cfg = origin.read_config(folder, verify=False)  # check says more
        origin.check(folder, allow_drift, say)
        demos = None if make else Demos.load(folder / origin.DEMOS)
        run = Run(folder, cfg, source or cfg.env, make or _imitation(demos, base), say)
        try:
            run.demonstrations = demos.hash if demos is not None else ""
            run._enter()
            run._restore(total)
        except BaseException:
            run.close()
            raise
        return run

    @property
    def k(self) -> int:
        """Iterations done."""
        return int(self.state.k) - 1

    def iterate(self) -> Iterator[Metrics]:
        """One pass of Algorithm 1 after the other, each logged when it is done."""
        self._mend()
        wanted = self.built.wanted(self.state.policy)
        for state, taus, seen in soar.run(self.parts, self.state, self.cfg.seed):
            k, steps = int(state.k) - 1, int(state.data.steps)
            numbers = {n: _number(x) for n, x in jax.device_get(seen).items()}
            whole = len(taus) >= wanted.episodes and steps - self.steps >= wanted.steps
            made = self.patiently(
                partial(segments.write, self.folder / "segments", k, segments.packed(taus))
            )
            self.patiently(partial(self._log.append, {"k": k, **numbers}))
            self.shortened = None if whole else self.total
            self.state, self.steps = state, steps  # when all of it is on the disk
            self.segments.append(made)
            yield numbers
            wanted = self.built.wanted(self.state.policy)

    def may_shorten(self) -> bool:
        """Whether the next iteration may have to be shortened to end at ``total``."""
        if self.total is None:
            return False
        wanted, left = self.built.wanted(self.state.policy), self.total - self.steps
        return left < wanted.steps or left <= (wanted.episodes - 1) * self.built.env.horizon

    def checkpoint(self) -> None:
        """Keep the state on disk, and the one before it."""
        self._log.sync()
        meta = {"segments": [list(s) for s in self.segments], "steps": self.steps}
        meta |= {} if self.shortened is None else {"shortened": self.shortened}
        checkpoint.save(
            self.folder / "checkpoints", self.k, as_arrays.named(as_arrays.small(self.state)), meta
        )

    def keep_policy(self) -> Path:
        """Keep the policy for evaluation and use."""
        path = self.folder / "snapshots" / f"{self.k:09d}.safetensors"
        self.policy().save(path)
        return path

    def policy(self) -> Policy:
        """The current policy as something that acts."""
        env, layers = self.built.env, jax.device_get(self.built.kept(self.state.policy))
        return Policy(
            env=self.cfg.env,
            k=self.k,
            steps=self.steps,
            layers=layers,
            view=self.built.view,
            low=env.low,
            high=env.high,
            observation_size=env.observation_size,
            about={
                "method": self.cfg.base,
                "algorithm": self.cfg.algorithm,
                "critics": self.cfg.learner.critics,
                "seed": self.cfg.seed,
                "demonstrations": self.demonstrations,
                "versions": dict(provenance.versions()),
            },
        )

    def patiently(self, write: Callable[[], T]) -> T:
        """What ``write`` gives; while the disk is full the run waits, and says so."""
        return files.patiently(write, self.say)

    def fingerprint(self) -> str:
        """SHA-256 over every array of State."""
        self._mend()
        return fingerprint(as_arrays.named(self.state))

    def close(self) -> None:
        self._open.close()

    def _mend(self) -> None:
        """An iteration that failed has used up the data it started from: make them again."""
        if self.state.data.steps.is_deleted():
            self.state = self.state._replace(data=self._data())

    def _collect(self, policy: Any, key: Any) -> Any:
        left = None if self.total is None else max(1, self.total - self.steps)
        return self.built.parts.collect(policy, key, left)

    def _data(self) -> Any:
        data = self.built.no_data()
        for segment in self.segments:
            arrays = segments.read(self.folder / "segments", segment)
            data = self.parts.add(data, segments.unpacked(arrays, self.built.trajectory))
        return data

    def _enter(self) -> None:
        self._open.enter_context(lock.held(self.folder))
        for folder in (self.folder, *(self.folder / name for name in FOLDERS)):
            files.make_dir(folder)
            files.sweep(folder)
        self._log = self._open.enter_context(log.Log(self.folder / "metrics.jsonl"))

    def _restore(self, total: int | None) -> None:
        found = checkpoint.newest(self.folder / "checkpoints", self.say)
        if found is not None and (total or 0) > found.meta.get("shortened", math.inf):
            earlier = checkpoint.newest(self.folder / "checkpoints", self.say, before=found.k)
            if earlier is not None or found.k == 1:
                found = earlier
            else:
                self.say(f"going on from iteration {found.k}, which was shortened: none is before")
        k = 0 if found is None else found.k
        self._log.close()
        log.cut(self.folder / "metrics.jsonl", k)
        log.require(self.folder / "metrics.jsonl", k)
        self._log = self._open.enter_context(log.Log(self.folder / "metrics.jsonl"))
        checkpoint.prune(self.folder / "checkpoints", k)
        segments.prune(self.folder / "segments", k)
        for path in (self.folder / "snapshots").glob("*.safetensors"):
            if int(path.stem) > k:
                path.unlink()
        for path in sorted((self.folder / "snapshots").glob("*.safetensors"))[-1:]:
            require_fit(Policy.load(path), self.built.env)
        if found is None:
            self.state = self.built.start()
            return
        where = str(self.folder / "checkpoints")
        self.segments = segments.noted(found.meta.get("segments"), where)
        if type(found.meta.get("steps")) is not int:
            raise StorageError("does not say how many steps there were", where, files.DAMAGED)
        with heard_by():  # nobody: only shapes are made
            shapes = jax.eval_shape(self.built.start)._replace(k=0)
        stored = as_arrays.filled(as_arrays.small(shapes), found.arrays, str(self.folder))
        self.state = State(k + 1, stored.policy, stored.cost, stored.critics, self._data())
        self.steps, self.shortened = found.meta["steps"], found.meta.get("shortened")


def _imitation(demos: Demos | None, base: Base | None) -> Make:
    if demos is None:
        raise ConfigError("there are no demonstrations", do="give some")
    return lambda cfg, source: build(cfg, source, demos, base)


def _number(x: Any) -> float | int:
    return int(x) if np.issubdtype(np.asarray(x).dtype, np.integer) else float(x)
