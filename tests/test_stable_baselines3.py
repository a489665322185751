"""Stable-Baselines3's own tools take what was learned here; skipped where it is not installed.

It brings PyTorch along, so it is in no lock file: `pip install stable-baselines3` runs these.
"""

import gymnasium as gym
import numpy as np
import pytest
import tiny
import toys

sb3 = pytest.importorskip("stable_baselines3")
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402


@pytest.fixture(scope="module")
def imitator():
    tiny.register()
    with tiny.imitator("Point-v0", critics=1) as made:
        yield made.learn(60)


@pytest.mark.filterwarnings("ignore:.*render_mode")  # which SB3 asks every environment for
@pytest.mark.parametrize("deterministic", [True, False])
def test_evaluate_policy_takes_an_imitator_and_its_policy(imitator, deterministic):
    for model in (imitator, imitator.policy):
        for env in (Monitor(gym.make("Point-v0")), make_vec_env("Point-v0", n_envs=3)):
            returns, lengths = evaluate_policy(
                model, env, 4, deterministic=deterministic, return_episode_rewards=True
            )
            assert len(returns) == 4
            assert np.isfinite(returns).all()
            assert max(lengths) <= toys.HORIZON
            env.close()


def test_it_measures_the_same_return_as_evaluate(imitator):
    env = Monitor(gym.make("Point-v0"))
    ours = imitator.evaluate(episodes=60)
    theirs, _ = evaluate_policy(imitator, env, 60, deterministic=True)
    assert abs(ours["return"] - theirs) < 3 * ours["return_std"] / np.sqrt(60) * np.sqrt(2)
    env.close()
