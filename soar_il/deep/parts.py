"""The parts of Algorithm 1 for networks (Algorithm 6 in the paper: Base Method + SOAR)."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp

from soar_il.bases.api import Base
from soar_il.bases.fitting import repeated
from soar_il.deep import actor, critics, mixed, policy, replay, trial
from soar_il.deep.collect import Collector
from soar_il.deep.settings import Settings
from soar_il.envs.view import View
from soar_il.errors import NonFiniteError
from soar_il.rng import Streams
from soar_il.soar import Parts, Seen, State
from soar_il.types import Spec, Trajectory

Step = Callable[..., tuple[Any, Any, Seen]]


def initial(key: Streams, base: Base, expert: Any, spec: Spec, settings: Settings) -> State:
    """Lines 1-2: random networks, empty data."""
    cost = base.init(key("cost"), spec, expert)
    pi, c = policy.init(key("policy"), spec, settings), critics.init(key("critics"), spec, settings)
    if base.start is not None:
        pi = policy.started(pi, base.start(cost), settings)
    if base.critic_steps:
        c = pretrained(c, base, cost, expert, key("critics"), settings)
    return State(k=1, policy=pi, cost=cost, critics=c, data=no_data(spec, settings))


def pretrained(
    c: critics.Critics, base: Base, cost: Any, expert: Any, key: Any, s: Settings
) -> critics.Critics:
    """Critics of the expert itself, towards c(s, a) + gamma Q_targ(s', a') with its own a'."""

    def once(c: critics.Critics, key: Any) -> tuple[critics.Critics, Seen]:
        batch, following, known = expert.draw_pairs(key, s.batch, s.critics)
        q = critics.estimates(c.targets, batch.next_observations, following)
        value = jnp.maximum(q, least(base, s))
        goal = base.cost(cost, batch) + s.discount * batch.continues * value
        current = critics.estimates(c.layers, batch.observations, batch.actions)
        goal = jnp.where(known, goal, jax.lax.stop_gradient(current))
        extra = critics.Extra(term=term(base, expert, key, s))
        return critics.towards(c, goal, batch, s, extra)

    return repeated(once, c, jnp.int32(base.critic_steps), key)[0]


def least(base: Base, s: Settings) -> float:
    """No cost-to-go is below this."""
    return base.least_cost / (1 - s.discount)


def term(base: Base, expert: Any, key: Any, s: Settings) -> Any:
    """The base method's own part of the critics' loss."""
    if base.critic_term is None:
        return None
    batch = expert.draw(jax.random.fold_in(key, 1), s.batch)
    return lambda q, n: base.critic_term(q, n, batch)


def no_data(spec: Spec, settings: Settings) -> replay.Replay:
    """D^0: room for what is to come, a table for each critic where they do not share."""
    own = settings.critics if settings.split == "trajectories" and settings.critics > 1 else 0
    return replay.empty(spec, settings.capacity, own)


def parts(
    base: Base, expert: Any, collector: Collector, view: View, spec: Spec, settings: Settings
) -> Parts:
    """How each line is done with networks."""

    def add(data: replay.Replay, taus: list[Trajectory]) -> replay.Replay:
        steps = sum(len(tau.actions) for tau in taus)
        return replay.add(data, [view.treat(tau) for tau in taus], steps)

    def update_cost(cost: Any, expert: Any, taus: Any, data: Any, key: Any) -> tuple[Any, Seen]:
        new, seen = compiled_update(base)(cost, expert, data, key)
        require_finite({"cost": new}, seen)
        return new, {**seen, "steps": data.steps, "trajectories": data.trajectories}

    def repeat(improve: Step) -> Step:
        program = compiled_improve(improve, base, spec, settings)

        def many(_: Parts, c: Any, pi: Any, cost: Any, data: Any, key: Any) -> Any:
            pi, tried = judged(pi, data)
            if uses_expert(base):
                data = mixed.Mixed(data, compiled_actions(base, spec)(cost, expert))
            critics, policy, seen = program(c, pi, cost, data, key)
            require_finite({"critics": critics, "policy": policy}, seen)
            return critics, policy, seen | tried

        return many

    marks = trial.marks(expert, spec) if settings.trial_every else None

    def judged(pi: policy.Policy, data: Any) -> tuple[policy.Policy, Seen]:
        if not settings.trial_every:
            return pi, {}
        current = policy.current(pi)
        new = compiled_judge(pi.trial, current, data, marks, spec, settings, view.horizon)
        return pi._replace(trial=new), {"trial_gap": new.gap, "kept_gap": new.least}

    lines_7_to_11 = learner(base, spec, settings)
    return lines_7_to_11._replace(
        expert=expert, collect=collector, add=add, update_cost=update_cost, repeat=repeat
    )


def uses_expert(base: Base) -> bool:
    """Whether lines 7-11 look at the demonstrations too."""
    return base.expert_share > 0 or base.critic_term is not None


