"""Several environments stepped together: the same data rules, and runs that repeat to the bit."""

import gymnasium as gym
import jax
import numpy as np
import pytest
import tiny
import toys

from soar_il import Imitator
from soar_il.build import build
from soar_il.configure import resolve
from soar_il.errors import ConfigError, EnvError

STEPS = 400


def built(n_envs):
    said = {"horizon": toys.HORIZON, "n_envs": n_envs, "learner": tiny.LEARNER}
    cfg = resolve("ml-irl", "Point-v0", **said, cost=tiny.cost("ml-irl"))
    return build(cfg, toys.PointMass, tiny.demos())


def test_uniform_episodes_are_those_of_one_environment():
    key = jax.random.key(0)
    collected = {}
    for n in (1, 3):
        made = built(n)
        collected[n] = made.parts.collect(made.start().policy, key)
    alone, together = collected[1], collected[3]
    assert len(together) % 3 == 0
    for one, other in zip(alone, together, strict=False):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_run_repeats_and_resumes_to_the_bit(tmp_path):
    prints = []
    for cut in (False, True):
        with tiny.imitator(n_envs=3, critics=2, folder=tmp_path / str(cut)) as imitator:
            imitator.learn(STEPS // 2 if cut else STEPS)
            if cut:
                imitator.save(tmp_path / "kept")
            else:
                steps, played = imitator.num_timesteps, imitator.fingerprint()
        if cut:
            with Imitator.load(tmp_path / "kept", toys.PointMass) as imitator:
                assert imitator.config.n_envs == 3
                imitator.learn(STEPS - imitator.num_timesteps)
                assert imitator.num_timesteps == steps
                prints.append(imitator.fingerprint())
    assert prints == [played]


def test_a_vector_environment_is_taken_as_it_is_made(tmp_path):
    tiny.register()
    several = gym.make_vec("Point-v0", num_envs=2)
    with tiny.imitator(several, critics=1, folder=tmp_path / "run") as imitator:
        assert (imitator.config.env, imitator.config.n_envs) == ("Point-v0", 2)
        imitator.learn(60)
        assert imitator.evaluate(episodes=1)["length"] <= toys.HORIZON
        imitator.save(tmp_path / "run")
    several.close()
    Imitator.load(tmp_path / "run").close()  # by its id alone


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(EnvError, match="n_envs asks for several"):
        tiny.imitator(toys.PointMass(), n_envs=2)
    several = gym.make_vec("CartPole-v1", num_envs=2)  # a simulator of its own for all of them
    with pytest.raises(EnvError, match="does not say how one of it is made"):
        Imitator(several, tiny.demos())
    several.close()
    tiny.register()
    several = gym.make_vec("Point-v0", num_envs=2)
    with pytest.raises(ConfigError, match="has 2"):
        Imitator(several, tiny.demos(), n_envs=3)
    several.close()
