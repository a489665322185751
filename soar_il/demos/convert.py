"""Demonstrations from elsewhere; ``.npz`` files are in npz.py."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from soar_il.demos import align, npz, safe
from soar_il.demos.format import Demos
from soar_il.demos.validate import naming, numbers
from soar_il.errors import DemoError, DemoWarning

INSTALL = "pip install 'soar-il[minari]'"


def from_tensors(
    observations: Any,
    actions: Any = None,
    *,
    shift: int,
    lengths: Any = None,
    terminated: Any = None,
    about: dict[str, Any] | None = None,
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
    about: dict[str, Any] | None = None,
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


def from_minari(source: str | Path) -> Demos:
    """A local Minari dataset, by its id or its folder; nothing is downloaded, rewards stay behind.

    HDF5 is read by its C library: take datasets from people you trust.
    """
    minari = _minari()
    with naming(source):
        folder = Path(source)
        try:
            if folder.is_dir():
                inner = folder / "data"
                dataset = minari.MinariDataset(inner if inner.is_dir() else folder)
            else:
                dataset = minari.load_dataset(str(source), download=False)
            episodes = list(dataset.iterate_episodes())
        except (OSError, ValueError, KeyError, ImportError, AttributeError) as error:
            raise DemoError(
                f"is not a local Minari dataset ({error})", do="`minari list local` shows what is"
            ) from None
        for i, episode in enumerate(episodes):
            if not isinstance(episode.observations, np.ndarray):
                raise DemoError(
                    f"are {type(episode.observations).__name__}",
                    f"trajectory {i}, observations",
                    "flatten them to one vector first",
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
        raise DemoError("minari is not installed", do=INSTALL) from None
    return minari


def read(source: Path | str, shift: int = 0, actions: Path | str | None = None) -> Demos:
    """Any source by its path: .demos, .npz, .npy (with ``actions``, another .npy), or a Minari id.

    ``shift=1`` where row t is (s_{t+1}, a_t); a .demos folder and Minari are aligned already.
    """
    path = Path(source)
    if path.suffix in (".pt", ".pth", ".pkl", ".pickle"):
        raise DemoError(
            "is a pickle, which can run code",
            str(path),
            "save the arrays with numpy.savez where you trust the file",
        )
    if path.suffix == ".npz":
        return npz.read(path, shift)
    if path.suffix == ".npy":
        states = _npy(path)
        taken = None if actions is None else _npy(Path(actions))
        with naming(path):
            return from_tensors(states, taken, shift=shift, about={"source": path.name})
    if shift:
        raise DemoError("is aligned by definition", str(path), "leave shift out")
    if path.suffix == ".demos" or os.path.exists(path / "manifest.json"):
        return Demos.load(path)
    if os.path.lexists(path) and not os.path.isdir(path):
        raise DemoError("is of no known kind", str(path), "give .demos, .npz, .npy or a Minari id")
    return from_minari(source)


def _npy(path: Path) -> npt.NDArray[Any]:
    with naming(path), safe.regular(path) as (file, size):
        return safe.npy(file, size)
