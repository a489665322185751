"""An episode is a function of the policy, the key and its number: no other episode is in it."""

import jax
import numpy as np
import pytest
import toys

from soar_il.engine.collect import Collector
from soar_il.envs.blind import BlindEnv
from soar_il.envs.view import view_of
from soar_il.learners import LEARNERS, sac
from soar_il.networks import gaussian

ENVS = {"point mass": toys.PointMass, **{n: n for n in ("Hopper-v5", "Walker2d-v5", "Ant-v5")}}
LONGEST = 60


def collector(source):
    env = BlindEnv(source, LONGEST)
    seen = [np.random.default_rng(0).normal(size=(50, env.observation_size))]
    view = view_of(seen, True, "early", 10.0, LONGEST, 0.99)
    spec = view.spec(env.observation_size, env.action_size)
    return Collector(env, view, spec, LEARNERS["sac"], sac.Settings())


@pytest.mark.parametrize("name", ENVS)
def test_an_episode_alone_is_that_of_a_long_run(name):
    one, other = collector(ENVS[name]), collector(ENVS[name])
    layers = gaussian.init(jax.random.key(1), one.spec, (16,))
    key = jax.random.key(7)
    long = [one.play(layers, key, n) for n in range(25)]
    for n in (24, 3, 11):
        alone = other.play(layers, key, n)
        np.testing.assert_array_equal(alone.observations, long[n].observations)
        np.testing.assert_array_equal(alone.actions, long[n].actions)
        assert alone.terminated == long[n].terminated
    assert not np.array_equal(long[3].observations[0], long[11].observations[0])
    one.env.close()
    other.env.close()
