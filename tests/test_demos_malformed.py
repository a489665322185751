"""Each way to be wrong has one message: where it is and what to do."""

import json
import re
import shutil

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from soar_il.demos import Demos
from soar_il.demos.check import check, notices, require_actions
from soar_il.errors import DemoError, DemoWarning

N, T, S, A = 3, 6, 4, 2


def good(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, T + 1, S)), rng.uniform(-1, 1, size=(N, T, A))


def with_value(field, trajectory, step, value):
    def make(tmp):
        s, a = good()
        (s if field == "observations" else a)[trajectory, step, 1] = value
        Demos.from_arrays(s, a)

    return make


def arrays(change):
    """A case that gives ``change(s, a)`` to from_arrays."""

    def make(tmp):
        result = change(*good())
        Demos.from_arrays(**result) if isinstance(result, dict) else Demos.from_arrays(*result)

    return make


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


def flat(s, a, lengths, **more):
    return {
        "observations": s.reshape(-1, S),
        "actions": a if a is None else a.reshape(-1, A),
        "lengths": lengths,
    } | more


def touch(name, content=b""):
    def make(tmp):
        (tmp / name).write_bytes(content)
        Demos.load(tmp / name)

    return make


MEND = "leave the trajectory out or mend it"
LIST = "a list with one 2-D array for each trajectory"
AGAIN = "damaged or was made to deceive"
HALF = [np.zeros((2, 2)), np.zeros((3, 2))]

