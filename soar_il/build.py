"""From settings, an environment and demonstrations to the parts and first state of Algorithm 1."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from soar_il import rng
from soar_il.bases import BASES
from soar_il.bases.api import Base
from soar_il.bases.given import Given
from soar_il.bases.inverse import inferring
from soar_il.configure import Config
from soar_il.demos import Demos
from soar_il.demos.fit import require_fit
from soar_il.engine import parts as engine
from soar_il.engine import replay
from soar_il.engine.collect import Collector, Wanted
from soar_il.engine.data import Replay
from soar_il.engine.parts import Kit
from soar_il.envs import several
from soar_il.envs.blind import BlindEnv, Source
from soar_il.envs.view import View, view_of
from soar_il.errors import ConfigError
from soar_il.learners import LEARNERS
from soar_il.learners.settings import Settings
from soar_il.networks.mlp import Layers
from soar_il.soar import Parts, State
from soar_il.types import Spec, Trajectory, Tree

MOST_FRESH = 65_536  # under ``fixed`` an iteration may add many more; the oldest are left out


class Built(NamedTuple):
    """What the loop runs on."""

    parts: Parts
    start: Callable[[], State]  # lines 1-2, which a resumed run needs the shapes of alone
    env: BlindEnv
    view: View
    spec: Spec
    no_data: Callable[[], Tree]  # D^0 anew
    kept: Callable[[Tree], Layers]  # pi^k -> what is evaluated and saved
    wanted: Callable[[Tree], Wanted]  # pi^k -> how much the next iteration collects
    trajectory: Any = Trajectory  # what collect makes a list of
    takes_steps: bool = True  # or the policy of line 1 is the result
    others: tuple[BlindEnv, ...] = ()  # stepped together with env


def build(cfg: Config, source: Source, demos: Demos, base: Base | None = None) -> Built:
    """Everything checked before the first step; ``base`` where it is not one of the table."""
    if base is None and cfg.base not in BASES:
        raise ConfigError(
            f"the base method {cfg.base!r} is not of the table", do="give it again, as base=..."
        )
    env = BlindEnv(source, cfg.horizon or None)
    others = several.copies(source, cfg.n_envs - 1, cfg.horizon or None, env.name)
    method = method_of(cfg, env.horizon, base)
    demos = demos.select(cfg.demonstrations) if cfg.demonstrations else demos
    require_fit(demos, env, method.needs.actions)
    check_sizes(cfg, env)
    view = view_for(cfg, env.horizon, list(demos.observations))
    spec = view.spec(env.observation_size, env.action_size)
    expert = expert_data(demos, env, view, spec)
    kit = Kit(LEARNERS[cfg.algorithm], method, spec, cfg.learner)
    collector = Collector(env, view, spec, kit.algorithm, cfg.learner, others=others)
    return built(kit, cfg, expert, collector)


def built(kit: Kit, cfg: Config, expert: Tree, collector: Collector) -> Built:
    """The parts, and how they start."""
    return Built(
        engine.parts(kit, expert, collector),
        partial(engine.initial, kit, rng.at(cfg.seed, 0), expert),
        collector.env,
        collector.view,
        kit.spec,
        partial(engine.no_data, kit.spec, cfg.learner),
        partial(engine.kept, kit.algorithm),
        collector.wanted,
        takes_steps=kit.base.needs.steps,
        others=collector.others,
    )


def method_of(cfg: Config, horizon: int, base: Base | None) -> Base:
    """The base method, with an inverse model where its demonstrations' actions are inferred."""
    s: Settings = cfg.learner
    fresh = most_fresh(s, horizon, cfg.n_envs)
    given = Given(horizon, fresh, s.hidden, s.discount)
    method = base or BASES[cfg.base].make(cfg.cost, given)
    if method.needs.expert_rows and not s.expert_share:
        what = f"{cfg.base} learns from the expert's rows, and learner.expert_share is 0"
        raise ConfigError(what, do="give learner.expert_share = 0.5")
    if method.needs.absorbing and cfg.termination != "absorbing":
        what = f"{cfg.base} learns what the absorbing state costs, and termination is "
        raise ConfigError(what + cfg.termination, do="give --termination absorbing")
    if not method.needs.steps and s.critics > 1:
        what = f"{cfg.base} takes no steps and has no critics, and learner.critics is {s.critics}"
        raise ConfigError(what, do="give --critics 1")
    if method.needs.expert_rows and s.share_moves and not s.expert_share_last:
        what = f"{cfg.base} learns from the expert's rows, and learner.expert_share_last is 0"
        raise ConfigError(what, do="give more than 0")
    if method.needs.actions or not s.expert_share or method.infer_actions:
        return method
    return _inferring(method, s.inverse_hidden, s.updates_per_step)


def takes_steps(cfg: Config) -> bool:
    """Whether a method of the table takes environment steps, or only clones."""
    return BASES[cfg.base].make(cfg.cost, Given(0, 0, cfg.learner.hidden)).needs.steps


_inferring = lru_cache(maxsize=16)(inferring)  # what is equal gives one object


def most_fresh(s: Settings, horizon: int, n_envs: int = 1) -> int:
    """Transitions that one iteration adds, at the most."""
    by_steps = 2 * max(s.iteration_steps, s.random_steps)  # an end may add one of its own
    by_episodes = max(s.critics, s.iteration_trajectories) * (horizon + 1)
    past = (n_envs + 1) * (horizon + 1)  # the episodes that reach it are finished
    return min(max(by_steps, by_episodes) + past, MOST_FRESH, s.capacity)


def check_sizes(cfg: Config, env: BlindEnv) -> None:
    """Room for the data of every critic, and no more coordinates than there are."""
    s: Settings = cfg.learner
    needed = max(replay.CHUNK, s.critics * (env.horizon + 2))
    if s.capacity < needed:
        raise ConfigError(
            f"capacity is {s.capacity}",
            do=f"give at least {needed}, an episode of {env.horizon} steps for each critic",
        )
    check_observed(cfg.observed, env)


def check_observed(observed: int, env: BlindEnv) -> None:
    """No more coordinates than there are."""
    if observed > env.observation_size:
        raise ConfigError(
            f"observed is {observed}",
            env.name,
            f"an observation has {env.observation_size} coordinates; give at most these, 0 for all",
        )


def view_for(cfg: Config, horizon: int, observations: list[np.ndarray]) -> View:
    """How the networks of this run see observations."""
    discount, standardise = cfg.learner.discount, cfg.standardise and bool(observations)
    return view_of(
        observations, standardise, cfg.termination, cfg.indicator, horizon, discount, cfg.observed
    )


def expert_data(demos: Demos, env: BlindEnv, view: View, spec: Spec) -> Replay:
    """D_E, treated as rollouts are."""
    none = [np.zeros((len(s) - 1, env.action_size)) for s in demos.observations]
    actions = none if demos.actions is None else [env.from_env(a) for a in demos.actions]
    ends = demos.terminated
    treated = [
        view.treat(Trajectory(s, a.astype(np.float32), bool(end)))
        for s, a, end in zip(demos.observations, actions, ends, strict=True)
    ]
    rows = sum(len(t.observations) for t in treated)
    return replay.add(replay.empty(spec, max(rows, replay.CHUNK), 0), treated, 0)
