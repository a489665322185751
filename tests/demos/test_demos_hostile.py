"""Files made to deceive: refused within a second, and nothing runs."""

import hashlib
import json
import random
import resource
import struct
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import safetensors.numpy
from hostile import FILES, safetensor

from soar_il.demos import Demos, convert
from soar_il.errors import DemoWarning, SoarError


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", FILES)
def test_is_refused_at_once(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = FILES[name](tmp_path)
    started, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for read in (Demos.load, convert.read):
        with pytest.raises(SoarError) as caught:
            read(path)
        assert "what to do" in str(caught.value)
    assert time.process_time() - started < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 256 * 1024
    assert not (tmp_path / "exploded").exists()


WATCHED = """
import importlib.readers, sys, warnings
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
