"""Algorithm 2, Tabular SOAR-IL: the parts that plug into Algorithm 1.

The policy is kept as log pi, so that 10^5 multiplicative updates cannot underflow it away.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from soar_il import optimism
from soar_il.soar import Learner, Parts, State, improve
from soar_il.tabular.datasets import Datasets, Rollouts
from soar_il.tabular.settings import Settings
from soar_il.types import Array, Count, Metrics, PRNGKey, Scalar, Tree

BLOCK = 256  # steps of a rollout whose randomness is drawn at once


class World(NamedTuple):
    """What rollouts need of an MDP. The true cost is not among it."""

    transition_cdf: Array  # [S, A, S - 1]
    initial_cdf: Array  # [S - 1]
    discount: Scalar


def tabular_parts(
    world: World,
    expert: Array,
    settings: Settings,
    datasets: Datasets,
    longest: int,
    axis: str | None = None,
) -> Parts:
    """The parts for one run; ``expert`` is the expert's empirical occupancy ([S] or [S, A]).

    ``longest`` bounds the trajectory lengths of the run; ``axis`` names the vmapped axis when
    several runs go side by side.
    """

    def collect(policy: Array, key: PRNGKey) -> Rollouts:
        return roll_out(world, policy, settings, longest, key, axis)

    def update_cost(
        cost: Array, expert: Array, tau: Rollouts, data: Tree, policy: Array, key: PRNGKey
    ) -> tuple[Array, Metrics]:
        learner = learner_occupancy(tau, settings, cost.shape)
        seen = {"learner_occupancy": learner, "steps": tau.length.sum()}
        return cost_update(cost, expert, learner, settings.alpha), seen

    def estimate(
        q: Array, policy: Array, cost: Array, data: Tree, key: PRNGKey
    ) -> tuple[Array, Metrics]:
        return datasets.next_values(data, state_value(q, policy, settings)), {}

    def optimistic_q(next_values: Array, cost: Array) -> tuple[Array, Array]:
        q = optimistic_q_tabular(next_values, cost, world.discount, settings)
        return q, q

    def update_policy(
        policy: Array, q: Array, cost: Array, data: Tree, key: PRNGKey
    ) -> tuple[Array, Metrics]:
        return jax.nn.log_softmax(policy - settings.eta * q), {}  # Algorithm 2, line 14

    learner = Learner(estimate, optimistic_q, update_policy)
    return Parts(expert, collect, datasets.add, update_cost, partial(improve, learner))


def initial_state(datasets: Datasets, n_states: int, n_actions: int, state_only: bool) -> State:
    """pi^1 uniform, Q^1 = 0 (so V^1 = 0, optimistic), c^0 the centre of the cost class [0, 1]."""
    shape = (n_states, n_actions)
    return State(
        k=jnp.int32(1),
        policy=jnp.full(shape, -math.log(n_actions), float),
        cost=jnp.full(shape[:1] if state_only else shape, 0.5, float),
        critics=jnp.zeros(shape),
        data=datasets.empty(),
    )


def cdf(probabilities: Array) -> Array:
    """Cumulative probabilities without the last, for drawing by inversion.

    Divided by their sum, so that an event of probability zero is never drawn.
    """
    total = jnp.cumsum(probabilities, axis=-1)
    return total[..., :-1] / total[..., -1:]


def draw(cumulative: Array, uniform: Array) -> Array:
    """The outcome whose interval holds ``uniform``."""
    return jnp.sum(uniform[..., None] >= cumulative, axis=-1, dtype=jnp.int32)


def uniform_pairs(key: PRNGKey, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Two uniforms of 32 bits each from one 64-bit draw: the generator is what rollouts pay for."""
    bits = jax.random.bits(key, shape, jnp.uint64)
    high, low = bits >> 32, bits & 0xFFFFFFFF
    return high.astype(float) * 2.0**-32, low.astype(float) * 2.0**-32


def geometric(key: PRNGKey, discount: Scalar, count: int) -> Array:
    """Algorithm 2, line 3: ``count`` trajectory lengths, P(n) = (1 - gamma) gamma^(n - 1)."""
    uniform = jax.random.uniform(key, (count,))
    return 1 + jnp.floor(jnp.log1p(-uniform) / jnp.log(discount)).astype(jnp.int32)