def learner(base: Base, spec: Spec, s: Settings) -> Parts:
    """Lines 7-11 only: all that is compiled into one program."""

    def log_prior(cost: Any) -> Any:
        return None if base.log_prior is None else partial(base.log_prior, cost)

    def estimate(c: Any, pi: Any, cost: Any, data: Any, key: Any) -> tuple[Any, Seen]:
        draw, noise = jax.random.split(key)
        if uses_expert(base):
            batch = mixed.draw_each(data, draw, s.batch, s.critics, base.expert_share, s.recent)
            own = term(base, data.expert, draw, s)
            extra = critics.Extra(log_prior(cost), least(base, s), own)
        else:
            recent = replay.half_recent(s.batch, s.recent)
            batch = data.draw_each(draw, s.batch, s.critics, recent)
            extra = critics.Extra(log_prior(cost), least(base, s))
        costs = jax.lax.stop_gradient(base.cost(cost, batch))
        z = jax.random.normal(noise, batch.actions.shape)
        new, seen = critics.update(c, pi, costs, batch, z, spec, s, extra)
        return new, {**seen, "cost": jnp.mean(costs)}

    def optimistic_q(c: critics.Critics, cost: Any) -> tuple[Any, Any]:
        def q(states: Any, actions: Any) -> tuple[Any, Any]:
            return critics.optimistic_q(c.layers, states, actions, s.sigma)

        return c, (q, log_prior(cost))

    def update_policy(pi: Any, judge: Any, data: Any, key: Any) -> tuple[Any, Seen]:
        draw, noise = jax.random.split(key)
        if uses_expert(base):
            batch = mixed.draw(data, draw, s.batch, base.expert_share, s.recent)
        else:
            batch = data.draw(draw, s.batch, replay.half_recent(s.batch, s.recent))
        z = jax.random.normal(noise, batch.actions.shape)
        q, prior = judge
        return actor.update(pi, q, batch.observations, z, spec, s, prior)

    return Parts(None, _unused, _unused, _unused, estimate, optimistic_q, update_policy)


def _unused(*args: Any) -> Any:
    raise AssertionError("lines 7-11 neither collect nor update the cost")


compiled_judge = jax.jit(trial.judge, static_argnums=(4, 5, 6))


@lru_cache(maxsize=16)
def compiled_update(base: Base) -> Callable[..., Any]:
    return jax.jit(base.update)


@lru_cache(maxsize=16)
def compiled_actions(base: Base, spec: Spec) -> Callable[..., Any]:
    """The demonstrations with the actions that the base method infers, if it does."""
    infer = base.actions
    if infer is None:
        return lambda cost, expert: expert

    def inferred(cost: Any, expert: replay.Replay) -> replay.Replay:
        batch = expert.at(jnp.arange(len(expert.observations)))
        actions = infer(cost, batch)
        if spec.absorbing:
            actions = jnp.where(spec.alive(batch.observations)[:, None], actions, 0.0)
        return expert._replace(actions=actions)

    return jax.jit(inferred)


@lru_cache(maxsize=16)
def compiled_improve(improve: Step, base: Base, spec: Spec, s: Settings) -> Callable[..., Any]:
    """Lines 7-11 as often as the new steps ask for, in one call; runs of a kind share it."""
    lines_7_to_11 = learner(base, spec, s)

    def many(c: Any, pi: Any, cost: Any, data: Any, key: Streams) -> tuple[Any, Any, Seen]:
        wanted = jnp.round(s.updates_per_step * data.new_steps).astype(jnp.int32)

        def step(c: Any, pi: Any, n: Any) -> tuple[Any, Any, Seen]:
            now = Streams(jax.random.fold_in(key.key, n))
            return improve(lines_7_to_11, c, pi, cost, data, now)

        def body(carry: Any) -> Any:
            n, _, c, pi, sums = carry
            c, pi, seen = step(c, pi, n)
            fine = jnp.isfinite(seen["critic_loss"] + seen["actor_loss"])
            return n + 1, fine, c, pi, jax.tree.map(jnp.add, sums, seen)

        def going(carry: Any) -> Any:
            return (carry[0] < wanted) & carry[1]

        shapes = jax.eval_shape(step, c, pi, jnp.int32(0))[2]
        sums = {name: jnp.zeros(x.shape, x.dtype) for name, x in shapes.items()}
        start = (jnp.int32(0), jnp.bool_(True), c, pi, sums)
        done, _, c, pi, sums = jax.lax.while_loop(going, body, start)
        return c, pi, {name: x / jnp.maximum(done, 1) for name, x in sums.items()}

    return jax.jit(many)


@jax.jit
def _finite(tree: Any) -> Any:
    return jax.tree.map(lambda x: jnp.all(jnp.isfinite(x)), tree)


def require_finite(tree: dict[str, Any], seen: Seen) -> None:
    """The guard: a state with a NaN or an infinity is never handed on."""
    flags = jax.device_get(_finite((tree, seen)))
    named = jax.tree_util.tree_leaves_with_path({**flags[0], "metrics": flags[1]})
    bad = [jax.tree_util.keystr(p, simple=True, separator=".") for p, fine in named if not fine]
    if bad:
        groups: dict[str, list[str]] = {}
        for name in bad:
            groups.setdefault(".".join(name.split(".")[:2]), []).append(name)
        raise NonFiniteError(
            f"no longer finite: {', '.join(n for names in groups.values() for n in names[:3])}",
            do="the state before is kept; try a smaller learning_rate, look at the inputs' scale",
        )
