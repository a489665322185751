"""JSON whose last field vouches for the bytes before it."""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Literal

from soar_il import files
from soar_il.errors import StorageError
from soar_il.files import Fields

Field = Literal["sha256", "crc"]
LONGEST = 80  # bytes of a seal


def seal(record: Fields, field: Field, indent: int | None = None) -> bytes:
    """JSON, on one line unless indented; ``record`` may not be empty, and holds no NaN."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(record, allow_nan=False, separators=separators, indent=indent)
    body = text.encode()[:-1]
    return body + _tail(body, field)


def unseal(line: bytes, field: Field) -> Fields:
    """The record; ValueError unless every byte is as ``seal`` wrote it."""
    body = line[: line.rfind(f',"{field}":'.encode())]
    if line != body + _tail(body, field):
        raise ValueError(f"its {field} does not match")
    try:
        return json.loads(body + b"}")
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def unsealed(path: Path) -> Fields:
    """The record in a file: sealed with a SHA-256, or of an earlier soar-il, which had no seals."""
    return opened(files.read(path, files.MOST_JSON), str(path))


def opened(data: bytes, where: str) -> Fields:
    """The same of the file's content; StorageError if it is damaged.

    The caller checks the names, for a seal that is damaged beyond recognition is one more name.
    """
    if b',"sha256":"' not in data[-LONGEST:]:
        return files.json_object(data, where)
    try:
        return unseal(data, "sha256")
    except ValueError as error:
        raise StorageError(f"is damaged or was changed: {error}", where, files.DAMAGED) from None


def _tail(body: bytes, field: Field) -> bytes:
    digest = hashlib.sha256(body).hexdigest() if field == "sha256" else f"{zlib.crc32(body):08x}"
    return f',"{field}":"{digest}"}}\n'.encode()
