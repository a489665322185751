"""Three small demonstrations, as D4RL and as HDF5 keep them."""

import numpy as np
import pytest

from soar_il.demos import Demos

h5py = pytest.importorskip("h5py")

SIZES = (7, 5, 4)
ENDED = np.array([True, False, True])
RNG = np.random.default_rng(0)
S = [RNG.normal(size=(n + 1, 3)).astype("f4") for n in SIZES]
A = [RNG.normal(size=(n, 2)).astype("f4") for n in SIZES]
WHOLE = Demos.from_arrays(S, A, terminated=ENDED)


def flat(flags=True, following=True):
    """Rows as D4RL keeps them: as many observations as actions, ends marked by the step."""
    last = np.zeros(sum(SIZES), bool)
    last[np.cumsum(SIZES) - 1] = True
    ended = last.copy()
    ended[last] = ENDED
    held = {
        "observations": np.concatenate([s[:-1] for s in S]),
        "actions": np.concatenate(A),
        "rewards": np.ones(sum(SIZES), "f4"),
        "infos/qpos": np.zeros((sum(SIZES), 5)),
    }
    if following:
        held["next_observations"] = np.concatenate([s[1:] for s in S])
    return held | ({"terminals": ended, "timeouts": last & ~ended} if flags else {})


def to_hdf5(path, held):
    with h5py.File(path, "w") as file:
        for name, value in held.items():
            file.create_dataset(name, data=value, compression="gzip" if np.ndim(value) else None)
    return path


def same(demos):
    assert demos.hash == WHOLE.hash
    assert demos.terminated.tolist() == ENDED.tolist()
    return True
