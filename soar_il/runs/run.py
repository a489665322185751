"""A run directory: what was asked, what made it, what happened, and where to go on from.

    config.json  provenance.json  demos.demos/  metrics.jsonl  snapshots/  checkpoints/  segments/

A checkpoint is ``State`` at the end of an iteration, with the data as the trajectories they were
made of: each is written once, and pushed again in order on resume.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax
import numpy as np

from soar_il import files, provenance, soar
from soar_il.bases.api import Base
from soar_il.build import Built, build
from soar_il.configure import Config, from_mapping
from soar_il.demos import Demos
from soar_il.envs.blind import Source
from soar_il.errors import ConfigError, SoarError, StorageError
from soar_il.runs import checkpoint, lock, log, segments, snapshot
from soar_il.runs.fingerprint import fingerprint
from soar_il.runs.segments import Segment
from soar_il.runs.told import told
from soar_il.soar import Seen, State
from soar_il.terminal.phases import heard_by

Say = Callable[[str], None]
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
        self.parts = told(self.built.parts._replace(collect=self._collect))
        self._open = ExitStack()
        self._open.callback(self.built.env.close)

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
        if (folder / "config.json").exists():
            raise StorageError(
                "there is a run here already",
                str(folder),
                "go on with it (`soar resume`, Imitator.load), or choose another folder",
            )
        run = Run(folder, cfg, source, make or _imitation(demos, base), say)
        try:
            run.state = run.built.start()
            run._enter()
            if demos is not None:
                demos.save(folder / "demos.demos", overwrite=True)
            _write_json(folder / "provenance.json", provenance.about())
            _write_json(folder / "config.json", dataclasses.asdict(cfg))
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
        cfg = read_config(folder)
        check_drift(folder, allow_drift, say)
        make = make or _imitation(Demos.load(folder / "demos.demos"), base)
        run = Run(folder, cfg, source or cfg.env, make, say)
        try:
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

    def iterate(self) -> Iterator[Seen]:
        """One pass of Algorithm 1 after the other, each logged when it is done."""
        self._mend()
        wanted = self.built.wanted(self.state.policy)
        for state, taus, seen in soar.run(self.parts, self.state, self.cfg.seed):
            numbers = {name: _number(x) for name, x in jax.device_get(seen).items()}
            whole = len(taus) >= wanted.episodes and numbers["steps"] - self.steps >= wanted.steps
            self.shortened = None if whole else self.total
            made = segments.write(self.folder / "segments", int(state.k) - 1, _pack(taus))
            self.state, self.steps = state, int(numbers["steps"])
            self.segments.append(made)
            self._log.append({"k": self.k, **numbers})
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
        checkpoint.save(self.folder / "checkpoints", self.k, _named(_small(self.state)), meta)

    def keep_policy(self) -> Path:
        """Keep the policy for evaluation and use."""
        path = self.folder / "snapshots" / f"{self.k:09d}.safetensors"
        snapshot.save(path, self.policy())
        return path

    def policy(self) -> snapshot.Snapshot:
        """The current policy as something that acts."""
        env, layers = self.built.env, jax.device_get(self.built.kept(self.state.policy))
        return snapshot.Snapshot(
            self.k, self.steps, self.cfg.env, layers, self.built.view, env.low, env.high
        )

    def fingerprint(self) -> str:
        """SHA-256 over every array of State."""
        self._mend()
        return fingerprint(_named(self.state))

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
            data = self.parts.add(data, _unpack(arrays, self.built.trajectory))
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
        self._log = self._open.enter_context(log.Log(self.folder / "metrics.jsonl"))
        checkpoint.prune(self.folder / "checkpoints", k)
        segments.prune(self.folder / "segments", k)
        for path in (self.folder / "snapshots").glob("*.safetensors"):
            if int(path.stem) > k:
                path.unlink()
        if found is None:
            self.state = self.built.start()
            return
        self.segments = [Segment(*pair) for pair in found.meta["segments"]]
        with heard_by():  # nobody: only shapes are made
            shapes = jax.eval_shape(self.built.start)._replace(k=0)
        small = _filled(_small(shapes), found.arrays, str(self.folder))
        self.state = State(k + 1, small.policy, small.cost, small.critics, self._data())
        self.steps, self.shortened = found.meta["steps"], found.meta.get("shortened")


def _imitation(demos: Demos | None, base: Base | None) -> Make:
    if demos is None:
        raise ConfigError("there are no demonstrations", do="give some")
    return lambda cfg, source: build(cfg, source, demos, base)


def read_config(folder: Path) -> Config:
    """What the run was asked to do."""
    path = folder / "config.json"
    try:
        return from_mapping(json.loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, ValueError) as error:
        why = "there is no config.json" if isinstance(error, FileNotFoundError) else error
        raise StorageError(f"is not a run ({why})", str(folder), "give a run's folder") from None


def check_drift(folder: Path, allow: bool, say: Say) -> None:
    """Other versions or threads may give other bits: refuse, or say so."""
    try:
        then = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot be read ({error})", str(folder / "provenance.json")) from None
    now = provenance.about()
    changed = [
        f"{name} was {then.get(name)}, is {now[name]}"
        for name in ("python", "machine", "threads", "versions")
        if then.get(name) != now[name]
    ]
    if changed and not allow:
        raise StorageError(
            "cannot be resumed exactly: " + "; ".join(changed),
            str(folder),
            "restore what changed, or resume with --allow-drift",
        )
    for change in changed:
        say(f"resuming although {change}")


def _small(state: State) -> State:
    return state._replace(k=np.int64(state.k), data=())


def _named(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(jax.device_get(tree))
    return {jax.tree_util.keystr(path): np.asarray(x) for path, x in leaves}


def _filled(template: Any, arrays: dict[str, np.ndarray], where: str) -> Any:
    """The tree with the stored arrays as its leaves."""
    leaves, treedef = jax.tree_util.tree_flatten_with_path(template)
    filled = []
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path)
        stored = arrays.get(name)
        if stored is None or stored.shape != np.shape(leaf) or len(arrays) != len(leaves):
            raise SoarError(
                f"the checkpoint does not fit this run at {name}",
                where,
                "was the base method or its settings changed?",
            )
        filled.append(jax.device_put(stored, may_alias=False) if path[0].name != "k" else stored)
    return jax.tree_util.tree_unflatten(treedef, filled)


def _pack(taus: list[Any]) -> dict[str, np.ndarray]:
    """One array for each field, end to end; besides observations a row is a step."""
    columns = {name: [getattr(tau, name) for tau in taus] for name in taus[0]._fields}
    lengths = np.array([len(actions) for actions in columns["actions"]], np.int32)
    ends = np.array(columns.pop("terminated"))
    packed = {name: np.concatenate(column) for name, column in columns.items()}
    return {**packed, "lengths": lengths, "terminated": ends}


def _unpack(arrays: dict[str, np.ndarray], trajectory: Any) -> list[Any]:
    lengths, ends = arrays["lengths"], arrays["terminated"]
    steps = [name for name in trajectory._fields if name not in ("observations", "terminated")]
    cuts = {name: np.split(arrays[name], np.cumsum(lengths)[:-1]) for name in steps}
    cuts["observations"] = np.split(arrays["observations"], np.cumsum(lengths + 1)[:-1])
    return [
        trajectory(terminated=bool(end), **{name: cut[n] for name, cut in cuts.items()})
        for n, end in enumerate(ends)
    ]


def _number(x: Any) -> float | int:
    return int(x) if np.issubdtype(np.asarray(x).dtype, np.integer) else float(x)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    files.write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