def lengths(key: PRNGKey, discount: Scalar, settings: Settings) -> Array:
    """The lengths that ``roll_out`` will use with this key."""
    return geometric(jax.random.split(key)[0], discount, settings.rollouts)


def roll_out(
    world: World, policy: Array, settings: Settings, longest: int, key: PRNGKey, axis: str | None
) -> Rollouts:
    """Algorithm 2, lines 3-4: play pi^k for a geometric number of steps."""
    length = lengths(key, world.discount, settings)
    horizon = jnp.max(length) if axis is None else lax.pmax(jnp.max(length), axis)
    key = jax.random.split(key)[1]
    policy_cdf = cdf(jnp.exp(policy))
    count = length.shape[0]

    def block(b: Count, carry: Tree) -> Tree:
        for_action, for_state = uniform_pairs(jax.random.fold_in(key, b + 1), (BLOCK, count))

        def step(i: Count, carry: Tree) -> Tree:
            s, states, actions = carry
            a = draw(policy_cdf[s], for_action[i])
            successor = draw(world.transition_cdf[s, a], for_state[i])
            t = b * BLOCK + i
            states = lax.dynamic_update_index_in_dim(states, successor, t + 1, 0)
            return successor, states, lax.dynamic_update_index_in_dim(actions, a, t, 0)

        return lax.fori_loop(0, jnp.minimum(BLOCK, horizon - b * BLOCK), step, carry)

    start = draw(world.initial_cdf, jax.random.uniform(jax.random.fold_in(key, 0), (count,)))
    states = jnp.zeros((longest + 1, count), jnp.int32).at[0].set(start)
    actions = jnp.zeros((longest, count), jnp.int32)
    blocks = (horizon + BLOCK - 1) // BLOCK
    _, states, actions = lax.fori_loop(0, blocks, block, (start, states, actions))
    return Rollouts(states, actions, length, horizon)


def learner_occupancy(tau: Rollouts, settings: Settings, shape: tuple[int, ...]) -> Array:
    """CostUpdateTabular, lines 2 and 5: the last step of a geometric rollout is drawn from d^pi.

    With ``cost_trajectories`` it is the mean over those rollouts instead.
    """
    used = slice(-settings.cost_trajectories, None) if settings.cost_trajectories else slice(1)
    last = tau.length[used] - 1
    lane = jnp.arange(tau.length.shape[0])[used]
    index: tuple[Array, ...] = (tau.states[last, lane],)
    if not settings.state_only:
        index += (tau.actions[last, lane],)
    return jnp.zeros(shape).at[index].add(1.0 / last.shape[0])


def cost_update(cost: Array, expert: Array, learner: Array, alpha: float) -> Array:
    """CostUpdateTabular, line 8: a gradient step, projected onto the cost class [0, 1]."""
    return jnp.clip(cost - alpha * (expert - learner), 0.0, 1.0)


def state_value(q: Array, policy: Array, settings: Settings) -> Array:
    """Algorithm 2, line 15: V^k = <pi^k, Q^k>.

    The released notebook weighs with pi^{k-1}: what pi^k was before its step along Q^k.
    """
    if settings.value_policy == "old":
        policy = jax.nn.log_softmax(policy + settings.eta * q)
    return jnp.sum(jnp.exp(policy) * q, axis=-1)


def optimistic_q_tabular(
    next_values: Array, cost: Array, discount: Scalar, settings: Settings
) -> Array:
    """OptimisticQTabular: Q^{k+1} from the L estimates P_l V^k ``[L, S, A]`` and c^k."""
    c = cost[:, None] if settings.state_only else cost
    if settings.rule == "min":
        return c + discount * optimism.minimum(next_values)
    scale = settings.bonus_scale
    if settings.spread == "population":
        scale = scale / math.sqrt(settings.critics)
    if settings.clip == "floor":
        return c + discount * optimism.mean_minus_std(next_values, scale)
    unfloored = optimism.mean_minus_std(next_values, scale, floor=-math.inf)
    return jnp.clip(c + discount * unfloored, 0.0, 1.0 / (1.0 - discount))
