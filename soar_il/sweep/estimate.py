"""How long jobs will take: as long as their like took here, or as their arithmetic needs."""

import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from soar_il.envs.blind import BlindEnv
from soar_il.files import Fields
from soar_il.sweep import folder
from soar_il.sweep.grid import Job

ENV_STEP = 1.5e-4  # seconds, of a MuJoCo environment
OVERHEAD = 1.2  # of an update over its matrix products, on Hopper with L = 1 and 4
UNKNOWN = 60.0  # seconds, of a command without settings to reckon with


def seconds(jobs: Sequence[Job], settings: Fields, out: Path) -> dict[str, float]:
    """What is left of each job, on a core of its own."""
    known: dict[Any, float] = {}
    for job in jobs:
        measured = folder.pace(out / job.name)
        if measured is not None:
            known[_like(job)] = measured
    speed, sizes = 0.0, dict[tuple[str, int, int], tuple[int, int]]()
    left: dict[str, float] = {}
    for job in jobs:
        if folder.state(out / job.name, job) == "done":
            left[job.name] = 0.0
            continue
        if job.name not in settings:
            left[job.name] = UNKNOWN
            continue
        pace = known.get(_like(job))
        if pace is None:
            speed = speed or matrix_speed()
            said = settings[job.name]
            env = str(job.options["env"]), int(said["horizon"]), int(said["observed"])
            if env not in sizes:
                sizes[env] = _sizes(*env)
            pace = modelled(said, job, *sizes[env], speed)
        left[job.name] = pace * max(0, job.steps - folder.reached(out / job.name).steps)
    return left


def modelled(cfg: Fields, job: Job, observation: int, action: int, speed: float) -> float:
    """Seconds an environment step: arithmetic, the environment, and evaluation."""
    learner, cost = cfg["learner"], cfg.get("cost") or {}
    hidden, pairs = learner["hidden"], learner["critics"]
    critic = _weights([observation + action, *hidden, 1])
    actor = _weights([observation, *hidden, 2 * action])
    judged = _weights([observation + action, *cost.get("hidden", []), 1]) if cost else 0
    # Forward and back on both sides of each pair, and once more for the actor's gradient.
    flops = 2 * learner["batch"] * (12 * pairs * critic + 4 * actor + 12 * judged)
    update = OVERHEAD * learner["updates_per_step"] * flops / speed
    every, episodes = int(job.get("evaluate_every")), int(job.get("episodes"))
    looked = 2 * episodes * 1000 / every if every else 0.0
    return update + ENV_STEP * (1 + looked)


def matrix_speed() -> float:
    """Floating-point operations a second of one core, now."""
    a, b = (jnp.asarray(np.ones(shape, np.float32)) for shape in ((100, 256), (256, 256)))
    product = jax.jit(jnp.matmul)
    product(a, b).block_until_ready()
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(200):
            made = product(a, b)
        made.block_until_ready()
        best = min(best, time.perf_counter() - began)
    return 200 * 2 * 100 * 256 * 256 / best


def _weights(sizes: list[int]) -> int:
    return sum(a * b for a, b in itertools.pairwise(sizes))


def _sizes(env: str, horizon: int, observed: int) -> tuple[int, int]:
    made = BlindEnv(env, horizon or None)
    try:
        return (observed or made.observation_size) + 1, made.action_size
    finally:
        made.close()


def _like(job: Job) -> Any:
    """Jobs that take as long, a step."""
    options = {name: value for name, value in job.options.items() if name != "seed"}
    return job.kind.name, json.dumps(options, sort_keys=True)
