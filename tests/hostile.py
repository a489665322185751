"""How to make files that deceive."""

import hashlib
import io
import json
import os
import pickle
import struct
import warnings
import zipfile

import numpy as np


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch exploded",))


PICKLE = pickle.dumps(Bomb())


def npy(header, data=b"", version=1):
    packed = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + packed + header + data


def header(shape, descr="'<f4'"):
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:
            file.writestr(name, content)


def plain(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(name="x.npz", **members):
    def make(tmp):
        zipped(tmp / name, [(f"{k}.npy", v) for k, v in members.items()])
        return tmp / name

    return make


def named(*names):
    def make(tmp):
        zipped(tmp / "x.npz", [(name, plain(np.zeros((2, 3, 4)))) for name in names])
        return tmp / "x.npz"

    return make


def zip_bomb(tmp):
    zeros = b"\0" * 2**20
    with (
        zipfile.ZipFile(tmp / "x.npz", "w", zipfile.ZIP_DEFLATED) as file,
        file.open("observations.npy", "w", force_zip64=True) as stream,
    ):
        stream.write(npy(header((1, 200 * 2**18, 1))))
        for _ in range(200):
            stream.write(zeros)
    return tmp / "x.npz"


def lying_directory(tmp):
    """The directory says 1 GiB of a member that has 24 floats."""
    path = named("observations.npy")(tmp)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 2**30)
    path.write_bytes(data)
    return path


def many_members(tmp):
    zipped(tmp / "x.npz", [(f"a{i}.npy", b"") for i in range(5000)])
    return tmp / "x.npz"


def encrypted(tmp):
    path = named("observations.npy")(tmp)
    data = bytearray(path.read_bytes())
    for at in (6, data.rfind(b"PK\x01\x02") + 8):
        data[at] |= 1
    path.write_bytes(data)
    return path


def raw(name, content):
    def make(tmp):
        (tmp / name).write_bytes(content)
        return tmp / name

    return make


def folder(data=None, manifest=None):
    """A folder whose manifest vouches for the hostile data."""

    def make(tmp):
        path = tmp / "x.demos"
        path.mkdir()
        content = data if data is not None else b""
        (path / "data.safetensors").write_bytes(content)
        said = {
            "format": "soar-il demos",
            "version": 1,
            "data": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()},
            "about": {},
        }
        (path / "manifest.json").write_bytes(
            manifest if manifest is not None else json.dumps(said).encode()
        )
        return path

    return make


def safetensor(offsets=(0, 32), shape=(4, 2), size=88, **changes):
    entries = {
        "observations": {"dtype": "F32", "shape": list(shape), "data_offsets": list(offsets)},
        "lengths": {"dtype": "I64", "shape": [1], "data_offsets": [32, 40]},
        "terminated": {"dtype": "BOOL", "shape": [1], "data_offsets": [40, 41]},
    } | changes
    text = json.dumps({k: v for k, v in entries.items() if v is not None}).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size - 47)


def linked(inner, target):
    def make(tmp):
        path = folder()(tmp) if inner else tmp
        place = path / (inner or "x.npz")
        place.unlink(missing_ok=True)
        os.mkfifo(place) if target == "fifo" else place.symlink_to(target)
        return path if inner else place

    return make


