"""Named arrays as bytes (safetensors), exactly."""

from collections.abc import Mapping

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from soar_il.errors import StorageError

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


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The same bytes for the same arrays, in whatever order they come."""
    if "__metadata__" in arrays:
        raise StorageError(
            "the name is reserved by the format", "array '__metadata__'", "rename it"
        )
    return safetensors.numpy.save({name: plain(name, arrays[name]) for name in sorted(arrays)})


def unpack(data: bytes) -> dict[str, np.ndarray]:
    """What ``pack`` was given; ValueError if ``data`` is not of its making."""
    try:
        return dict(sorted(safetensors.numpy.load(data).items()))  # it comes in no set order
    except (SafetensorError, KeyError) as error:
        raise ValueError(f"not a safetensors file of known dtypes ({error})") from error
