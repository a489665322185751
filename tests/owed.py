"""What a method owes the engine, as functions; each gives what a test then compares."""

import jax
import jax.numpy as jnp
import numpy as np
import tiny
import toys

from soar_il import arrays
from soar_il.agent import Imitator
from soar_il.bases import BASES
from soar_il.bases.api import Look
from soar_il.bases.given import Given
from soar_il.engine import replay
from soar_il.types import Batch, Spec, Treated

SPEC = Spec(observation=3, action=2, absorbing=False)
GIVEN = Given(horizon=64, fresh=2048, hidden=(16, 16))
STEPS = 200
GAMMA = 0.9


def made(name, **settings):
    entry = BASES[name]
    return entry.make(entry.settings(**settings), GIVEN)


def data_of(seed, centre, push, n=8, length=40):
    """A replay of wanderings about ``centre`` with actions about ``push``."""
    rng = np.random.default_rng(seed)
    treated = []
    for _ in range(n):
        states = centre + 0.5 * rng.normal(size=(length + 1, SPEC.observation))
        actions = np.clip(push + 0.2 * rng.normal(size=(length, SPEC.action)), -1, 1)
        one = np.ones(length, np.float32)
        occupancy = (0.99 ** np.arange(length)).astype(np.float32)
        treated.append(Treated(np.float32(states), np.float32(actions), one, one, occupancy))
    return replay.add(replay.empty(SPEC, 1024, 0), treated, n * length)


def leaves(tree):
    return [np.array(x) for x in jax.tree.leaves(tree)]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))


def fitted(base, expert, learner, rounds=2, seed=0):
    """The cost after so many updates, what the last one saw, and whether all was left as it was."""
    key = jax.random.key(seed)
    cost = base.init(key, SPEC, expert)
    update, seen, before = jax.jit(base.update), {}, leaves((cost, expert, learner))
    start = cost
    for n in range(rounds):
        cost, seen = update(cost, expert, learner, jax.random.fold_in(key, n))
    return cost, seen, same(before, (start, expert, learner))


def stored(cost):
    """The cost as a checkpoint brings it back."""
    flat, tree = jax.tree.flatten(cost)
    kept = arrays.unpack(arrays.pack({f"{n:03d}": np.asarray(x) for n, x in enumerate(flat)}))
    return jax.tree.unflatten(tree, [kept[f"{n:03d}"] for n in range(len(flat))])


def shuffled(batch, order):
    return Batch(*(np.asarray(x)[order] for x in batch))


def look_of(q, v, y, expert, weights=None):
    """One pair of critics at four rows; ``v`` is what the policy's value is asked to be."""
    q, v, y, expert = (np.asarray(x) for x in (q, v, y, expert))
    rows = len(y)
    nothing = np.zeros((1, rows, 1), np.float32)
    one = np.ones((1, rows), np.float32)
    weights = one if weights is None else np.float32(weights)[None]
    batch = Batch(
        nothing, nothing, nothing, one, weights, expert[None], np.zeros((1, rows), np.int32)
    )
    return Look(
        q=jnp.asarray(np.float32(q)[None]),
        goal=jnp.asarray(np.float32(y)[None]),
        critics=None,
        value=lambda states: jnp.asarray(v, jnp.float32)[None],
        act=None,
        alpha=0.0,
        key=None,
        batch=batch,
        expert=None,
        discount=GAMMA,
    )


Q = [[1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 1.0, -1.0]]
V = [[0.5, 1.5, 2.0, 3.0], [1.0, 1.0, 0.0, 2.0]]
Y = [0.3, 0.6, 0.9, 1.2]
EXPERT = [False, False, True, True]


def straight_and_resumed(folder, steps=STEPS, **how):
    """Two runs of twice so many steps, one of them stopped half-way; and what the first saw."""
    seen = []
    with tiny.imitator(**how) as imitator:
        imitator.learn(steps)
        imitator.save(folder / "half")
        imitator.learn(steps, callback=lambda _, now: seen.append(now))
        whole = imitator.fingerprint()
    with Imitator.load(folder / "half", toys.PointMass) as again:
        half = again.fingerprint()
        again.learn(steps)
        resumed = again.fingerprint()
    return whole, resumed, half, seen