HUGE = struct.pack("<Q", 100 * 2**20)
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
FILES = {
    **{
        f"a pickle called {name}": raw(name, PICKLE)
        for name in ("x.npz", "x.npy", "x.demos", "x.safetensors", "x.pkl", "x.pt", "x", "x.json")
    },
    "a pickle as data": folder(PICKLE),
    "a pickle as manifest": folder(manifest=PICKLE),
    "a pickle in a member": npz(observations=PICKLE),
    "a pickled array": npz(observations=npy(header("(1,)", "'|O'"), PICKLE)),
    "a pickled array of npy": raw("x.npy", npy(header("(1,)", "'|O'"), PICKLE)),
    "a zip bomb": zip_bomb,
    "a directory that lies": lying_directory,
    "too many members": many_members,
    "encrypted": encrypted,
    "an empty zip": raw("x.npz", b"PK\x05\x06" + b"\0" * 18),
    "a member out of the folder": named("../observations.npy"),
    "a member at the root": named("/observations.npy"),
    "a member with a NUL": named("observ\0ations.npy"),
    "a member in a folder": named("a/observations.npy"),
    "a member twice": named("observations.npy", "observations.npy"),
    "a member that is no array": named("observations.txt"),
    "80 bytes that claim 32 GiB": npz(observations=npy(header((2**20, 2**11, 4)))),
    "80 bytes of npy that claim 32 GiB": raw("x.npy", npy(header((2**20, 2**11, 4)))),
    "a shape that overflows": npz(observations=npy(header((2**62, 2**62, 4)))),
    "a negative shape": npz(observations=npy(header((-1, 4, 4)))),
    "a shape of many axes": npz(observations=npy(header((1,) * 64))),
    "a long header": npz(observations=npy(b" " * 60_000)),
    "a header longer than the file": npz(
        observations=b"\x93NUMPY\x02\0\xff\x0f\0\0" + header((1, 2))
    ),
    "a header that calls": npz(observations=npy(b"__import__('os').system('touch exploded')")),
    "a header of records": npz(observations=npy(header((2,), "[('a', '<f4')]"), b"\0" * 8)),
    "a header of an unknown type": npz(observations=npy(header((2,), "'<z9'"), b"\0" * 18)),
    "a header cut off": npz(observations=b"\x93NUMPY\x01"),
    "an unknown npy version": npz(observations=npy(header((2, 2)), b"\0" * 16, version=9)),
    "overlapping tensors": folder(
        safetensor(terminated={"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]})
    ),
    "negative offsets": folder(safetensor(offsets=(-32, 0))),
    "overflowing offsets": folder(safetensor(offsets=(0, 2**64 - 1))),
    "offsets beyond 64 bits": folder(safetensor(offsets=(0, 2**80))),
    "offsets beyond the file": folder(safetensor(offsets=(0, 4096), shape=(512, 2))),
    "an overflowing tensor shape": folder(safetensor(shape=(2**62, 8))),
    "a tensor of another type": folder(
        safetensor(observations={"dtype": "BF16", "shape": [1, 1], "data_offsets": [0, 2]})
    ),
    "rewards in our own format": folder(
        safetensor(rewards={"dtype": "F32", "shape": [1], "data_offsets": [41, 45]})
    ),
    "an array nobody knows": folder(
        safetensor(extra={"dtype": "F32", "shape": [1], "data_offsets": [41, 45]})
    ),
    "no lengths": folder(safetensor(lengths=None)),
    "a tensor entry of text": folder(safetensor(lengths="x")),
    "a header of 100 MB": folder(HUGE + b"{}"),
    "a header of 2**63": folder(struct.pack("<Q", 2**63) + b"{}"),
    "ten thousand tensors": folder(safetensor(**{f"a{i}": {} for i in range(10_000)})),
    "no header": folder(b"abc"),
    "deep JSON as header": folder(struct.pack("<Q", 60_000) + DEEP[:60_000]),
    "deep JSON as manifest": folder(manifest=DEEP),
    "deep lists as manifest": folder(manifest=b"[" * 1_000_000),
    "a manifest of 40 MB": folder(manifest=b" " * (40 * 2**20)),
    "a manifest of long digits": folder(manifest=b'{"version": ' + b"9" * 100_000 + b"}"),
    "a manifest that is not text": folder(manifest=b"\xff\xfe\x00"),
    "a link to /dev/zero": linked("", "/dev/zero"),
    "a pipe": linked("", "fifo"),
    "data from /dev/zero": linked("data.safetensors", "/dev/zero"),
    "data from a pipe": linked("data.safetensors", "fifo"),
    "a manifest from /dev/zero": linked("manifest.json", "/dev/zero"),
    "a manifest from a pipe": linked("manifest.json", "fifo"),
    "a link to itself": linked("", "x.npz"),
    "a name with a NUL": lambda tmp: f"{tmp}/a\0.npz",
}
