"""Files made to deceive: refused within a second, and nothing runs."""

import hashlib
import io
import json
import os
import pickle
import random
import resource
import struct
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from soar_il.demos import Demos, convert
from soar_il.errors import DemoWarning, SoarError


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


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", FILES)
def test_is_refused_at_once(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = FILES[name](tmp_path)
    started, memory = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (Demos.load, convert.read):
        with pytest.raises(SoarError) as caught:
            read(path)
        assert "what to do" in str(caught.value)
    assert time.perf_counter() - started < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 256 * 1024
    assert not (tmp_path / "exploded").exists()


WATCHED = """
import sys, warnings
from pathlib import Path
import numpy as np
from soar_il.demos import Demos, align, check, convert, npz, store
from soar_il.errors import SoarError

FORBIDDEN = ("exec", "compile", "pickle.", "os.system", "os.exec", "os.posix_spawn", "os.fork",
             "subprocess.", "socket.", "ctypes.", "marshal.")
seen = []

def watch(event, args):
    if event.startswith(FORBIDDEN) or (event == "open" and isinstance(args[1], str)
                                       and set(args[1]) & set("wax+")):
        seen.append((event, str(args)[:200]))

folder = Path(sys.argv[1])
try:  # what is imported on first use is code of ours, not of the files
    convert.from_minari("nothing")
except SoarError:
    pass
Demos.load(folder / "good.demos"), Demos.load(folder / "good.npz")
warnings.simplefilter("ignore")
sys.addaudithook(watch)
refused = loaded = 0
for path in sorted(folder.rglob("x*")) + [folder / "good.demos", folder / "good.npz"]:
    for read in (Demos.load, convert.read):
        try:
            read(path)
            loaded += 1
        except SoarError:
            refused += 1
print(refused, loaded, seen)
"""


def test_loading_executes_nothing(tmp_path):
    rng = np.random.default_rng(0)
    demos = Demos.from_arrays(rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 3, 1)))
    demos.save(tmp_path / "good.demos")
    demos.save(tmp_path / "good.npz")
    for i, name in enumerate(FILES):
        if "NUL" not in name:
            (tmp_path / f"_{i}").mkdir()
            FILES[name](tmp_path / f"_{i}")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stderr
    refused, loaded, seen = done.stdout.split(" ", 2)
    assert seen.strip() == "[]"
    assert (int(refused) >= 2 * 50, loaded) == (True, "4")
    assert not list(tmp_path.rglob("exploded"))


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(4)
        at = rng.randrange(max(1, len(data)))
        if kind == 0 and data:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.randrange(64)]
        elif kind == 2:
            data[at:at] = data[rng.randrange(max(1, len(data))) :][: rng.randrange(64)]
        else:
            data[at : at + 4] = struct.pack("<I", rng.choice([0, 1, 2**31, 2**32 - 1]))
    return bytes(data)


@pytest.mark.parametrize("target", ["x.npz", "x.demos/manifest.json", "x.demos/data.safetensors"])
def test_damaged_files_raise_nothing_else(tmp_path, target):
    rng = random.Random(target)
    demos = Demos.from_arrays(np.arange(24.0).reshape(2, 4, 3), np.zeros((2, 3, 1)))
    demos.save(tmp_path / "x.npz")
    demos.save(tmp_path / "x.demos")
    path, data = tmp_path / target, (tmp_path / target).read_bytes()
    manifest = tmp_path / "x.demos" / "manifest.json"
    said = json.loads(manifest.read_text())
    root = tmp_path / target.split("/")[0]
    refused = 0
    for _ in range(400):
        content = mutated(data, rng)
        path.write_bytes(content)
        if target.endswith("safetensors"):  # past the hash, to the parser
            said["data"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            manifest.write_text(json.dumps(said))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DemoWarning)
            try:
                Demos.load(root)
            except SoarError:
                refused += 1
    assert refused > 200


def test_the_safetensors_made_here_would_load_if_they_were_sound():
    sound = safetensors.numpy.load(safetensor(size=88))
    assert sound["observations"].shape == (4, 2)


def test_a_flipped_number_in_an_npz_is_seen(tmp_path):
    np.savez(tmp_path / "x.npz", obs=np.full((2, 3, 4), 1.0))
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[data.find(struct.pack("<d", 1.0)) + 3] ^= 1
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(SoarError, match="CRC"):
        Demos.load(tmp_path / "x.npz")


def test_our_own_format_says_why_rewards_are_refused(tmp_path):
    path = FILES["rewards in our own format"](tmp_path)
    with pytest.raises(SoarError, match=r"holds 'rewards'\n.*demonstrations carry no rewards"):
        Demos.load(path)
