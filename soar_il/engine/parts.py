"""The parts of Algorithm 1 for networks (Algorithm 6 in the paper: Base Method + SOAR)."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from soar_il.bases.api import Base, Cost
from soar_il.engine import replay, trial
from soar_il.engine.collect import Collector, Played
from soar_il.engine.data import Replay
from soar_il.engine.guard import require_finite
from soar_il.engine.loop import compiled_actions, compiled_improve, compiled_update
from soar_il.engine.trial import Trial
from soar_il.learners import critics
from soar_il.learners.api import Algorithm
from soar_il.learners.settings import Settings
from soar_il.networks.mlp import Layers
from soar_il.rng import Streams
from soar_il.soar import Parts, State
from soar_il.types import Metrics, PRNGKey, Spec, Trajectory, Tree


def kept(algorithm: Algorithm, pi: Played) -> Layers:
    """What is evaluated and saved: the best of the trials where there are any, else the latest."""
    current = algorithm.kept(pi.policy)
    return trial.chosen(pi.trial, current) if isinstance(pi.trial, Trial) else current


class Kit(NamedTuple):
    """What a run is made of; hashable, so that runs of a kind share their programs."""

    algorithm: Algorithm
    base: Base
    spec: Spec
    s: Settings


def initial(kit: Kit, key: Streams, expert: Tree) -> State:
    """Lines 1-2: random networks or a clone, empty data."""
    algorithm, base, spec, s = kit
    cost = base.init(key("cost"), spec, expert)
    c, policy = algorithm.init(key, spec, s)
    if base.clone is not None:
        policy = algorithm.started(policy, base.clone.layers(cost), s)
        if base.clone.critic_steps:
            steps = base.clone.critic_steps
            c = critics.of_the_expert(c, base, cost, expert, key("critics"), s, steps)
    tried = trial.init(algorithm.kept(policy)) if s.trial_every else ()
    pi = Played(policy, jnp.int32(0), jnp.bool_(base.clone is not None), tried)
    return State(k=1, policy=pi, cost=cost, critics=c, data=no_data(spec, s))


def no_data(spec: Spec, s: Settings) -> Replay:
    """D^0: room for what is to come, a table for each critic where they do not share."""
    return replay.empty(spec, s.capacity, s.critics if s.own_data else 0)


def parts(kit: Kit, expert: Tree, collector: Collector) -> Parts:
    """How each line is done with networks."""
    algorithm, base, spec, s = kit
    fit_cost, actions_of = compiled_update(base, spec), compiled_actions(base, spec)
    many = compiled_improve(*kit)
    joins_expert = s.expert_share > 0 or base.needs.demonstrations
    marks = trial.marks(expert, spec) if s.trial_every else None

    def add(data: Replay, taus: list[Trajectory]) -> Replay:
        steps = sum(len(tau.actions) for tau in taus)
        return replay.add(data, [collector.view.treat(tau) for tau in taus], steps)

    def update_cost(
        cost: Cost, expert: Tree, taus: Tree, data: Tree, pi: Played, key: PRNGKey
    ) -> tuple[Cost, Metrics]:
        new, seen = fit_cost(cost, expert, data, algorithm.acting(pi.policy), key)
        require_finite({"cost": new}, seen)
        return new, {**seen, "steps": data.steps, "trajectories": data.trajectories}

    def improve(
        c: Tree, pi: Played, cost: Cost, data: Tree, key: Streams
    ) -> tuple[Tree, Played, Metrics]:
        pi, tried = judged(pi, data)  # which policy is kept
        theirs = actions_of(cost, expert) if joins_expert else None  # the expert's rows
        c, policy, done, seen = many(c, pi.policy, cost, data, theirs, key)  # lines 7-11
        require_finite({"critics": c, "policy": policy}, seen)
        return c, pi._replace(policy=policy, updates=pi.updates + done), seen | tried

    def judged(pi: Played, data: Tree) -> tuple[Played, Metrics]:
        if not s.trial_every:
            return pi, {}
        current = algorithm.kept(pi.policy)
        new = compiled_judge(pi.trial, current, data, marks, spec, s, collector.view.horizon)
        return pi._replace(trial=new), {"trial_gap": new.gap, "kept_gap": new.least}

    return Parts(expert, collector.collect, add, update_cost, improve)


compiled_judge = jax.jit(trial.judge, static_argnums=(4, 5, 6))
