"""Demonstrations from elsewhere; ``.npz`` files are in npz.py."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from soar_il.demos import align, hdf5, memory, named, npz, places, safe, store
from soar_il.demos.format import Demos
from soar_il.demos.named import Keys
from soar_il.demos.validate import naming, numbers
from soar_il.errors import DemoError, DemoWarning
from soar_il.files import Fields

INSTALL = "pip install 'soar-il[minari]'"
MINARI = "minari/"  # before an id, says what it is an id of
PICKLES = (".pt", ".pth", ".pkl", ".pickle")
STARTS = {b"PK": ".npz", b"\x89HDF": ".hdf5"}  # for files whose name does not tell
KNOWN = (
    "give .demos, .npz, .npy, .hdf5, or a Minari id or folder; or convert it yourself and give "
    "Demos.load a dictionary of arrays"
)


def from_tensors(
    observations: Any,
    actions: Any = None,
    *,
    shift: int,
    lengths: Any = None,
    terminated: Any = None,
    about: Fields | None = None,
) -> Demos:
    """The [N, T, d] arrays of f-IRL and SOAR.

    ``shift`` must be said: 1 for the released expert files, whose row t is (s_{t+1}, a_t); 0 where
    row t is (s_t, a_t).
    """
    demos = Demos.from_arrays(observations, actions, lengths, terminated, about, shift=shift)
    if wrong := align.suspicion(demos):
        warnings.warn(f"{wrong[0]} ({wrong[1]})", DemoWarning, stacklevel=2)
    return demos


def from_rollouts(
    observations: Any,
    actions: Any,
    dones: Any,
    truncated: Any = None,
    about: Fields | None = None,
) -> Demos:
    """Steps of parallel environments that restart by themselves, as Stable-Baselines3 keeps them.

    ``observations`` [n_steps, n_envs, d] is what each action was chosen at; ``dones`` [n_steps,
    n_envs] says whether the action ended its episode, ``truncated`` whether a time limit did. The
    observation after the end was lost in the restart, so each episode loses its last action, ends
    in a cut, and is left out if it had no other.
    """
    states, taken = numbers(observations, "observations"), numbers(actions, "actions")
    ended = np.asarray(dones)
    if states.ndim != 3 or taken.ndim != 3 or states.shape[:2] != taken.shape[:2]:
        raise DemoError(
            f"observations {states.shape} and actions {taken.shape} do not go together",
            do="give [n_steps, n_envs, size] for both",
        )
    for name, flags in (("dones", ended), ("truncated", truncated)):
        if flags is not None and np.shape(flags) != states.shape[:2]:
            raise DemoError(
                f"has shape {np.shape(flags)}", name, f"give one flag a step: {states.shape[:2]}"
            )
    if truncated is not None:
        ended = ended.astype(np.bool_) | np.asarray(truncated).astype(np.bool_)
    episodes: list[tuple[Any, Any]] = []
    short = 0
    for env in range(states.shape[1]):
        stops = [*(np.flatnonzero(ended[:, env]) + 1).tolist(), len(states)]
        start = 0
        for stop in stops:
            if stop - start >= 2:
                episodes.append((states[start:stop, env], taken[start : stop - 1, env]))
            elif stop - start == 1:
                short += 1
            start = stop
    if short:
        warnings.warn(f"{short} episodes of one step left out", DemoWarning, stacklevel=2)
    return Demos.from_arrays(
        [s for s, _ in episodes],
        [a for _, a in episodes],
        terminated=np.zeros(len(episodes), dtype=np.bool_),
        about={"ends": "lost in the restart of the environments"} | (about or {}),
    )


def from_minari(source: str | Path | Any) -> Demos:
    """A local Minari dataset, by its id, its folder or itself; nothing is downloaded.

    Rewards stay behind. HDF5 is read by its C library: take datasets from people you trust.
    """
    with naming(source if isinstance(source, str | Path) else "the Minari dataset"):
        minari = _minari()
        try:
            dataset = _dataset(minari, source) if isinstance(source, str | Path) else source
            episodes = list(dataset.iterate_episodes())
        except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
            raise DemoError(
                f"is not a local Minari dataset ({error})",
                do="`minari list local` shows what is here, `minari download ID` gets more",
            ) from None
        for i, episode in enumerate(episodes):
            if not isinstance(episode.observations, np.ndarray):
                raise DemoError(
                    f"are {type(episode.observations).__name__}",
                    f"trajectory {i}, observations",
                    "flatten them to one vector first, or read its main_data.hdf5 with "
                    "keys observations=observations/NAME",
                )
        about = {"source": f"minari {dataset.spec.dataset_id}"}
        if dataset.spec.env_spec is not None:
            about["env"] = dataset.spec.env_spec.id
        return Demos.from_arrays(
            [episode.observations for episode in episodes],
            [episode.actions for episode in episodes],
            terminated=np.array([bool(episode.terminations[-1]) for episode in episodes]),
            about=about,
        )


def _dataset(minari: Any, source: str | Path) -> Any:
    folder = Path(source)
    if folder.is_dir():
        inner = folder / "data"
        return minari.MinariDataset(inner if inner.is_dir() else folder)
    name = str(source)
    try:
        return minari.load_dataset(name, download=False)
    except (OSError, ValueError, KeyError):
        if not name.startswith(MINARI):
            raise
        return minari.load_dataset(name.removeprefix(MINARI), download=False)


def to_minari(demos: Demos, dataset_id: str, env_id: str) -> None:
    """Write a local Minari dataset. Its rewards are nan: Minari wants some, we have none."""
    minari = _minari()
    if demos.actions is None:
        raise DemoError("has no actions", do="Minari keeps pairs: give demonstrations with actions")
    episodes = []
    for states, taken, ended in zip(
        demos.observations, demos.actions, demos.terminated, strict=True
    ):
        last = np.zeros(len(taken), dtype=np.bool_)
        last[-1] = True
        episodes.append(
            minari.data_collector.EpisodeBuffer(
                observations=states,
                actions=taken,
                rewards=np.full(len(taken), np.nan),
                terminations=last & ended,
                truncations=last & ~ended,
                infos={},
            )
        )
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of missing authors
            minari.create_dataset_from_buffers(
                dataset_id, episodes, env=env_id, description="written by soar-il; rewards are nan"
            )
    except (OSError, ValueError, AssertionError) as error:
        raise DemoError(f"cannot be written ({error})", dataset_id, "choose another id") from None


def _minari() -> Any:
    try:
        import minari
        import minari.data_collector
    except ImportError:
        raise DemoError(
            "no such file or folder is here, and minari is not installed to look for a dataset",
            do=f"check the spelling, or {INSTALL}",
        ) from None
    return minari


def read(
    source: Any,
    shift: int = 0,
    actions: Path | str | None = None,
    keys: Keys | None = None,
) -> Demos:
    """Demonstrations from a path, a Minari id, or what is in memory (see memory.py).

    ``keys`` maps our names to those of the data, for .npz, .hdf5 and dictionaries. ``shift=1``
    where row t is (s_{t+1}, a_t); a .demos folder and Minari are aligned already. ``actions``:
    another .npy beside an .npy.
    """
    named.check_keys(keys)
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "iterate_episodes"):
            return from_minari(source)
        return memory.read(source, keys, shift)
    path = Path(source)
    if not path.exists() and (there := places.known(str(source))) is not None:
        path = there  # an environment's name: the user's own demonstrations, or the shipped ones
    kind = _kind(path)
    if kind in PICKLES:
        raise DemoError(
            "is a pickle, which can run code",
            str(path),
            "load it where you trust the file, then give Demos.load the list of trajectories, or "
            "save the arrays with numpy.savez",
        )
    if kind == ".npz":
        return npz.read(path, shift, keys)
    if kind == ".hdf5":
        return hdf5.read(path, keys, shift)
    named.refuse_keys(keys, str(path))
    if kind == ".npy":
        states = _npy(path)
        taken = None if actions is None else _npy(Path(actions))
        with naming(path):
            return from_tensors(states, taken, shift=shift, about={"source": path.name})
    if shift:
        raise DemoError("is aligned by definition", str(path), "leave shift out")
    return store.read(path) if kind == ".demos" else from_minari(source)


def _kind(path: Path) -> str:
    """The suffix that the source should have had; "minari" for an id or a folder of theirs."""
    suffix = {".h5": ".hdf5"}.get(path.suffix, path.suffix)
    if suffix in (*PICKLES, ".npz", ".npy", ".hdf5"):
        return suffix
    try:
        there, folder = os.path.lexists(path), os.path.isdir(path)
    except ValueError as error:
        raise DemoError(f"cannot be read ({error})", str(path), "check the path") from None
    if suffix == ".demos" or (folder and os.path.exists(path / "manifest.json")):
        if there:
            return ".demos"
        raise DemoError("does not exist", str(path), "check the spelling")
    if folder:
        if os.path.exists(path / "dataset_info.json"):
            raise DemoError(
                "is a dataset of HuggingFace",
                str(path),
                "give Demos.load the list that imitation.data.serialize.load makes of it",
            )
        return "minari"
    if there:
        with safe.regular(path) as (file, _):
            start = file.read(4)
        known = [kind for begins, kind in STARTS.items() if start.startswith(begins)]
        if known:
            return known[0]
        raise DemoError("is of no known kind", str(path), KNOWN)
    if suffix not in ("", *(f".{n}" for n in range(10))) or path.is_absolute():
        raise DemoError("does not exist", str(path), "check the spelling")
    return "minari"


def _npy(path: Path) -> np.ndarray:
    with naming(path), safe.regular(path) as (file, size):
        return safe.npy(file, size)
