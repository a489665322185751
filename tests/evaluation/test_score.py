"""A policy's true returns, and what becomes of it in an environment that is not its own."""

import numpy as np
import pytest
import tiny
import toys
from gymnasium.spaces import Box

from soar_il.errors import EnvError
from soar_il.evaluation.score import Evaluator
from soar_il.runs.run import Run


class MoreObserved(toys.PointMass):
    observation_space = Box(-np.inf, np.inf, (3,))

    def reset(self, **given):
        observation, info = super().reset(**given)
        return np.append(observation, 0), info


class FewerActions(toys.PointMass):
    action_space = Box(np.float32([-1]), np.float32([1]))


class OtherBounds(toys.PointMass):
    """Of the same sizes: nothing but the bounds says that actions mean something else."""

    action_space = Box(np.float32([-5, -5]), np.float32([5, 5]))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit") / "run"
    with tiny.imitator(critics=2, folder=folder) as imitator:
        imitator.learn(60).save(folder)
        imitator._run.keep_policy()
        return folder, imitator.policy


WRONG = {
    MoreObserved: "its observations have 3 coordinates, not 2",
    FewerActions: r"its actions go from \[-1.0\] to \[1.0\], not from \[-1.0, -2.0\]",
    OtherBounds: r"its actions go from \[-5.0, -5.0\] to \[5.0, 5.0\], not from \[-1.0, -2.0\]",
}


@pytest.mark.parametrize("env", WRONG)
def test_a_policy_is_not_scored_where_it_does_not_fit(run, env):
    with pytest.raises(EnvError, match=f"{WRONG[env]}(.|\n)*trained in: PointMass"):
        Evaluator(env, 2, toys.HORIZON).record(run[1])


def test_a_run_does_not_go_on_where_actions_mean_something_else(run):
    with pytest.raises(EnvError, match=WRONG[OtherBounds]):
        Run.resume(run[0], OtherBounds)
    Run.resume(run[0], toys.PointMass).close()


def test_a_record_says_which_return_is_the_mode_s_and_which_the_draws(run):
    evaluator, policy = Evaluator(toys.PointMass, 3, toys.HORIZON), run[1]
    record = evaluator.record(policy)
    mode, drawn = (evaluator.score(policy, which).returns.mean() for which in (True, False))
    assert (record["return"], record["stochastic_return"]) == (mode, drawn)
    assert mode != drawn
    evaluator.close()
