"""What is compiled: line 6; and lines 7-11, repeated for each new step. One call each."""

from collections.abc import Callable
from functools import lru_cache, partial

import jax
import jax.numpy as jnp

from soar_il import soar
from soar_il.bases.api import Base, Cost
from soar_il.engine.data import Replay
from soar_il.engine.draws import Draws
from soar_il.learners.api import Algorithm
from soar_il.learners.settings import Settings
from soar_il.networks import gaussian
from soar_il.rng import Streams
from soar_il.types import Array, Metrics, PRNGKey, Spec, Tree


@lru_cache(maxsize=16)
def compiled_update(base: Base, spec: Spec) -> Callable[..., tuple[Cost, Metrics]]:
    """Line 6: (cost, expert, data, layers of the policy, key) -> cost, seen."""

    def update(cost: Cost, expert: Tree, data: Tree, layers: Tree, key: PRNGKey) -> Tree:
        if base.needs.log_pi:
            return base.update(cost, expert, data, key, partial(gaussian.log_pi, layers, spec))
        return base.update(cost, expert, data, key)

    return jax.jit(update)


@lru_cache(maxsize=16)
def compiled_actions(base: Base, spec: Spec) -> Callable[[Cost, Replay], Replay]:
    """The demonstrations with the actions that the base method infers, if it does."""
    infer = base.infer_actions
    if infer is None:
        return lambda cost, expert: expert

    def inferred(cost: Cost, expert: Replay) -> Replay:
        batch = expert.at(jnp.arange(len(expert.observations)))
        actions = infer(cost, batch)
        if spec.absorbing:
            actions = jnp.where(spec.alive(batch.observations)[:, None], actions, 0.0)
        return expert._replace(actions=actions)

    return jax.jit(inferred)


@lru_cache(maxsize=16)
def compiled_improve(
    algorithm: Algorithm, base: Base, spec: Spec, s: Settings
) -> Callable[..., tuple[Tree, Tree, Array, Metrics]]:
    """Lines 7-11, updates_per_step times for each new step; runs of a kind share the program.

    (critics, policy, cost, data, expert or None, key) -> critics, policy, updates done, means of
    what was seen. It stops at the first loss that is not finite.
    """
    learner = algorithm.learner(base, spec, s)

    def many(c: Tree, pi: Tree, cost: Cost, data: Tree, expert: Tree, key: Streams) -> Tree:
        wanted = jnp.round(s.updates_per_step * data.new_steps).astype(jnp.int32)
        draws = Draws(data, expert, s, base.needs.demonstrations)

        def step(c: Tree, pi: Tree, n: Array) -> tuple[Tree, Tree, Metrics]:
            now = Streams(jax.random.fold_in(key.key, n))
            return soar.improve(learner, c, pi, cost, draws, now)

        def body(carry: Tree) -> Tree:
            n, _, c, pi, sums = carry
            c, pi, seen = step(c, pi, n)
            fine = jnp.isfinite(seen["critic_loss"] + seen["actor_loss"])
            return n + 1, fine, c, pi, jax.tree.map(jnp.add, sums, seen)

        def going(carry: Tree) -> Array:
            return (carry[0] < wanted) & carry[1]

        shapes = jax.eval_shape(step, c, pi, jnp.int32(0))[2]
        sums = {name: jnp.zeros(x.shape, x.dtype) for name, x in shapes.items()}
        start = (jnp.int32(0), jnp.bool_(True), c, pi, sums)
        done, _, c, pi, sums = jax.lax.while_loop(going, body, start)
        return c, pi, done, {name: x / jnp.maximum(done, 1) for name, x in sums.items()}

    return jax.jit(many)
