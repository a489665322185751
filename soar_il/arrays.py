"""Named arrays as bytes (safetensors), exactly."""

import json
import struct
from collections.abc import Mapping

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from soar_il.errors import StorageError

MOST_NOTE = 2**24
# What safetensors both writes and reads with numpy; bfloat16, for one, it writes only.
DTYPES = {
    *("bool", "float16", "float32", "float64", "complex64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
}


def plain(name: str, array: np.ndarray) -> np.ndarray:
    """The array in C order and little-endian, which is all that safetensors writes correctly."""
    array = np.asarray(array)
    if array.dtype.name not in DTYPES:
        do = f"convert it to one of: {', '.join(sorted(DTYPES))}"
        raise StorageError(f"dtype {array.dtype} cannot be stored", f"array {name!r}", do)
    # Not ascontiguousarray, which turns a scalar array into a vector.
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def pack(arrays: Mapping[str, np.ndarray], note: Mapping[str, str] | None = None) -> bytes:
    """The same bytes for the same arrays, in whatever order they come; ``note`` has one entry."""
    if "__metadata__" in arrays:
        raise StorageError(
            "the name is reserved by the format", "array '__metadata__'", "rename it"
        )
    stored = {name: plain(name, arrays[name]) for name in sorted(arrays)}
    return safetensors.numpy.save(stored, None if note is None else dict(note))


def note(data: bytes) -> dict[str, str]:
    """What ``pack`` was given beside the arrays; ValueError if there is nothing of that kind."""
    length = struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else 0
    if not 2 <= length <= min(MOST_NOTE, len(data) - 8):
        raise ValueError("not a safetensors file with a note")
    header = json.loads(data[8 : 8 + length])
    found = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(found, dict) or not all(isinstance(x, str) for x in found.values()):
        raise ValueError("not a safetensors file with a note")
    return found


def unpack(data: bytes) -> dict[str, np.ndarray]:
    """What ``pack`` was given; ValueError if ``data`` is not of its making."""
    try:
        return dict(sorted(safetensors.numpy.load(data).items()))  # it comes in no set order
    except (SafetensorError, KeyError) as error:
        raise ValueError(f"not a safetensors file of known dtypes ({error})") from error
