"""Demonstrations from a policy: its episodes, with the seeds they came from, without rewards."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import jax
import numpy as np

from soar_il import provenance
from soar_il.demos import Demos, places
from soar_il.envs import blind, play
from soar_il.envs.blind import BlindEnv, Source
from soar_il.envs.ids import file_name
from soar_il.envs.scored import RewardLog, scored
from soar_il.errors import DemoError, DemoWarning
from soar_il.experts import scripted, shipped
from soar_il.files import Fields
from soar_il.policy import Policy
from soar_il.runs.snapshot import act

FIRST_SEED = 2_000_000_000  # apart from the fixed seeds of evaluation
MOST = 10_000  # episodes, before the seeds of another recording begin
FIRST_USE = 16  # episodes, as many as are shipped of Hopper


class Recorded(NamedTuple):
    """Demonstrations and, beside them, the returns that they do not hold."""

    demos: Demos
    returns: np.ndarray


def demonstrate(
    env: Source,
    policy: Any,
    n: int = 16,
    *,
    deterministic: bool = True,
    seed: int = 0,
    horizon: int | None = None,
    about: Fields | None = None,
) -> Demos:
    """n episodes of a policy in an environment; ``soar_il.record`` is this function.

    ``policy``: an object with ``predict`` as in Stable-Baselines3 (an ``Imitator`` too), or a
    function of an observation; actions are in the environment's units. ``horizon`` is for an
    environment without a time limit. The same seed gives the same starts. What the environment
    pays is not kept.
    """
    outside = [0]
    played, log = scored(env, horizon)
    said = {"who": type(policy).__name__, "deterministic": deterministic, **(about or {})}
    try:
        made = _record(
            played, log, n, seed, lambda _: _player(policy, deterministic, played, outside), said
        )
    finally:
        if not isinstance(env, gymnasium.Env):
            played.close()
    if outside[0]:
        warnings.warn(
            f"{outside[0]} actions were outside of the bounds and were clipped to them",
            DemoWarning,
            stacklevel=2,
        )
    return made.demos


def record(
    policy: Policy,
    trajectories: int,
    deterministic: bool = True,
    seed: int = 0,
    source: Source | None = None,
    about: dict[str, object] | None = None,
) -> Recorded:
    """Episodes of a run's or an expert's snapshot; episode n draws its own noise."""
    env, log = scored(source or policy.env, policy.view.horizon)

    def player(seed: int) -> play.Act:
        if deterministic:
            return lambda seen, step: act(policy, seen)
        shape = (env.horizon, env.action_size)
        noise = np.asarray(jax.random.normal(jax.random.key(seed), shape))
        return lambda seen, step: act(policy, seen, noise[step])

    said = {
        "env": policy.env,
        "who": "soar-il expert",
        "deterministic": deterministic,
        "steps_trained": policy.steps,
        **(about or {}),
    }
    try:
        return _record(env, log, trajectories, seed, player, said)
    finally:
        env.close()


def of_script(env: str, trajectories: int, seed: int = 0) -> Recorded:
    """Episodes of a controller written by hand, as much of them as its script shows."""
    written = scripted.find(env)
    if written is None:
        raise DemoError("has no scripted expert", env, f"known: {', '.join(scripted.SCRIPTS)}")
    controller, every = written
    played, log = scored(env)

    def player(seed: int) -> play.Act:
        return lambda seen, step: played.from_env(controller(seen))

    try:
        said = {"who": "scripted", "deterministic": True}
        made = _record(played, log, trajectories, seed, player, said)
    finally:
        played.close()
    return Recorded(made.demos.subsample(every, seed), made.returns)


def policy_of(run: Path, at: int | None = None) -> Policy:
    """The last policy that a run kept, or the one after ``at`` steps."""
    paths = sorted((run / "snapshots").glob("*.safetensors"))
    if not paths:
        there = "no policy has been kept yet" if run.is_dir() else "is not a run directory"
        raise DemoError(there, str(run), "give the folder of a run that has been trained")
    if at is None:
        return Policy.load(paths[-1])
    kept = {policy.steps: policy for policy in map(Policy.load, paths)}
    if at not in kept:
        steps = ", ".join(map(str, kept))
        raise DemoError(f"no policy was kept at {at} steps", str(run), f"give one of {steps}")
    return kept[at]


def find_or_record(env: str, say: Callable[[str], None]) -> Path:
    """Demonstrations by the environment's name: the user's own, what is shipped, or, at first use,
    a recording of the shipped or scripted expert, which is kept in the user's cache folder."""
    found = places.known(env)
    name = file_name(env)
    card, written = shipped.cards().get(name), scripted.find(env)
    if found is None and card is None and written is None:
        blind.made(env).close()  # what is mistyped has no demonstrations either: this says more
    if found is not None or (card is None and written is None):
        return found or places.find(env)
    who, kind = ("the shipped", str(card["sha256"])) if card else ("the scripted", scripted.code())
    path = cache() / f"{name}-{kind[:12]}.demos"
    if path.exists():
        return path
    say(f"no demonstrations of {name} here: recording {FIRST_USE} of {who} expert in {path}")
    if card:
        about: dict[str, object] = {"expert_sha256": card["sha256"]}
        demos = record(shipped.expert(name)[0], FIRST_USE, about=about).demos
    else:
        demos = of_script(env, FIRST_USE).demos
    try:
        return demos.save(path)
    except DemoError as error:
        if path.exists():  # another process was faster
            return path
        do = "give --demos, or set XDG_CACHE_HOME to a folder that can be written"
        raise DemoError(error.what, error.where, do) from None


