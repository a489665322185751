"""Whatever is in a file, reading it gives what was written or one of our errors, nothing else."""

import contextlib
import dataclasses
import hashlib
import io
import json
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import soak
import tiny
from hypothesis import strategies as st

from soar_il import arrays, config
from soar_il.configure import resolve
from soar_il.demos import Demos
from soar_il.errors import DemoWarning, SoarError
from soar_il.experts import shipped
from soar_il.policy import Policy, file
from soar_il.policy.sight import Sight
from soar_il.runs import checkpoint, log, origin, plans, segments
from soar_il.seal import seal, unseal
from soar_il.sweep import book, folder

EXAMPLES = soak.counts(40, 4800)  # of each kind: 100,000 and more in all
KEYS = st.sampled_from(["", "format", "k", "a.b", "sha256", "\x00", "ä"]) | st.text(max_size=3)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=4,
)
BYTES = st.lists(
    st.tuples(
        st.sampled_from(["set", "cut", "add", "copy", "number"]),
        st.integers(0, 2**20),
        st.binary(min_size=1, max_size=12),
    ),
    min_size=1,
    max_size=4,
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(["set", "drop", "add"]), st.integers(0, 2**10), KEYS, JSON),
    min_size=1,
    max_size=3,
)


def spoilt(data, edits):
    """Bytes with some of them exchanged, removed, inserted, repeated, or made large numbers."""
    data = bytearray(data)
    for kind, at, new in edits:
        at %= len(data) + 1
        if kind == "set":
            data[at : at + len(new)] = new
        elif kind == "cut":
            del data[at : at + 7 * new[0]]
        elif kind == "add":
            data[at:at] = new
        elif kind == "copy":
            data[at:at] = data[new[0] : new[0] + 5 * len(new)]
        else:
            data[at : at + 8] = struct.pack("<q", [0, -1, 2**31, 2**62, 10**8][new[0] % 5])
    return bytes(data)


def places(value):
    """Every dictionary and list inside, with the names or numbers of what it holds."""
    if isinstance(value, dict | list):
        names = list(value) if isinstance(value, dict) else range(len(value))
        for name in names:
            yield value, name
            yield from places(value[name])


def changed(record, edits):
    """JSON with some values exchanged, removed or added."""
    record = json.loads(json.dumps(record))
    for kind, at, name, new in edits:
        inside = list(places(record))
        if not inside:
            return {name: new}
        room, where = inside[at % len(inside)]
        if kind == "set":
            room[where] = new
        elif kind == "drop":
            del room[where]
        elif isinstance(room, dict):
            room[name] = new
        else:
            room.append(new)
    return record


