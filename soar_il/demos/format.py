"""The one type of demonstrations."""

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il.demos import layout, validate
from soar_il.demos.validate import BoolArray, FloatArray
from soar_il.errors import DemoError, DemoWarning
from soar_il.files import Fields


@dataclass(frozen=True, eq=False)
class Demos:
    """Trajectories of an expert, checked on the way in and read-only after.

    Trajectory i has T_i transitions: ``observations[i]`` is [T_i + 1, d_s], the states s_0 ... s_T,
    and ``actions[i]`` is [T_i, d_a] in the environment's own units; ``actions`` is None where only
    states were seen. ``terminated[i]``: the environment ended it, not a time limit or a cut.
    ``about`` is provenance that JSON can hold, never a reward.
    """

    observations: tuple[FloatArray, ...]
    actions: tuple[FloatArray, ...] | None
    terminated: BoolArray
    about: Fields = field(default_factory=dict)

    def __post_init__(self) -> None:
        states = _tuple("observations", self.observations)
        taken = None if self.actions is None else _tuple("actions", self.actions)
        ended = validate.plain(self.terminated, "terminated").copy()
        validate.structure(states, taken, ended)
        ended.flags.writeable = False
        for name, value in (
            ("observations", states),
            ("actions", taken),
            ("terminated", ended),
            ("about", validate.provenance(self.about)),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def from_arrays(
        observations: Any,
        actions: Any = None,
        lengths: Any = None,
        terminated: Any = None,
        about: Fields | None = None,
        *,
        shift: int = 0,
    ) -> "Demos":
        """Demonstrations from a list of 2-D arrays, one [N, T, d] array, or flat [sum, d].

        ``lengths`` counts transitions: trajectory i has lengths[i] actions and lengths[i] + 1
        observations. Flat arrays need it; padded [N, T, d] arrays are cut by it. Where a
        trajectory has as many observations as actions, its last action is dropped with a warning,
        because its successor is unknown; what is left ends in a cut. With ``shift=1`` the rows are
        s_1 ... s_T and a_0 ... a_{T-1}, and a_0 is dropped instead. Ends that are not given count
        as cuts, not terminations.
        """
        states, taken, cut = layout.trajectories(observations, actions, lengths, shift)
        about = validate.provenance({} if about is None else about)
        if terminated is None:
            terminated = np.zeros(len(states), dtype=np.bool_)
            about.setdefault("ends", "unknown")
        ended = validate.plain(terminated, "terminated")
        if shift == 1:
            about = _noted(about, "shift 1: first actions dropped")
        if any(cut):
            about = _noted(about, "final observations missing: last actions dropped")
            if ended.dtype == np.bool_ and ended.shape == (len(states),):
                ended = ended & ~np.array(cut)
            warnings.warn(
                f"{sum(cut)} of {len(cut)} trajectories lack their final observation: the last "
                "action is dropped, because its successor is unknown",
                DemoWarning,
                stacklevel=2,
            )
        return Demos(tuple(states), None if taken is None else tuple(taken), ended, about)

    def __len__(self) -> int:
        return len(self.observations)

    def __repr__(self) -> str:
        sizes = f"{self.observation_size} -> {self.action_size}"
        return f"Demos({len(self)} trajectories, {self.transitions:,} transitions, {sizes})"

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Transitions of each trajectory."""
        return np.array([len(states) - 1 for states in self.observations], dtype=np.int64)

    @property
    def transitions(self) -> int:
        """Transitions of all trajectories."""
        return int(self.lengths.sum())

    @property
    def observation_size(self) -> int:
        return int(self.observations[0].shape[1])

    @property
    def action_size(self) -> int | None:
        return None if self.actions is None else int(self.actions[0].shape[1])

    @property
    def hash(self) -> str:
        """SHA-256 of the arrays; ``about`` is not in it."""
        digest = hashlib.sha256(b"soar-il demos 1")
        sizes = [len(self), self.observation_size, self.action_size or 0]
        digest.update(np.array(sizes, dtype="<i8").tobytes())
        digest.update(self.lengths.astype("<i8").tobytes() + self.terminated.tobytes())
        for part in (*self.observations, *(self.actions or ())):
            digest.update(part.astype("<f4", copy=False).tobytes())
        return digest.hexdigest()

    def __getitem__(self, which: int | slice) -> "Demos":
        """One trajectory, or some: ``demos[0]``, ``demos[:4]``."""
        chosen = range(len(self))[which]
        places = [chosen] if isinstance(chosen, int) else list(chosen)
        if not places:
            raise DemoError(f"no trajectory is in {which}", do=f"there are {len(self)}, from 0 on")
        return Demos(
            tuple(self.observations[i] for i in places),
            None if self.actions is None else tuple(self.actions[i] for i in places),
            self.terminated[places],
            self.about,
        )

    def select(self, n: int, seed: int | None = None) -> "Demos":
        """The first n trajectories, or with a seed n chosen at random, in their old order."""
        if not 1 <= n <= len(self):
            raise DemoError(
                f"{n} trajectories asked for, {len(self)} there",
                do=f"ask for 1 to {len(self)}, or gather more",
            )
        chosen = np.arange(n)
        if seed is not None:
            chosen = np.sort(np.random.default_rng(seed).choice(len(self), n, replace=False))
        return Demos(
            tuple(self.observations[i] for i in chosen),
            None if self.actions is None else tuple(self.actions[i] for i in chosen),
            self.terminated[chosen],
            _noted(self.about, f"select {n} of {len(self)}, seed {seed}"),
        )

    def subsample(self, every: int, seed: int) -> "Demos":
        """Every ``every``-th transition, from a random start in each trajectory.

        Neighbours of a kept transition are gone, so each (s, a, s') becomes a trajectory of its own
        with two observations; it is terminated only if it was the last of a terminated one. Each
        trajectory gives at least one. First observations are then no longer starts of episodes.
        """
        if every < 1:
            raise DemoError(f"every is {every}", do="give a whole number of at least 1")
        if every == 1:
            return self
        rng = np.random.default_rng(seed)
        kept = [
            (i, t)
            for i, length in enumerate(self.lengths.tolist())
            for t in range(int(rng.integers(min(every, length))), length, every)
        ]
        return Demos(
            tuple(self.observations[i][t : t + 2] for i, t in kept),
            None if self.actions is None else tuple(self.actions[i][t : t + 1] for i, t in kept),
            np.array([self.terminated[i] and t + 1 == self.lengths[i] for i, t in kept]),
            _noted(self.about, f"subsample every {every}, seed {seed}"),
        )

    def without_actions(self) -> "Demos":
        """The same states, the actions hidden."""
        return Demos(self.observations, None, self.terminated, self.about)

    def save(self, path: Path | str, overwrite: bool = False) -> Path:
        """Write a ``name.demos`` folder or a ``name.npz`` file, whole or not at all."""
        from soar_il.demos import npz, store

        path = Path(path)
        if path.suffix not in (".demos", ".npz"):
            raise DemoError(
                f"ends in {path.suffix!r}", str(path), "end it in .demos (a folder) or .npz"
            )
        (store.write if path.suffix == ".demos" else npz.write)(self, path, overwrite)
        return path

    @staticmethod
    def load(source: Any, keys: Mapping[str, str] | None = None, *, shift: int = 0) -> "Demos":
        """Demonstrations from a file or folder, a Minari id, or what another library made.

        A path: .demos, .npz, .npy, .hdf5 (D4RL, or a group for each episode), a Minari folder. An
        id: as ``minari list local`` has it, or with minari/ before it. An environment's name, such
        as Hopper-v5: ENV.demos here or in demos/, or what is shipped. Else: a list of
        trajectories with ``obs``, ``acts`` and ``terminal`` as the package imitation makes them, a
        dictionary of arrays, a list of arrays of observations. ``keys`` says what arrays are called
        that have other names: ``{"observations": "state", "actions": "u"}``. ``shift=1`` where row
        t is (s_{t+1}, a_t). Nothing in a file is executed; rewards are left behind.
        """
        from soar_il.demos import convert

        return convert.read(source, shift, keys=keys)


def _tuple(name: str, arrays: Any) -> tuple[FloatArray, ...]:
    return tuple(validate.numbers(part, f"trajectory {i}, {name}") for i, part in enumerate(arrays))


def _noted(about: Fields, what: str) -> Fields:
    return about | {"history": [*about.get("history", []), what]}