CASES = {
    # values
    **{
        f"{value} in {field} at the {name} step": (
            with_value(field, trajectory, step, value),
            rf"^trajectory {trajectory}, step {at}, {field}\[1\]: is {shown}\n.*{MEND}",
        )
        for value, shown in (
            (np.nan, "nan"),
            (np.inf, "inf"),
            (-np.inf, "-inf"),
            (1e38, r"1e\+38"),
            (1e300, "inf"),
        )
        for field, rows in (("observations", T + 1), ("actions", T))
        for name, trajectory, step, at in (
            ("first", 0, 0, 0),
            ("middle", 1, 3, 3),
            ("last", N - 1, -1, rows - 1),
        )
    },
    # types
    "objects": (
        arrays(lambda s, a: (s.astype(object), a)),
        rf"^observations: is of type object.*\n.*{LIST}",
    ),
    "an array of arrays": (
        arrays(lambda s, a: (np.array([s[0], s[1][:3]], dtype=object),)),
        rf"^observations: is of type object.*\n.*{LIST}",
    ),
    "complex": (arrays(lambda s, a: (s + 1j, a)), "^observations: .*complex128.*\n.*float32"),
    "text": (arrays(lambda s, a: (s.astype(str), a)), "^observations: .*<U.*\n.*float32"),
    "bytes": (arrays(lambda s, a: (s, a.astype("S4"))), r"^actions: .*S4.*\n.*float32"),
    "dates": (arrays(lambda s, a: (s.astype("M8[s]"), a)), "^observations: .*datetime.*\n.*float"),
    "booleans": (arrays(lambda s, a: (s > 0, a)), "^observations: .*bool.*\n.*float32"),
    "records": (
        arrays(lambda s, a: (np.zeros((N, T + 1), dtype=[("x", "f4")]),)),
        "^observations: .*'x'.*\n.*float32",
    ),
    "whole numbers that float32 rounds": (
        arrays(lambda s, a: (np.full((N, T + 1, S), 2**24 + 1), a)),
        "^observations: .*16777216.*\n.*scale it",
    ),
    "a masked array": (
        arrays(lambda s, a: (np.ma.masked_greater(s, 1), a)),
        "^observations: is a masked array\n.*give lengths",
    ),
    "nothing": (arrays(lambda s, a: (None,)), "^observations: .*object"),
    # shapes
    "no trajectory in a list": (arrays(lambda s, a: ([], [])), "^no trajectory\n.*at least one"),
    "no trajectory in an array": (arrays(lambda s, a: (s[:0], a[:0])), "^no trajectory\n"),
    "an empty array": (arrays(lambda s, a: (np.zeros(0),)), "^observations: has 1 axes\n.*2-D"),
    "a number": (arrays(lambda s, a: (3.0,)), "^observations: has 0 axes\n.*2-D"),
    "four axes": (arrays(lambda s, a: (s[None], a[None])), "^observations: has 4 axes\n.*2-D"),
    "one-dimensional observations": (
        arrays(lambda s, a: ([s[0, :, 0]],)),
        r"^trajectory 0, observations: has 1 axes\n.*a\[:, None\]",
    ),
    "one-dimensional actions": (
        arrays(lambda s, a: (list(s), [x[:, 0] for x in a])),
        r"^trajectory 0, actions: has 1 axes\n.*a\[:, None\]",
    ),
    "no features": (
        arrays(lambda s, a: (s[..., :0],)),
        "^trajectory 0, observations: has no features\n.*size >= 1",
    ),
    "a trajectory of one observation": (
        arrays(lambda s, a: ([s[0], s[1][:1]],)),
        "^trajectory 1, observations: has 1 observation: no transition\n.*leave this one out",
    ),
    "a trajectory of none": (
        arrays(lambda s, a: ([s[0], s[1][:0]],)),
        "^trajectory 1, observations: has 0 observations: no transition\n.*leave this one out",
    ),
    "one step without its end": (
        arrays(lambda s, a: ([s[0], s[1][:1]], [a[0], a[1][:1]])),
        "^trajectory 1: has one observation and one action.*\n.*add the final observation",
    ),
    "too few observations": (
        arrays(lambda s, a: ([s[0], s[1][:-2]], [a[0], a[1]])),
        "^trajectory 1: has 5 observations and 6 actions\n.*T [+] 1 observations",
    ),
    "too many observations": (
        arrays(lambda s, a: (list(s), [x[:-1] for x in a])),
        "^trajectory 0: has 7 observations and 5 actions\n.*T [+] 1 observations",
    ),
    "more observations than actions arrays": (
        arrays(lambda s, a: (list(s), list(a)[:2])),
        "^3 trajectories of observations, 2 of actions\n.*one array of actions for each",
    ),
    "ragged rows": (
        arrays(lambda s, a: ([[[1.0, 2.0], [1.0]]],)),
        rf"^trajectory 0, observations: rows of different sizes\n.*{LIST}",
    ),
    "observation sizes differ": (
        arrays(lambda s, a: ([s[0], s[1][:, :3]],)),
        "^trajectory 1, observations: has 3 features, trajectory 0 has 4\n.*one environment",
    ),
    "action sizes differ": (
        arrays(lambda s, a: (list(s), [a[0], a[1], a[2][:, :1]])),
        "^trajectory 2, actions: has 1 features, trajectory 0 has 2\n.*one environment",
    ),
    "two layouts": (
        arrays(lambda s, a: (list(s), a.reshape(-1, A))),
        "^observations and actions have different layouts\n.*the same one",
    ),
    # lengths
    "flat without lengths": (
        arrays(lambda s, a: flat(s, a, None)),
        r"^observations: are one 2-D array \(21, 4\)\n.*give lengths.*transitions",
    ),
    "lengths of observations": (
        arrays(lambda s, a: flat(s, None, [T + 1] * N)),
        "^observations: has 21 rows, 3 trajectories of 21 transitions have 24\n.*one fewer",
    ),
    "lengths that miss actions": (
        arrays(lambda s, a: flat(s, a, [T, T])),
        "^actions: has 18 rows, the lengths add up to 12\n.*counts the actions",
    ),
    "a length of zero": (
        arrays(lambda s, a: flat(s, a, [T, 0, 2 * T])),
        "^trajectory 1, lengths: is 0\n.*leave this one out",
    ),
    "a negative length": (
        arrays(lambda s, a: flat(s, a, [T, -1, 2 * T])),
        "^trajectory 1, lengths: is -1\n.*leave this one out",
    ),
    "fractional lengths": (
        arrays(lambda s, a: flat(s, a, [6.0, 6.0, 6.0])),
        "^lengths: is float64 of shape .3,.\n.*whole number",
    ),
    "lengths beyond the padding": (
        arrays(lambda s, a: (s, a, [T, T, T + 1])),
        "^trajectory 2, lengths: is 7, the array has room for 6 transitions\n.*one fewer",
    ),
    "too few lengths": (
        arrays(lambda s, a: (s, a, [T, T])),
        "^lengths: has 2 numbers for 3 trajectories\n.*one for each",
    ),
    "lengths with a list": (
        arrays(lambda s, a: (list(s), list(a), [T] * N)),
        "^lengths: given with a list\n.*leave it out",
    ),
    "lengths beyond int64": (
        arrays(lambda s, a: flat(s, a, np.array([2**63, 2**63], dtype=np.uint64))),
        "^actions: has 18 rows, the lengths add up to 18446744073709551616\n",
    ),
    # ends and provenance
    "terminated by the step": (
        arrays(lambda s, a: (s, a, None, np.zeros((N, T), bool))),
        r"^terminated: is bool of shape \(3, 6\)\n.*one bool for each of the 3",
    ),
    "terminated as numbers": (
        arrays(lambda s, a: (s, a, None, [0.0, 1.0, 0.5])),
        "^terminated: is float64 .*\n.*one bool",
    ),
    "terminated in pieces": (
        arrays(lambda s, a: (s, a, None, [[True], [True, False]])),
        "^terminated: rows of different sizes\n",
    ),
    "terminated as numbers, final observations missing": (
        arrays(lambda s, a: (s[:, 1:], a, None, [0.0, 1.0, 1.0])),
        "^terminated: is float64 .*\n.*one bool",
    ),
    "deep provenance": (
        arrays(lambda s, a: (s, a, None, None, json.loads('{"a":' * 500 + "1" + "}" * 500))),
        "^about: is nested deeper than 20\n.*short",
    ),
    "a history that is none": (
        arrays(lambda s, a: (s, a, None, None, {"history": 5})),
        "^about.history: is not a list\n.*leave it out",
    ),
    "lengths in pieces": (
        arrays(lambda s, a: flat(s, a, [[6], [6, 6]])),
        "^lengths: rows of different sizes\n",
    ),
    "provenance that JSON cannot hold": (
        arrays(lambda s, a: (s, a, None, None, {"x": object()})),
        "^about: is not JSON.*\n.*text, numbers, lists",
    ),
    "provenance of nan": (
        arrays(lambda s, a: (s, a, None, None, {"x": float("nan")})),
        "^about: is not JSON.*\n.*text, numbers, lists",
    ),
    "a reward in the provenance": (
        arrays(lambda s, a: (s, a, None, None, {"runs": [{"mean_reward": 3}]})),
        "^about.runs: has the key 'mean_reward'\n.*for evaluation",
    ),
    "provenance that is no dictionary": (
        arrays(lambda s, a: (s, a, None, None, "Hopper")),
        "^about: is str\n.*a dictionary",
    ),
    # alignment
    "a shift of two": (
        arrays(lambda s, a: {"observations": s, "actions": a, "shift": 2}),
        "^shift: is 2\n.*0: row t is s_t and a_t; 1:",
    ),
    "a shift with final observations": (
        arrays(lambda s, a: {"observations": s, "actions": a, "shift": 1}),
        "^trajectory 0: has 7 observations and 6 actions\n.*as many of both",
    ),
    # use
    "more than there are": (
        lambda tmp: Demos.from_arrays(*good()).select(4),
        "^4 trajectories asked for, 3 there\n.*1 to 3",
    ),
    "fewer than one": (
        lambda tmp: Demos.from_arrays(*good()).select(0),
        "^0 trajectories asked for, 3 there\n.*1 to 3",
    ),
    "every zeroth": (
        lambda tmp: Demos.from_arrays(*good()).subsample(0, 0),
        "^every is 0\n.*at least 1",
    ),
    "states only for a method that needs actions": (
        lambda tmp: require_actions(Demos.from_arrays(good()[0]), "BC"),
        "^actions: BC imitates actions.*have none\n.*state-only method",
    ),
    "an unknown ending to save under": (
        lambda tmp: Demos.from_arrays(*good()).save(tmp / "x.pkl"),
        r"x.pkl: ends in '.pkl'\n.*\.demos",
    ),
    # .npz
    "an empty file": (touch("x.npz"), r"x.npz: is not an \.npz file\n.*numpy.savez"),
    "text called npz": (touch("x.npz", b"hello" * 99), r"x.npz: is not an \.npz file\n"),
    "a file of another kind": (
        touch("x.csv", b"1,2"),
        r"x.csv: is neither a \.demos folder nor.*\n.*convert",
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
        "^observations: have 3 features, MountainCarContinuous-v0 has 2\n.*not of",
    ),
    "an environment of other actions": (
        in_pendulum(lambda g: g | {"actions": np.zeros((N, 200, 2))}),
        "^actions: have 2 features, Pendulum-v1 has 1\n.*not of",
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
        "^about.env: says Pendulum-v0, the environment is Pendulum-v1\n.*use Pendulum-v0",
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


def test_there_are_enough_cases():
    assert len(CASES) >= 100


@pytest.mark.filterwarnings("ignore::soar_il.errors.DemoWarning")
@pytest.mark.parametrize("name", CASES)
def test_says_where_and_what_to_do(name, tmp_path):
    case, message = CASES[name]
    with pytest.raises(DemoError) as caught:
        case(tmp_path)
    text = str(caught.value).replace(f"{tmp_path}/", "")
    assert re.search(message, text), text
    assert caught.value.do


def test_a_good_set_passes_every_check(tmp_path):
    demos = Demos.from_arrays(*good())
    assert notices(demos) == []
    assert Demos.load(demos.save(tmp_path / "x.demos")).hash == demos.hash
    assert check(Demos.from_arrays(**pendulum()), "Pendulum-v1") == []


usable = st.floats(-(2.0**59), 2.0**59, width=32)


@st.composite
def valid_sets(draw):
    d_s, d_a = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    dtype = draw(st.sampled_from(["<f4", ">f4", "<f8", "<i4"]))
    elements = st.integers(-(2**24), 2**24) if dtype == "<i4" else usable
    s = [draw(hnp.arrays(dtype, (n + 1, d_s), elements=elements)) for n in lengths]
    a = [draw(hnp.arrays(dtype, (n, d_a), elements=elements)) for n in lengths]
    layout = draw(st.sampled_from(["list", "flat", "padded"]))
    ended = np.array(draw(st.lists(st.booleans(), min_size=len(s), max_size=len(s))))
    if layout == "flat":
        return np.concatenate(s), np.concatenate(a), lengths, ended
    if layout == "padded":
        longest = max(lengths)
        pad = [np.pad(x, ((0, longest + 1 - len(x)), (0, 0))) for x in s]
        return (
            np.stack(pad),
            np.stack([np.pad(x, ((0, longest - len(x)), (0, 0))) for x in a]),
            (lengths),
            ended,
        )
    return s, a, None, ended


@settings(max_examples=1000)
@given(valid_sets(), st.booleans())
def test_no_false_alarm(tmp_path_factory, given_set, as_npz):
    s, a, lengths, ended = given_set
    demos = Demos.from_arrays(s, a, lengths, ended)
    if demos.transitions % 10 == 0:  # disks are slow
        path = tmp_path_factory.mktemp("valid") / ("x.npz" if as_npz else "x.demos")
        assert Demos.load(demos.save(path)).hash == demos.hash
    assert demos.without_actions().transitions == demos.transitions
    assert demos.subsample(2, 0).transitions <= demos.transitions


def test_warnings_are_of_their_own_kind():
    s, a = good()
    with pytest.warns(DemoWarning, match="3 of 3 trajectories lack"):
        Demos.from_arrays(s[:, :-1], a)
