"""A base method of your own, without touching the library: moment matching in random features.

The cost is linear, c(s) = w . phi(s), and w points from the expert's mean features to the
learner's. Any tuple of three pure functions is a base method; SOAR is then a matter of ``critics``.
"""

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np

from soar_il import Demos, Imitator
from soar_il.bases.api import Base, Needs

FEATURES, DRAWN = 256, 512


def features(frequencies, observations):
    angles = observations @ frequencies
    both = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=-1)
    return both / jnp.sqrt(FEATURES)


def init(key, spec, expert):
    frequencies = jax.random.normal(key, (spec.observation, FEATURES))
    return frequencies, jnp.zeros(2 * FEATURES)


def update(cost, expert, data, key):
    frequencies, w = cost
    means = [
        jnp.mean(features(frequencies, source.draw(k, DRAWN).observations), axis=0)
        for source, k in zip((expert, data), jax.random.split(key), strict=True)
    ]
    gap = means[1] - means[0]
    return (frequencies, 0.5 * w + 0.5 * gap), {"cost_gap": jnp.linalg.norm(gap)}


def cost(state, batch):
    frequencies, w = state
    return 3.0 * features(frequencies, batch.observations) @ w / (jnp.linalg.norm(w) + 1e-3)


moments = Base(Needs(), init, update, cost)


def swings(policy, seed):
    """Angle, as Pendulum-v1 shows it, over an episode."""
    env = gym.make("Pendulum-v1")
    states, taken = [env.reset(seed=seed)[0]], []
    for _ in range(100):
        taken.append(policy(states[-1]))
        states.append(env.step(taken[-1])[0])
    env.close()
    return np.stack(states), np.stack(taken)


def expert(state):
    """Swing up by pumping energy, then hold."""
    upright, sideways, speed = state
    if upright > 0.9:
        return np.clip([-12 * sideways - 3 * speed], -2, 2)
    energy = speed**2 / 2 + 15 * (upright - 1)
    return np.clip([2 * np.sign(-energy * speed) if abs(speed) > 0.1 else 2.0], -2, 2)


demos = Demos.from_arrays([swings(expert, seed)[0] for seed in range(10)])
imitator = Imitator("Pendulum-v1", demos, base=moments, critics=2, learner={"hidden": [64, 64]})
imitator.learn(4_000, callback=lambda self, seen: print(f"gap {seen['cost_gap']:.3f}") or None)


def upright(policy):
    return np.mean([(swings(policy, seed)[0][50:, 0] > 0.9).mean() for seed in range(100, 105)])


print(
    f"upright in the second half of an episode: expert {100 * upright(expert):.0f} %, "
    f"learned {100 * upright(lambda s: imitator.predict(s)[0]):.0f} %"
)
imitator.close()
