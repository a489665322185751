"""A policy as one file: safetensors, with its card and a hash in the header.

The hash is of every byte of the file, with 64 zeros in its own place. Format 1 had neither card nor
hash; it is still read.
"""

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np

from soar_il import arrays, files
from soar_il.config import Termination
from soar_il.errors import StorageError
from soar_il.files import Fields
from soar_il.policy.forward import ACTIVATIONS, Layers
from soar_il.policy.policy import Policy
from soar_il.policy.sight import Sight

FORMAT = 2
CARD, HASH = "soar-il policy", "sha256"
UNKNOWN = "0" * 64
AGAIN = "the file is damaged: export the policy again, or get another copy"
NUMBERS = ("k", "steps", "observation_size")
VIEW = {"indicator": float, "horizon": int, "discount": float, "observed": int}


def save(path: Path, policy: Policy) -> None:
    """Whole or not at all; the same policy gives the same bytes."""
    stored = {"mean": policy.view.mean, "scale": policy.view.scale}
    stored |= {"low": policy.low, "high": policy.high}
    for n, (w, b) in enumerate(policy.layers):
        stored |= {f"weights.{n}": np.asarray(w), f"biases.{n}": np.asarray(b)}
    # One string, because safetensors writes several in no set order; the hash is first in it.
    note = json.dumps({HASH: UNKNOWN, "format": FORMAT, "card": policy.card})
    data = arrays.pack(stored, {CARD: note})
    digest = hashlib.sha256(data).hexdigest()
    files.write_atomically(path, data.replace(UNKNOWN.encode(), digest.encode(), 1))


def load(path: Path) -> Policy:
    """What was saved, or a StorageError: damage anywhere in the file is noticed."""
    if path.is_dir():
        what, do = "is a folder, not a policy", f"write one with: soar export {path}"
        raise StorageError(what, str(path), do)
    data = files.read(path)
    try:
        stored = arrays.unpack(data)
        if "about" in stored:
            return _old(stored)
        return _policy(_card(data), stored)
    except StorageError as error:
        raise StorageError(error.what, str(path), error.do) from None
    except (KeyError, ValueError, TypeError, IndexError, RecursionError) as error:
        raise StorageError(f"is not a policy ({error})", str(path), AGAIN) from None


def _card(data: bytes) -> Fields:
    said = files.json_object(arrays.note(data)[CARD].encode(), "")
    if isinstance(said.get("format"), int) and said["format"] > FORMAT:
        raise StorageError("was written by a newer soar-il", do="update soar-il")
    digest = said[HASH].encode()
    if data.count(digest) != 1 or digest == UNKNOWN.encode():
        raise ValueError("its hash is not where it should be")
    if hashlib.sha256(data.replace(digest, UNKNOWN.encode())).hexdigest().encode() != digest:
        raise StorageError("is damaged: its SHA-256 is not the one noted", do=AGAIN)
    return said["card"]


def _policy(card: Fields, stored: dict[str, np.ndarray]) -> Policy:
    depth = sum(name.startswith("weights.") for name in stored)
    layers = tuple((stored[f"weights.{n}"], stored[f"biases.{n}"]) for n in range(depth))
    view = Sight(stored["mean"], stored["scale"], **card["view"])
    about, activation = card["about"], card["activation"]
    policy = Policy(
        env=card["env"],
        layers=layers,
        view=view,
        low=stored["low"],
        high=stored["high"],
        activation=activation,
        about=about,
        **{name: card[name] for name in NUMBERS},
    )
    _check(policy, stored)
    return policy


def _check(policy: Policy, stored: dict[str, np.ndarray]) -> None:
    """The card's types, and arrays that fit each other."""
    for name in NUMBERS:
        _require(type(getattr(policy, name)) is int and getattr(policy, name) >= 0, name)
    for name, kind in VIEW.items():
        value = getattr(policy.view, name)
        _require(type(value) in (kind, int) and np.isfinite(value), name)
    _require(policy.view.termination in get_args(Termination), "termination")
    _require(policy.activation in ACTIVATIONS, "activation", "update soar-il")
    _require(isinstance(policy.env, str) and isinstance(policy.about, dict), "env")
    for name, array in stored.items():
        _require(array.dtype == np.float32 and bool(np.isfinite(array).all()), name)
    _check_shapes(policy.layers, policy)


def _check_shapes(layers: Layers, policy: Policy) -> None:
    _require(bool(layers) and policy.low.ndim == 1 and policy.low.shape == policy.high.shape, "low")
    _require(bool((policy.low < policy.high).all()), "low")
    for n, (w, b) in enumerate(layers):
        _require(w.ndim == 2 and b.shape == w.shape[1:], f"biases.{n}")
    for n, ((_, b), (w, _)) in enumerate(pairwise(layers)):
        _require(len(b) == len(w), f"weights.{n + 1}")
    _require(len(layers[-1][1]) == 2 * len(policy.low), "the last layer")
    seen = policy.seen_size
    looked = policy.view.observed or policy.observation_size or seen
    mean, scale = policy.view.mean, policy.view.scale
    _require(looked == seen and seen <= (policy.observation_size or seen), "observation_size")
    _require(mean.shape == scale.shape and mean.shape in ((0,), (seen,)), "mean")


def _require(fine: bool, name: str, do: str = AGAIN) -> None:
    if not fine:
        raise StorageError(f"is not a policy: {name} is wrong or does not fit", do=do)


def _old(stored: dict[str, np.ndarray]) -> Policy:
    about = files.json_object(stored.pop("about").tobytes(), "")
    if about["format"] != 1:
        raise ValueError(f"format {about['format']!r} is unknown")
    names = ("termination", "indicator", "horizon", "discount")
    view = {name: about[name] for name in names} | {"observed": about.get("observed", 0)}
    card = {name: about[name] for name in ("env", "k", "steps")} | {"view": view, "about": {}}
    return _policy({**card, "activation": "relu", "observation_size": 0}, stored)
