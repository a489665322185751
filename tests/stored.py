"""What the tests of storage share."""

import subprocess
import sys

import faults
import numpy as np
from hypothesis import strategies as st

from soar_il.errors import StorageError

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def same(one, other):
    assert list(one) == sorted(other)
    for name, array in other.items():
        found, array = one[name], np.asarray(array)
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.shape == array.shape
        assert found.tobytes() == array.astype(found.dtype).tobytes()
        assert found.flags.writeable


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def temporaries(folder):
    return [name for name in names(folder) if name.startswith("tmp-")]


def attempt(action):
    """What the StorageError says, or nothing."""
    try:
        action()
    except StorageError as error:
        return str(error)
    return ""


def killed(tmp_path, scenario, power):
    """The folders a scenario leaves when killed at its first, second, ... call; the last ended."""
    subprocess.run([sys.executable, faults.__file__, scenario, str(tmp_path), power], check=True)
    return sorted(tmp_path.iterdir(), key=lambda folder: int(folder.name))


def no_warning(message):
    raise AssertionError(message)


def whole(found):
    """A checkpoint of ``faults.state`` with nothing of another one in it; its value."""
    expected, meta = faults.state(found.meta["value"])
    same(found.arrays, expected)
    assert found.meta == meta
    return meta["value"]
