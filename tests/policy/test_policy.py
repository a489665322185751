"""A policy is one file that acts the same everywhere, and whose damage is noticed."""

import hashlib
import itertools
import json
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
import soak
import tiny

import soar_il
from soar_il import arrays
from soar_il.agent import Imitator
from soar_il.commands.export import export
from soar_il.errors import ConfigError, StorageError
from soar_il.experts import shipped
from soar_il.policy import Policy, file
from soar_il.policy.sight import Sight
from soar_il.runs.snapshot import act

EVERY_SIGHT = [("absorbing", 0, True), ("fixed", 2, True), ("early", 0, False)]


def made(termination="absorbing", observed=0, standardised=True, activation="relu", size=5):
    """A policy of random weights with bounds of its own."""
    rng = np.random.default_rng(0)
    seen = observed or size
    stats = [rng.uniform(0.5, 2, seen if standardised else 0).astype(np.float32) for _ in range(2)]
    widths = (seen + (termination == "absorbing"), 16, 16, 4)
    layers = tuple(
        (rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(widths)
    )
    low, high = np.array([-2, 0.1], np.float32), np.array([1, 0.3], np.float32)
    view = Sight(*stats, termination, 10.0, 40, 0.99, observed)
    about = {"method": "ml-irl", "demonstrations": "ab" * 32, "returns": None}
    return Policy("Own-v0", 3, 500, layers, view, low, high, activation, size, about)


def observations(n=200, size=5):
    return 3 * np.random.default_rng(1).normal(size=(n, size)).astype(np.float32)


@pytest.mark.parametrize("activation", ["relu", "normed_relu"])
@pytest.mark.parametrize("sight", EVERY_SIGHT)
def test_numpy_acts_as_jax_does(sight, activation):
    policy, seen = made(*sight, activation), observations()
    noise = np.random.default_rng(0).standard_normal((len(seen), 2), np.float32)
    policy.set_random_seed(0)
    for deterministic, drawn in ((True, None), (False, noise)):
        expected = policy.to_env(act(policy, seen, drawn))
        found, state = policy.predict(seen, "state", deterministic=deterministic)
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert state == "state"
    assert (found >= policy.low).all()
    assert (found <= policy.high).all()


@pytest.mark.parametrize("sight", EVERY_SIGHT)
def test_a_policy_comes_back_from_its_file(tmp_path, sight):
    policy = made(*sight)
    policy.save(tmp_path / "policy.safetensors")
    loaded = soar_il.Policy.load(tmp_path / "policy.safetensors")
    assert loaded.card == policy.card
    np.testing.assert_array_equal(
        loaded.predict(observations())[0], policy.predict(observations())[0]
    )
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "policy.safetensors").read_bytes()


@pytest.mark.parametrize("flips", soak.counts(300, 4000))
def test_a_damaged_bit_anywhere_is_noticed(tmp_path, flips):
    """In its weights, its card, its hash or the format's own header."""
    path = tmp_path / "policy.safetensors"
    made().save(path)
    data, choose = bytearray(path.read_bytes()), random.Random(0)
    for _ in range(flips):
        place, bit = choose.randrange(len(data)), 1 << choose.randrange(8)
        data[place] ^= bit
        path.write_bytes(data)
        with pytest.raises(StorageError, match=r"policy\.safetensors"):
            Policy.load(path)
        data[place] ^= bit
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        with pytest.raises(StorageError):
            Policy.load(path)


def changed(path, change):
    """The file with another card, and a hash that vouches for it."""
    policy = made()
    card, stored = policy.card, {}
    change(card)
    policy.save(path)
    stored = arrays.unpack(path.read_bytes())
    note = json.dumps({file.HASH: file.UNKNOWN, "format": card.pop("format", 2), "card": card})
    data = arrays.pack(stored, {file.CARD: note})
    digest = hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(data.replace(file.UNKNOWN.encode(), digest, 1))


