"""One number for the whole of a state: two runs agree exactly or they do not."""

import hashlib
import json
from collections.abc import Mapping

import numpy as np

from soar_il.arrays import plain


def fingerprint(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, dtypes, shapes and bytes; memory layout and order do not matter."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = plain(name, arrays[name])
        head = json.dumps([name, array.dtype.name, array.shape])
        digest.update(head.encode() + b"\n")
        digest.update(array.tobytes())
    return digest.hexdigest()
