"""Files, folders and environments that do not fit, and what each is answered."""

import json
import shutil

import numpy as np
from wrong_arrays import MEND, A, N, T, good

from soar_il.demos import Demos
from soar_il.demos.check import check

AGAIN = "damaged or was made to deceive"


def npz(**changes):
    """A case that loads an .npz; a value of None leaves the key out."""

    def make(tmp):
        s, a = good()
        content = {"observations": s, "actions": a} | changes
        np.savez(tmp / "x.npz", **{k: v for k, v in content.items() if v is not None})
        Demos.load(tmp / "x.npz")

    return make


def folder(change):
    """A case that spoils a saved folder and loads it."""

    def make(tmp):
        path = Demos.from_arrays(*good()).save(tmp / "x.demos")
        change(path)
        Demos.load(path)

    return make


def manifest(**changes):
    def change(path):
        said = json.loads((path / "manifest.json").read_text()) | changes
        (path / "manifest.json").write_text(json.dumps(said))

    return folder(change)


def flip(path):
    data = bytearray((path / "data.safetensors").read_bytes())
    data[-3] ^= 1
    (path / "data.safetensors").write_bytes(data)


def pendulum(seed=0, **changes):
    """Shapes and values that Pendulum-v1 could give."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(-1, 1, size=(N, 200 + 1, 3))
    a = rng.uniform(-2, 2, size=(N, 200, 1))
    return {"observations": s, "actions": a, "terminated": np.zeros(N, bool)} | changes


def in_pendulum(change, env="Pendulum-v1", strict=False):
    def make(tmp):
        given = pendulum()
        result = change(given)
        check(Demos.from_arrays(**(given if result is None else result)), env, strict)

    return make


def put(field, index, value):
    def change(given):
        given[field][index] = value

    return change


def touch(name, content=b""):
    def make(tmp):
        (tmp / name).write_bytes(content)
        Demos.load(tmp / name)

    return make


CASES = {
    # .npz
    "an empty file": (touch("x.npz"), r"x.npz: is not an \.npz file\n.*numpy.savez"),
    "text called npz": (touch("x.npz", b"hello" * 99), r"x.npz: is not an \.npz file\n"),
    "a file of another kind": (
        touch("x.csv", b"1,2"),
        r"x.csv: is of no known kind\n.*\.hdf5.*convert it yourself",
    ),
    "no file": (lambda tmp: Demos.load(tmp / "no.demos"), "no.demos: does not exist\n.*spelling"),
    "no .npz": (lambda tmp: Demos.load(tmp / "no.npz"), "no.npz: cannot be read .*\n.*path"),
    "no observations": (npz(observations=None), "x.npz: has no observations\n.*obs, states"),
    "observations twice": (npz(obs=np.zeros(3)), "x.npz: obs repeats observations\n.*keep one"),
    "a mask of zeros": (
        npz(mask=np.array([[1] * T, [0] * T, [1] * T])),
        "x.npz: trajectory 1, mask: is all zero\n.*leave this trajectory out",
    ),
    "a mask with a hole": (
        npz(mask=np.array([[1] * T, [1] * T, [1, 0, 1, 1, 1, 1]])),
        "x.npz: trajectory 2, step 1, mask: is zero before the end\n.*cut",
    ),
    "a mask against lengths": (
        npz(mask=np.ones((N, T)), lengths=np.array([T, T, 2])),
        "x.npz: lengths: disagrees with mask\n.*one of the two",
    ),
    "a mask of fractions": (
        npz(mask=np.full((N, T), 0.5)),
        "x.npz: mask: holds something other than 0 and 1\n.*bools",
    ),
    "a termination in the middle": (
        npz(terminals=np.eye(N, T, k=2), lengths=np.array([T, T, T])),
        "x.npz: trajectory 0, step 2, terminated: is set before the last step\n.*cut",
    ),
    "flags of another length": (
        npz(terminals=np.zeros((N, T + 3))),
        r"x.npz: terminated: has shape \(3, 9\), not \(3, 6\)\n.*one flag for each",
    ),
    "flat against stacked": (
        npz(actions=np.zeros((N * T, A))),
        "x.npz: observations .* and actions .* are no known layout\n.*lengths",
    ),
    "provenance that is not bytes": (
        npz(about_json=np.zeros(3)),
        "x.npz: about_json: is float64\n.*UTF-8",
    ),
    "a nan in a file": (
        npz(actions=np.full((N, T, A), np.nan)),
        rf"x.npz: trajectory 0, step 0, actions\[0\]: is nan\n.*{MEND}",
    ),
    # .demos
    "a folder of nothing": (
        folder(lambda p: [f.unlink() for f in p.iterdir()]),
        "x.demos: manifest.json: cannot be read .*\n.*path",
    ),
    "no data": (
        folder(lambda p: (p / "data.safetensors").unlink()),
        "x.demos: data.safetensors: cannot be read .*\n.*path",
    ),
    "a flipped bit": (folder(flip), rf"data.safetensors: .*SHA-256 differs\n.*{AGAIN}"),
    "cut data": (
        folder(lambda p: (p / "data.safetensors").write_bytes(b"x" * 50)),
        rf"data.safetensors: has 50 bytes, the manifest says \d+\n.*{AGAIN}",
    ),
    "a newer version": (manifest(version=2), "manifest.json: has version 2, .* 1\n.*update"),
    "a version of text": (manifest(version="1"), rf"manifest.json: has version '1'\n.*{AGAIN}"),
    "another format": (manifest(format="x"), "manifest.json: is not of the format .*\n.*demos"),
    "a manifest without data": (manifest(data=None), f"manifest.json: lacks 'data'.*\n.*{AGAIN}"),
    "a manifest that counts wrong": (
        manifest(transitions=99),
        rf"manifest.json, transitions: says 99, the data says 18\n.*{AGAIN}",
    ),
    "a manifest of other trajectories": (
        manifest(trajectories=True),
        rf"manifest.json, trajectories: says True, the data says 3\n.*{AGAIN}",
    ),
    "a manifest of other shapes": (
        manifest(shapes={}),
        rf"manifest.json, shapes: says \{{\}}, .*\n.*{AGAIN}",
    ),
    "a manifest of another content": (
        manifest(content_sha256="0" * 64),
        rf"manifest.json, content_sha256: says 000.*\n.*{AGAIN}",
    ),
    "a manifest that is no JSON": (
        folder(lambda p: (p / "manifest.json").write_text("{")),
        rf"manifest.json: is not valid JSON.*\n.*{AGAIN}",
    ),
    "a manifest of a list": (
        folder(lambda p: (p / "manifest.json").write_text("[]")),
        rf"manifest.json: is a JSON list.*\n.*{AGAIN}",
    ),
    "a folder called npz": (
        folder(
            lambda p: shutil.copytree(p, p.with_name("y.npz")) and Demos.load(p.parent / "y.npz")
        ),
        "y.npz: is not a regular file\n.*file on a disk",
    ),
    # environments
    "an unknown environment": (in_pendulum(lambda g: None, "Pendlum-v1"), "^Pendlum-v1: cannot be"),
    "an environment of cells": (
        in_pendulum(lambda g: None, "FrozenLake-v1"),
        "^FrozenLake-v1, observation_space: is Discrete.*\n.*vectors",
    ),
    "an environment of other observations": (
        in_pendulum(lambda g: None, "MountainCarContinuous-v0"),
        "observations have 3 coordinates, those of MountainCarContinuous-v0 2\n.*not of",
    ),
    "an environment of other actions": (
        in_pendulum(lambda g: g | {"actions": np.zeros((N, 200, 2))}),
        "actions have 2 coordinates, those of Pendulum-v1 1\n.*not of",
    ),
    "an action outside the box": (
        in_pendulum(put("actions", (1, 7), 2.5)),
        r"^trajectory 1, step 7, actions\[0\]: is 2.5, Pendulum-v1 allows -2 to 2\n.*own units",
    ),
    "an observation outside the space": (
        in_pendulum(put("observations", (2, 200, 1), -1.5)),
        r"^trajectory 2, step 200, observations\[1\]: is -1.5, .* -1 to 1\n.*own units",
    ),
    "another version of the environment": (
        in_pendulum(lambda g: g | {"about": {"env": "Pendulum-v0"}}),
        "^about.env: .* say Pendulum-v0, the environment is Pendulum-v1\n.*use Pendulum-v0",
    ),
    "ends that nobody marked": (
        in_pendulum(
            lambda g: pendulum(
                observations=g["observations"][:, :51], actions=g["actions"][:, :50]
            ),
            strict=True,
        ),
        "^trajectory 0: 3 of 3 neither terminated nor reached 200 steps\n.*mark their ends",
    ),
    "longer than the limit": (
        in_pendulum(
            lambda g: pendulum(
                observations=np.tile(g["observations"], (1, 2, 1))[:, :-1],
                actions=np.tile(g["actions"], (1, 2, 1)),
            ),
            strict=True,
        ),
        "^trajectory 0: 3 of 3 are longer than the 200 steps.*\n.*another time limit",
    ),
    "the same trajectory twice": (
        in_pendulum(lambda g: put("observations", 2, g["observations"][0])(g), strict=True),
        "^trajectory 2 is trajectory 0 again: 1 of 3 repeat another\n.*leave the copies out",
    ),
    "all actions equal": (
        in_pendulum(put("actions", slice(None), 1.0), strict=True),
        "^actions: all actions are equal\n.*the expert's",
    ),
    "padding left in": (
        in_pendulum(put("observations", (1, slice(150, None)), 0.0), strict=True),
        "^trajectory 1: 1 of 3 end in observations that are all zero\n.*lengths",
    ),
}