def known(env: str) -> bool:
    """Whether ``find_or_record`` finds some."""
    card = file_name(env) in shipped.cards()
    return bool(places.known(env) or card or scripted.find(env))


def cache() -> Path:
    """Beside the compiled programs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "soar-il" / "demos"


def _record(
    env: BlindEnv,
    log: RewardLog,
    n: int,
    seed: int,
    player: Callable[[int], play.Act],
    about: Fields,
) -> Recorded:
    if not 1 <= n <= MOST:
        raise DemoError(f"{n} episodes asked for", "record", f"ask for 1 to {MOST:,}")
    if seed < 0:
        raise DemoError(f"seed is {seed}", "record", "give 0 or more")
    seeds = [FIRST_SEED + seed * MOST + i for i in range(n)]
    taus, returns = [], []
    for each in seeds:
        taus.append(play.episode(env, player(each), each))
        returns.append(sum(log.rewards))
    said = {
        "env": env.name,
        **about,
        "reset_seeds": seeds,
        "versions": provenance.about()["versions"],
    }
    demos = Demos(
        tuple(tau.observations for tau in taus),
        tuple(env.to_env(tau.actions) for tau in taus),
        np.array([tau.terminated for tau in taus]),
        said,
    )
    return Recorded(demos, np.array(returns))


def _player(policy: Any, deterministic: bool, env: BlindEnv, outside: list[int]) -> play.Act:
    """Of somebody else's policy, for one episode; a recurrent one is handed its state back."""
    predict = getattr(policy, "predict", None)
    if predict is None and not callable(policy):
        raise DemoError(
            f"is {type(policy).__name__}, which cannot act",
            "policy",
            "give an object with predict(observation, deterministic=...) or a function",
        )
    state: Any = None

    def act(observation: np.ndarray, step: int) -> np.ndarray:
        nonlocal state
        if predict is None:
            given = policy(observation)
        else:
            more = {} if state is None else {"state": state, "episode_start": np.zeros(1, bool)}
            given, state = predict(observation, deterministic=deterministic, **more)
        action = np.asarray(given, np.float64).reshape(-1)
        if action.shape != (env.action_size,) or not np.isfinite(action).all():
            raise DemoError(
                f"gave {action}"
                if action.size == env.action_size
                else f"gave {action.size} numbers",
                f"policy in {env.name}",
                f"give {env.action_size} finite numbers in the environment's units",
            )
        room = 1e-5 * (env.high - env.low)
        outside[0] += bool(((action < env.low - room) | (action > env.high + room)).any())
        return env.from_env(action)

    return act
