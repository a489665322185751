"""The expert policies that come with the package, each with a card."""

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np

from soar_il import files, provenance
from soar_il.config import package_toml
from soar_il.errors import ConfigError, StorageError, closest
from soar_il.evaluation.score import Evaluator
from soar_il.files import Fields
from soar_il.policy import Policy
from soar_il.runs import log
from soar_il.runs.origin import read_config

MEASURED = 2  # the evaluation seed of the card, apart from that which chose the policy


class Row(NamedTuple):
    """A line of the expert table."""

    env: str
    paper: float | None
    random: np.ndarray
    returns: np.ndarray
    lengths: np.ndarray
    card: Fields


def folder() -> Path:
    return Path(str(resources.files("soar_il") / "experts" / "policies"))


def cards(where: Path | None = None) -> dict[str, Fields]:
    """By environment."""
    found = {}
    for path in sorted((where or folder()).glob("*.json")):
        card = files.read_json(path)
        if not all(isinstance(card.get(name), str) for name in ("env", "file", "sha256")):
            raise StorageError("is not an expert's card", str(path), files.DAMAGED)
        found[card["env"]] = card
    return found


def expert(env: str, where: Path | None = None) -> tuple[Policy, Fields]:
    """The shipped policy of an environment and its card; the file must be the card's."""
    where, known = where or folder(), cards(where)
    if env not in known:
        raise ConfigError(f"no expert of {env!r} is shipped", do=closest(env, known))
    path = where / known[env]["file"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != known[env]["sha256"]:
        raise StorageError("is not the policy that its card describes", str(path), "reinstall")
    return Policy.load(path), known[env]


def keep(run_dir: Path, out: Path, episodes: int) -> Fields:
    """The best snapshot of an expert's run by its evaluations, measured anew, with a card."""
    cfg, scores = read_config(run_dir), log.read(run_dir / "scores.jsonl")
    if not scores:
        raise ConfigError("no policy of this run has been evaluated", str(run_dir), "train it")
    best = max(scores, key=lambda record: record["return"])
    policy = Policy.load(run_dir / "snapshots" / f"{best['k']:09d}.safetensors")
    evaluator = Evaluator(cfg.env, episodes, cfg.horizon or None, MEASURED)
    measured, random = evaluator.score(policy, deterministic=True), evaluator.random()
    evaluator.close()
    files.make_dir(out)
    path = out / f"{cfg.env}.safetensors"
    policy.save(path)
    card = {
        "env": cfg.env,
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "steps": policy.steps,
        "seed": cfg.seed,
        "return": float(measured.returns.mean()),
        "return_std": float(measured.returns.std()),
        "length": float(measured.lengths.mean()),
        "random_return": float(random.returns.mean()),
        "random_return_std": float(random.returns.std()),
        "episodes": episodes,
        "evaluation_seed": MEASURED,
        "chosen": f"best of {len(scores)} evaluations of its training run",
        "curve": [[r["steps"], round(r["return"]), round(r["stochastic_return"])] for r in scores],
        "observed": cfg.observed,
        "learner": dataclasses.asdict(cfg.learner),
        "versions": provenance.about()["versions"],
    }
    files.write_atomically(path.with_suffix(".json"), _shown(card))
    return card


def _shown(card: Fields) -> bytes:
    """A line for each entry."""
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in card.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def table(episodes: int, seed: int, where: Path | None = None) -> Iterator[Row]:
    """Each shipped expert, measured now."""
    paper = package_toml("experts/paper.toml")
    for env, card in cards(where).items():
        policy, _ = expert(env, where)
        evaluator = Evaluator(env, episodes, seed=seed)
        score, random = evaluator.score(policy, deterministic=True), evaluator.random()
        evaluator.close()
        yield Row(env, paper.get(env), random.returns, score.returns, score.lengths, card)
