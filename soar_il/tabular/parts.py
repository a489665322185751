"""Algorithm 2, Tabular SOAR-IL: the parts that plug into Algorithm 1.

The policy is kept as log pi, so that 10^5 multiplicative updates cannot underflow it away.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from soar_il import optimism
from soar_il.soar import Learner, Parts, Seen, State, improve
from soar_il.tabular.datasets import Datasets, Trajectories
from soar_il.tabular.settings import Settings

BLOCK = 256  # steps of a rollout whose randomness is drawn at once


class World(NamedTuple):
    """What rollouts need of an MDP. The true cost is not among it."""

    transition_cdf: Any  # [S, A, S - 1]
    initial_cdf: Any  # [S - 1]
    discount: Any


def tabular_parts(
    world: World,
    expert: Any,
    settings: Settings,
    datasets: Datasets,
    longest: int,
    axis: str | None = None,
) -> Parts:
    """The parts for one run; ``expert`` is the expert's empirical occupancy ([S] or [S, A]).

    ``longest`` bounds the trajectory lengths of the run; ``axis`` names the vmapped axis when
    several runs go side by side.
    """

    def collect(policy: Any, key: Any) -> Trajectories:
        return roll_out(world, policy, settings, longest, key, axis)

    def update_cost(
        cost: Any, expert: Any, tau: Trajectories, data: Any, policy: Any, key: Any
    ) -> tuple[Any, Seen]:
        learner = learner_occupancy(tau, settings, cost.shape)
        seen = {"learner_occupancy": learner, "steps": tau.length.sum()}
        return cost_update(cost, expert, learner, settings.alpha), seen

    def estimate(q: Any, policy: Any, cost: Any, data: Any, key: Any) -> tuple[Any, Seen]:
        return datasets.next_values(data, state_value(q, policy, settings)), {}

    def optimistic_q(next_values: Any, cost: Any) -> tuple[Any, Any]:
        q = optimistic_q_tabular(next_values, cost, world.discount, settings)
        return q, q

    def update_policy(policy: Any, q: Any, cost: Any, data: Any, key: Any) -> tuple[Any, Seen]:
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


def cdf(probabilities: Any) -> jax.Array:
    """Cumulative probabilities without the last, for drawing by inversion.

    Divided by their sum, so that an event of probability zero is never drawn.
    """
    total = jnp.cumsum(probabilities, axis=-1)
    return total[..., :-1] / total[..., -1:]


def draw(cumulative: Any, uniform: Any) -> jax.Array:
    """The outcome whose interval holds ``uniform``."""
    return jnp.sum(uniform[..., None] >= cumulative, axis=-1, dtype=jnp.int32)


def uniform_pairs(key: Any, shape: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    """Two uniforms of 32 bits each from one 64-bit draw: the generator is what rollouts pay for."""
    bits = jax.random.bits(key, shape, jnp.uint64)
    high, low = bits >> 32, bits & 0xFFFFFFFF
    return high.astype(float) * 2.0**-32, low.astype(float) * 2.0**-32


def geometric(key: Any, discount: Any, count: int) -> jax.Array:
    """Algorithm 2, line 3: ``count`` trajectory lengths, P(n) = (1 - gamma) gamma^(n - 1)."""
    uniform = jax.random.uniform(key, (count,))
    return 1 + jnp.floor(jnp.log1p(-uniform) / jnp.log(discount)).astype(jnp.int32)


def lengths(key: Any, discount: Any, settings: Settings) -> jax.Array:
    """The lengths that ``roll_out`` will use with this key."""
    return geometric(jax.random.split(key)[0], discount, settings.rollouts)


def roll_out(
    world: World, policy: Any, settings: Settings, longest: int, key: Any, axis: str | None
) -> Trajectories:
    """Algorithm 2, lines 3-4: play pi^k for a geometric number of steps."""
    length = lengths(key, world.discount, settings)
    horizon = jnp.max(length) if axis is None else lax.pmax(jnp.max(length), axis)
    key = jax.random.split(key)[1]
    policy_cdf = cdf(jnp.exp(policy))
    count = length.shape[0]

    def block(b: Any, carry: Any) -> Any:
        for_action, for_state = uniform_pairs(jax.random.fold_in(key, b + 1), (BLOCK, count))

        def step(i: Any, carry: Any) -> Any:
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
    return Trajectories(states, actions, length, horizon)


def learner_occupancy(tau: Trajectories, settings: Settings, shape: tuple[int, ...]) -> jax.Array:
    """CostUpdateTabular, lines 2 and 5: the last step of a geometric rollout is drawn from d^pi.

    With ``cost_trajectories`` it is the mean over those rollouts instead.
    """
    used = slice(-settings.cost_trajectories, None) if settings.cost_trajectories else slice(1)
    last = tau.length[used] - 1
    lane = jnp.arange(tau.length.shape[0])[used]
    index: tuple[Any, ...] = (tau.states[last, lane],)
    if not settings.state_only:
        index += (tau.actions[last, lane],)
    return jnp.zeros(shape).at[index].add(1.0 / last.shape[0])


def cost_update(cost: Any, expert: Any, learner: Any, alpha: Any) -> jax.Array:
    """CostUpdateTabular, line 8: a gradient step, projected onto the cost class [0, 1]."""
    return jnp.clip(cost - alpha * (expert - learner), 0.0, 1.0)


def state_value(q: Any, policy: Any, settings: Settings) -> jax.Array:
    """Algorithm 2, line 15: V^k = <pi^k, Q^k>.

    The released notebook weighs with pi^{k-1}: what pi^k was before its step along Q^k.
    """
    if settings.value_policy == "old":
        policy = jax.nn.log_softmax(policy + settings.eta * q)
    return jnp.sum(jnp.exp(policy) * q, axis=-1)


def optimistic_q_tabular(
    next_values: Any, cost: Any, discount: Any, settings: Settings
) -> jax.Array:
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
