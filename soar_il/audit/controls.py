"""The controls: demonstrations that are damaged or somebody else's, and costs that are not learned.

A return that a control reaches too is no proof of imitation: it comes from the engine, from the
observations' scale, or from what the end of an episode gives away.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from soar_il.bases.api import Base, Data, Needs
from soar_il.configure import Config
from soar_il.demos import Demos
from soar_il.envs.blind import BlindEnv, Source
from soar_il.experts.record import demonstrate
from soar_il.types import Array, Batch, Metrics, PRNGKey, Spec


class Control(NamedTuple):
    """A run beside the real one."""

    says: str  # what the learner is told
    demos: Demos
    base: Base | None = None  # in place of the method, where nothing is learned about the cost


def controls(demos: Demos, env: Source, cfg: Config) -> dict[str, Control]:
    """By name, the real run first.

    Those without demonstrations are given a random policy's, for the scale of observations alone.
    """
    n, horizon = len(demos), cfg.horizon or None
    random = demonstrate(env, _uniform(env, horizon), n, seed=cfg.seed, horizon=horizon)
    ending = ENDING if cfg.termination == "absorbing" else STEPS
    still = demonstrate(env, _still(env, horizon), n, seed=cfg.seed, horizon=horizon)
    return {
        "demonstrations": Control("the demonstrations", demos),
        "shuffled": Control(
            "each coordinate of the demonstrations in an order of its own",
            shuffled(demos, cfg.seed),
        ),
        "random-expert": Control("demonstrations of uniformly random actions", random),
        "still-expert": Control("demonstrations of one action, the middle of its range", still),
        "no-cost": Control("nothing: every cost is 0", random, NO_COST),
        "ending-alone": Control("each step before the episode's end costs -1", random, ending),
    }


def settings(cfg: Config, control: Control) -> Config:
    """The run's settings; without demonstrations, nothing of the engine may look at them either."""
    if control.base is None:
        return cfg
    shown = {"expert_share": 0.0, "expert_share_last": 0.0, "expert_share_steps": 0}
    learner = dataclasses.replace(cfg.learner, trial_every=0, **shown)
    return dataclasses.replace(cfg, base="control", cost=None, learner=learner)


def shuffled(demos: Demos, seed: int) -> Demos:
    """Each coordinate's values in an order of its own over all demonstrations; lengths stay."""
    draw = np.random.default_rng(seed)

    def mixed(parts: Any) -> tuple[np.ndarray, ...]:
        whole = draw.permuted(np.concatenate(parts), axis=0)
        return tuple(np.split(whole, np.cumsum([len(part) for part in parts])[:-1]))

    actions = None if demos.actions is None else mixed(demos.actions)
    return Demos(mixed(demos.observations), actions, demos.terminated, demos.about)


def _uniform(env: Source, horizon: int | None) -> Callable[[np.ndarray], np.ndarray]:
    low, high = _bounds(env, horizon)
    draw = np.random.default_rng(0)
    return lambda observation: draw.uniform(low, high)


def _still(env: Source, horizon: int | None) -> Callable[[np.ndarray], np.ndarray]:
    low, high = _bounds(env, horizon)
    return lambda observation: (low + high) / 2


def _bounds(env: Source, horizon: int | None) -> tuple[np.ndarray, np.ndarray]:
    made = BlindEnv(env, horizon)
    try:
        return np.asarray(made.low, float), np.asarray(made.high, float)
    finally:
        made.close()


def _init(key: PRNGKey, spec: Spec, expert: Data) -> tuple[()]:
    return ()


def _update(cost: tuple[()], expert: Data, data: Data, key: PRNGKey) -> tuple[Any, Metrics]:
    return cost, {"cost_gap": jnp.float32(0)}


def _nothing(cost: tuple[()], batch: Batch) -> Array:
    return jnp.zeros(batch.continues.shape)


def _until_the_end(cost: tuple[()], batch: Batch) -> Array:
    """-1 a step; 0 in the absorbing state, which the last coordinate marks."""
    return jnp.where(batch.observations[..., -1] == 0, -1.0, 0.0)


def _every_step(cost: tuple[()], batch: Batch) -> Array:
    """-1 a step. With early the value after an end is 0; with fixed nobody sees an end."""
    return -jnp.ones(batch.continues.shape)


NO_COST = Base(Needs(), _init, _update, _nothing, least_cost=0.0)
ENDING = Base(Needs(), _init, _update, _until_the_end, least_cost=-1.0)
STEPS = Base(Needs(), _init, _update, _every_step, least_cost=-1.0)