def policy():
    rng = np.random.default_rng(0)
    layers = tuple(
        (rng.normal(size=(a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in ((3, 4), (4, 4))
    )
    sight = Sight(np.zeros(2, np.float32), np.ones(2, np.float32), "absorbing", 10.0, 40, 0.9)
    bounds = np.full(2, -1, np.float32), np.ones(2, np.float32)
    return Policy("Own-v0", 1, 2, layers, sight, *bounds, observation_size=2)


def vouched(card, stored):
    """A policy file whose hash is right, whatever its card says."""
    note = json.dumps({file.HASH: file.UNKNOWN, "format": 2, "card": card})
    data = arrays.pack(stored, {file.CARD: note})
    digest = hashlib.sha256(data).hexdigest().encode()
    return data.replace(file.UNKNOWN.encode(), digest, 1)


class Kind:
    """A reader; a sound file for it; how to write one that is not."""

    def __init__(self, read, path="x", sound=b"", forge=None, beside=()):
        self.read, self.path, self.sound, self.forge, self.beside = read, path, sound, forge, beside

    def put(self, root, content):
        for name, text in self.beside:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(text)
        path = root / self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


def sealed(record):
    return seal(record, "sha256", indent=1)


def state_of(root, content):
    """A checkpoint whose manifest vouches for this state."""
    manifest = json.loads((root / "1" / checkpoint.MANIFEST).read_text())
    del manifest["sha256"]
    digest = hashlib.sha256(content).hexdigest()
    manifest["files"] = {checkpoint.STATE: {"size": len(content), "sha256": digest}}
    (root / "1" / checkpoint.MANIFEST).write_bytes(seal(manifest, "sha256"))
    return checkpoint.load(root / "1")


def segment_of(path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return segments.read(path.parent, segments.Segment(path.name, digest))


def data_of(path):
    """Demonstrations whose manifest vouches for these data."""
    content, manifest = path.read_bytes(), path.parent / "manifest.json"
    said = unseal(manifest.read_bytes(), "sha256")
    said["data"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_bytes(sealed(said))
    return Demos.load(path.parent)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def made(root):
    """Every kind, from files made by the code that writes them."""
    stored = {"a": np.zeros((2, 3), np.float32), "b": np.arange(4)}
    meta = {"segments": [["000000001.safetensors", "00"]], "steps": 3}
    generation = checkpoint.save(root / "checkpoints", 1, stored, meta)
    state, manifest = ((generation / n).read_bytes() for n in (checkpoint.STATE, "manifest.json"))
    segments.write(root, 1, stored)
    with log.Log(root / "log") as lines:
        for k in range(4):
            lines.append({"k": k, "steps": 60 * k, "q": 0.5})
    plans.write(root, {"steps": 60, "evaluate_every": 5, "episodes": 2} | LAST)
    demos = tiny.demos(2)
    demos.save(root / "x.demos")
    demos.save(root / "x.npz")
    policy().save(root / "policy")
    weights = arrays.unpack((root / "policy").read_bytes())
    cfg = json.loads(json.dumps(config_of()))
    said = {"title": "x", "command": "train", "purpose": "report", "trained": True, "demos": {}}
    said["jobs"] = [{"name": "a", "options": {"env": "Point-v0"}, "settings": None}]
    held = unseal((root / "x.demos" / "manifest.json").read_bytes(), "sha256")
    data = (root / "x.demos" / "data.safetensors").read_bytes()
    no_hashes = ((origin.PROVENANCE, b'{"format": 1}'),)
    card = {"env": "Point-v0", "file": "x", "sha256": "0", "return": 1.0}
    toml = b'extends = "ml-irl/tuned"\nseed = 3\n[learner]\nalpha = 0.1\nhidden = [16, 16]\n'
    whole = ((f"1/{checkpoint.STATE}", state), ("1/manifest.json", manifest))
    vouching = (("x.demos/data.safetensors", data), ("x.demos/manifest.json", sealed(held)))
    return {
        "config": Kind(
            lambda p: origin.read_config(p.parent), "config.json", cfg, json_bytes, no_hashes
        ),
        "provenance": Kind(
            lambda p: origin.check(p.parent, True, str), "provenance.json",
            {"format": 2, "files": {}, "versions": {}}, sealed,
        ),
        "plan": Kind(
            lambda p: plans.read(p.parent), "plan.json", {"steps": 60} | LAST, sealed
        ),
        "book": Kind(book.read, "x.sweep.json", said, sealed),
        "done": Kind(
            lambda p: folder.pace(p.parent), "done.json",
            {"seconds": 1.0, "since": 0, "steps": 60}, json_bytes,
        ),
        "failed": Kind(
            lambda p: folder.problem(p.parent), "failed.json", {"problem": "x"}, json_bytes
        ),
        "card": Kind(lambda p: shipped.cards(p.parent), "x.json", card, json_bytes),
        "policy": Kind(
            Policy.load, "policy", policy().card, lambda card: vouched(card, weights)
        ),
        "old policy": Kind(
            Policy.load, "policy", {"format": 1, "k": 1, "steps": 2, "env": "x"} | VIEW,
            lambda about: arrays.pack(
                weights | {"about": np.frombuffer(json_bytes(about), np.uint8)}
            ),
        ),
        "log": Kind(log.read, "log", {"k": 1, "steps": 3}, lambda r: seal(r or {"k": 1}, "crc")),
        "lines": Kind(log.read, "log", (root / "log").read_bytes()),
        "cut lines": Kind(lambda p: log.cut(p, 2, str), "log", (root / "log").read_bytes()),
        "progress": Kind(
            lambda p: folder.reached(p.parent), "scores.jsonl", (root / "log").read_bytes()
        ),
        "manifest": Kind(
            lambda p: checkpoint.load(p.parent), "1/manifest.json",
            {k: v for k, v in json.loads(manifest).items() if k != "sha256"},
            lambda r: seal(r or {"k": 1}, "sha256"), whole,
        ),
        "state": Kind(
            lambda p: state_of(p.parents[1], p.read_bytes()), f"1/{checkpoint.STATE}", state,
            None, whole,
        ),
        "segment": Kind(
            segment_of, "000000001.safetensors", (root / "000000001.safetensors").read_bytes()
        ),
        "policy's bytes": Kind(Policy.load, "policy", (root / "policy").read_bytes()),
        "demonstrations' manifest": Kind(
            lambda p: Demos.load(p.parent), "x.demos/manifest.json", held, sealed, vouching
        ),
        "demonstrations' data": Kind(data_of, "x.demos/data.safetensors", data, None, vouching),
        "npz": Kind(Demos.load, "x.npz", (root / "x.npz").read_bytes()),
        "npy": Kind(Demos.load, "x.npy", npy(np.zeros((2, 5, 3)))),
        "toml": Kind(config.read_toml, "x.toml", toml),
        "preset": Kind(lambda p: resolve("ml-irl", "Point-v0", str(p)), "x.toml", toml),
    }  # fmt: skip


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return made(tmp_path_factory.mktemp("sound"))


LAST = {"evaluate_every": 5, "episodes": 2, "checkpoint_every": 9, "tensorboard": False}
VIEW = {"termination": "absorbing", "indicator": 10.0, "horizon": 40, "discount": 0.9}
NAMES = (
    *("config", "provenance", "plan", "book", "done", "failed", "card", "policy", "old policy"),
    *("log", "lines", "cut lines", "progress", "manifest", "state", "segment", "policy's bytes"),
    *("demonstrations' manifest", "demonstrations' data", "npz", "npy", "toml", "preset"),
)


def config_of():
    """The settings of a run as its folder has them."""
    return dataclasses.asdict(resolve("ml-irl", "Point-v0"))


def json_bytes(record):
    return json.dumps(record).encode()


@pytest.mark.parametrize("name", NAMES)
def test_a_sound_file_is_read(kinds, name, tmp_path):
    """Or the test below would try readers that refuse everything."""
    kind = kinds[name]
    content = kind.sound if kind.forge is None else kind.forge(kind.sound)
    kind.read(kind.put(tmp_path, content))


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", NAMES)
def test_no_content_gives_another_error(kinds, name, examples, tmp_path_factory):
    kind = kinds[name]
    root = Path(tmp_path_factory.mktemp("fuzz"))
    sound = kind.sound if kind.forge is None else kind.forge(kind.sound)

    @hypothesis.settings(max_examples=examples, database=None)
    @hypothesis.given(BYTES, CHANGES, st.booleans())
    def tried(edits, changes, inside):
        content = spoilt(sound, edits)
        if inside and kind.forge is not None:
            record = changed(kind.sound, changes)
            content = kind.forge(record if record else {"": 0})
        path = kind.put(root, content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DemoWarning)
            with contextlib.suppress(SoarError):
                kind.read(path)

    tried()


WATCHED = """
import random, sys, warnings
from pathlib import Path
import test_fuzz
from soar_il.errors import SoarError

FORBIDDEN = ("exec", "compile", "pickle.", "os.system", "os.exec", "os.posix_spawn", "os.fork",
             "subprocess.", "socket.", "ctypes.", "marshal.", "import")
WRITERS = ("state", "demonstrations' data", "cut lines", "provenance")
warnings.simplefilter("ignore")
root, choose, seen, paths = Path(sys.argv[1]), random.Random(0), [], []

def watch(event, args):
    if event.startswith(FORBIDDEN) or (event == "open" and isinstance(args[1], str)
                                       and set(args[1]) & set("wax+")):
        seen.append((event, str(args)[:200]))

for name, kind in test_fuzz.made(root).items():
    if name not in WRITERS:
        sound = kind.sound if kind.forge is None else kind.forge(kind.sound)
        for n in range(20):
            edits = [(choose.choice(("set", "cut", "add")), choose.randrange(2**20),
                      choose.randbytes(5)) for _ in range(min(n, 3))]
            paths.append((kind, kind.put(root / f"{name} {n}", test_fuzz.spoilt(sound, edits))))
for watched in (False, True):  # what is imported on first use is code of ours, not of the files
    if watched:
        sys.addaudithook(watch)
    for kind, path in paths:
        try:
            kind.read(path)
        except SoarError:
            pass
print(len(paths), seen)
"""


def test_loading_executes_nothing_and_writes_nothing(tmp_path):
    """Settings, TOML, policies, logs, checkpoints, books of sweeps, sound and spoilt."""
    watched = [sys.executable, "-c", WATCHED, str(tmp_path)]
    done = subprocess.run(watched, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    files, seen = done.stdout.strip().split(" ", 1)
    assert int(files) >= 300
    assert seen == "[]"
