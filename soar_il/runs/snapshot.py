"""A policy on disk: all that acting needs, and nothing that learning needs."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from soar_il import files
from soar_il.envs.view import View
from soar_il.errors import StorageError
from soar_il.networks import gaussian
from soar_il.networks.mlp import Layers
from soar_il.runs import arrays
from soar_il.types import Float, Spec

FORMAT = 1


class Snapshot(NamedTuple):
    """pi^k, how it sees observations, and the bounds of its actions."""

    k: int
    steps: int
    env: str
    layers: Layers
    view: View
    low: np.ndarray
    high: np.ndarray

    def act(
        self,
        observations: Float[np.ndarray, "*n s"],
        noise: Float[np.ndarray, "*n a"] | None = None,
    ) -> Float[np.ndarray, "*n a"]:
        """Actions in [-1, 1]: the policy's mode, or with standard normal noise a draw from it."""
        seen = self.view(observations)
        if noise is None:
            return np.asarray(gaussian.play_mode(self.layers, seen))
        return np.asarray(gaussian.play(self.layers, Spec(0, len(self.low)), seen, noise)[0])


def save(path: Path, snapshot: Snapshot) -> None:
    stored = {"mean": snapshot.view.mean, "scale": snapshot.view.scale}
    stored |= {"low": snapshot.low, "high": snapshot.high}
    for n, (w, b) in enumerate(snapshot.layers):
        stored |= {f"weights.{n}": np.asarray(w), f"biases.{n}": np.asarray(b)}
    about = {
        "format": FORMAT,
        "k": snapshot.k,
        "steps": snapshot.steps,
        "env": snapshot.env,
        "termination": snapshot.view.termination,
        "indicator": snapshot.view.indicator,
        "horizon": snapshot.view.horizon,
        "discount": snapshot.view.discount,
        "observed": snapshot.view.observed,
    }
    text = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    files.write_atomically(path, arrays.pack(stored | {"about": text}))


def load(path: Path) -> Snapshot:
    try:
        stored = arrays.unpack(path.read_bytes())
        about: dict[str, Any] = json.loads(stored["about"].tobytes())
        if about["format"] > FORMAT:
            raise StorageError("was written by a newer soar-il", str(path), "update soar-il")
        depth = sum(name.startswith("weights.") for name in stored)
        layers = tuple((stored[f"weights.{n}"], stored[f"biases.{n}"]) for n in range(depth))
        view = View(
            stored["mean"],
            stored["scale"],
            about["termination"],
            about["indicator"],
            about["horizon"],
            about["discount"],
            about.get("observed", 0),
        )
        return Snapshot(
            about["k"], about["steps"], about["env"], layers, view, stored["low"], stored["high"]
        )
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise StorageError(f"is not a policy snapshot ({error})", str(path)) from None