WRONG = {
    "another activation": (lambda c: c.update(activation="gelu"), "activation(.|\n)*update"),
    "a newer format": (lambda c: c.update(format=3), "newer soar-il(.|\n)*update"),
    "steps of text": (lambda c: c.update(steps="5"), "steps"),
    "no view": (lambda c: c.pop("view"), "not a policy"),
    "a view of something else": (lambda c: c["view"].update(sight=1), "not a policy"),
    "an end it does not know": (lambda c: c["view"].update(termination="late"), "termination"),
    "more coordinates than weights": (lambda c: c.update(observation_size=2), "observation_size"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_card_that_does_not_fit_is_refused_by_name(tmp_path, name):
    change, message = WRONG[name]
    changed(tmp_path / "policy.safetensors", change)
    with pytest.raises(StorageError, match=f"policy.safetensors: (.|\n)*{message}"):
        Policy.load(tmp_path / "policy.safetensors")


def test_what_is_no_policy_says_what_to_do(tmp_path):
    with pytest.raises(StorageError, match="soar export"):
        Policy.load(tmp_path)
    with pytest.raises(StorageError, match="cannot be read"):
        Policy.load(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"give \[5\] or \[n, 5\]"):
        made().predict(np.zeros(4))
    with pytest.raises(ConfigError, match="NaN"):
        made().predict(np.full(5, np.nan))


def test_policies_of_the_first_format_still_load():
    """The shipped experts are such files; Ant's looks at the first 27 of 105 coordinates."""
    policy, card = shipped.expert("Ant-v5")
    assert (policy.view.observed, policy.steps) == (card["observed"], card["steps"])
    assert policy.predict(np.zeros((3, 105)))[0].shape == (3, 8)


ELSEWHERE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("jax", "jaxlib", "gymnasium", "mujoco", "optax", "jaxtyping"):
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
import numpy as np
from soar_il import Policy
policy = Policy.load(sys.argv[1])
np.save(sys.argv[2], policy.predict(np.load(sys.argv[3]))[0])
loaded = sorted({name.split(".")[0] for name in sys.modules})
assert not {"jax", "gymnasium", "mujoco"} & set(loaded), loaded
"""


def test_a_policy_trained_here_acts_alike_without_jax_and_simulator(tmp_path):
    with tiny.imitator(critics=2) as imitator:
        imitator.learn(60).policy.save(tmp_path / "policy.safetensors")
        seen = observations(100, 2)
        expected = imitator._run.built.env.to_env(act(imitator.policy, seen))
        assert imitator.policy.card["about"]["demonstrations"] == tiny.demos().hash
        assert imitator.policy.about["method"] == "ml-irl"
        before, after = imitator.policy, imitator.learn(60).policy
        assert before.steps < after.steps
    np.save(tmp_path / "seen.npy", seen)
    places = [str(tmp_path / name) for name in ("policy.safetensors", "acted.npy", "seen.npy")]
    subprocess.run([sys.executable, "-c", ELSEWHERE, *places], check=True, cwd=tmp_path)
    np.testing.assert_allclose(np.load(tmp_path / "acted.npy"), expected, atol=1e-5)


def test_export_writes_the_policy_of_a_run(tmp_path, monkeypatch, capsys):
    tiny.register()
    tiny.demos().save(tmp_path / "points.demos")
    folder = tmp_path / "run"
    common = ["--demos", tmp_path / "points.demos", "--env", "Point-v0", "--out", folder]
    short = ["--steps", 120, "--evaluate-every", 60, "--episodes", 2, "--set", *tiny.SETTINGS]
    monkeypatch.setattr(sys, "argv", ["soar", *map(str, ["train", *common, *short])])
    tiny.main()
    export(folder)
    policy = Policy.load(folder / "policy.safetensors")
    last = json.loads((folder / "scores.jsonl").read_text().splitlines()[-1])
    assert (policy.steps, policy.about["returns"]["return"]) == (last["steps"], last["return"])
    assert policy.about["versions"].keys() >= {"soar-il", "jax", "mujoco"}
    with Imitator.load(folder) as imitator:
        seen = observations(20, 2)
        np.testing.assert_array_equal(imitator.predict(seen)[0], policy.predict(seen)[0])
    with pytest.raises(ConfigError, match="end it in"):
        export(folder, tmp_path / "policy.onnx")


@pytest.mark.parametrize("activation", ["relu", "normed_relu"])
@pytest.mark.parametrize("sight", EVERY_SIGHT)
def test_onnx_acts_alike(tmp_path, sight, activation):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runtime = pytest.importorskip("onnxruntime")
        graphs = pytest.importorskip("soar_il.policy.onnx")
    policy, seen = made(*sight, activation), observations()
    assert graphs.save(tmp_path / "policy.onnx", policy) <= 1e-5
    session = runtime.InferenceSession(tmp_path / "policy.onnx")
    (found,) = session.run(None, {"observation": seen})
    np.testing.assert_allclose(found, policy.predict(seen)[0], atol=1e-5)
    assert session.get_modelmeta().custom_metadata_map["env"] == "Own-v0"
    wrong = made(*sight, activation)
    wrong.to_env = lambda chosen: chosen
    with pytest.raises(StorageError, match="differ from NumPy's"):
        graphs.save(tmp_path / "wrong.onnx", wrong)
    assert not (tmp_path / "wrong.onnx").exists()
