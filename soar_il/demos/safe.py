"""Reading files that may lie: sizes are checked before memory is taken, and nothing is executed."""

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np

from soar_il import files
from soar_il.errors import DemoError, StorageError
from soar_il.files import Fields

MIB = 2**20
NPY_HEADER = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z]\d{0,6})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*(?:\d{1,18})?)\), ?\} *\n?"
)
LONGEST_NPY_HEADER = 4096
MEMBER = re.compile(r"\w[\w./-]{0,199}\.npy")  # D4RL has names with slashes; none becomes a path
MOST_MEMBERS_BYTES = 64 * 1024  # of the zip directory: some hundred arrays
FREE_INFLATION = 64 * MIB
MOST_INFLATION = 100  # deflate of real measurements stays below 10
AGAIN = "the file is damaged or was made to deceive: get it again"


@contextmanager
def regular(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """An open file and its size; a pipe, a device or a folder is refused without waiting on it."""
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(files.regular(path))
        except StorageError as error:
            raise DemoError(error.what, do=error.do) from None
        yield opened


def json_object(data: bytes) -> Fields:
    """A JSON object."""
    try:
        return files.json_object(data, "")
    except StorageError as error:
        raise DemoError(error.what, do=AGAIN) from None


def npy(stream: IO[bytes], size: int) -> np.ndarray:
    """The array in ``size`` bytes of .npy.

    The header is matched, not evaluated, and must announce exactly the bytes that are there.
    """
    start = stream.read(8)
    if len(start) < 8 or start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise DemoError("is not .npy data", do="write it with numpy.save or numpy.savez")
    form = "<H" if start[6] == 1 else "<I"
    raw = stream.read(struct.calcsize(form))
    length = struct.unpack(form, raw)[0] if len(raw) == struct.calcsize(form) else size
    if length > min(size, LONGEST_NPY_HEADER):
        raise DemoError(f"announces a header of {length} bytes", do=AGAIN)
    match = NPY_HEADER.fullmatch(stream.read(length))
    if not match:
        raise DemoError(
            "has a header that is not of a plain array", do="give arrays of plain numbers"
        )
    descr, fortran, dims = (group.decode("ascii") for group in match.groups())
    try:
        dtype = np.dtype(descr)
    except TypeError:
        raise DemoError(f"is of the unknown type {descr!r}", do=AGAIN) from None
    if dtype.hasobject:
        raise DemoError("holds Python objects", do="give arrays of plain numbers")
    shape = tuple(int(number) for number in dims.replace(" ", "").split(",") if number)
    wanted = math.prod(shape) * dtype.itemsize
    there = size - len(start) - len(raw) - length
    if wanted != there or len(shape) > 8:
        raise DemoError(f"announces {wanted:,} bytes in shape {shape} and has {there:,}", do=AGAIN)
    data = stream.read(wanted)
    if len(data) != wanted:
        raise DemoError(f"ends after {len(data):,} of {wanted:,} bytes", do=AGAIN)
    array: np.ndarray = np.frombuffer(data, dtype=dtype)
    return array.reshape(shape, order="F" if fortran == "True" else "C")


@contextmanager
def archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """An open .npz whose directory is small and whose members do not inflate beyond reason."""
    with regular(path) as (file, size):
        _check_directory(file, size)
        try:
            with zipfile.ZipFile(file) as opened:
                _check_members(opened, size)
                yield opened
        except (
            zipfile.BadZipFile,
            zlib.error,
            struct.error,
            OSError,
            EOFError,
            ValueError,
            RuntimeError,  # encrypted
            NotImplementedError,
        ) as error:
            raise DemoError(f"is not a usable .npz ({error})", do=AGAIN) from None


def _check_directory(file: BinaryIO, size: int) -> None:
    file.seek(max(0, size - 22 - 65535))
    tail = file.read(22 + 65535)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:
        raise DemoError("is not an .npz file", do="write it with numpy.savez")
    long = at >= 20 and tail[at - 20 : at - 16] == b"PK\x06\x07"  # numpy writes it above 2 GiB
    directory = struct.unpack("<I", tail[at + 12 : at + 16])[0]
    if directory > MOST_MEMBERS_BYTES or (long and size < 2**31 - 2 * MOST_MEMBERS_BYTES):
        raise DemoError("announces too many arrays", do=AGAIN)
    file.seek(0)


def _check_members(opened: zipfile.ZipFile, size: int) -> None:
    names = [member.filename for member in opened.infolist()]
    for member in opened.infolist():
        if not MEMBER.fullmatch(member.filename) or ".." in member.filename:
            raise DemoError(f"has a member called {member.filename!r}", do=AGAIN)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DemoError(f"{member.filename} is packed in an unknown way", do=AGAIN)
    if len(set(names)) != len(names):
        raise DemoError("has two members of one name", do=AGAIN)
    inflated = sum(member.file_size for member in opened.infolist())
    if inflated > max(FREE_INFLATION, MOST_INFLATION * size):
        raise DemoError(f"would grow from {size:,} to {inflated:,} bytes", do=AGAIN)


def member(opened: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array of an .npz."""
    with opened.open(f"{name}.npy") as stream:
        return npy(stream, opened.getinfo(f"{name}.npy").file_size)
