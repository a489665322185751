"""What training asks of demonstrations before its first step."""

import gymnasium
import numpy as np
import pytest
import toys

from soar_il.demos import Demos
from soar_il.demos.fit import require_fit
from soar_il.envs.blind import BlindEnv
from soar_il.errors import DemoError


def pendulum(env=None, size=1, largest=2.0, states=3):
    rng = np.random.default_rng(0)
    s, a = rng.uniform(-1, 1, (2, 21, states)), rng.uniform(-largest, largest, (2, 20, size))
    a[0, 0] = largest
    return Demos.from_arrays(s, a, about={} if env is None else {"env": env})


REFUSED = {
    "of another environment": (
        pendulum("Hopper-v5"),
        "about.env: the demonstrations say Hopper-v5, the environment is Pendulum-v1\n.*convert",
    ),
    "of another version": (pendulum("Pendulum-v0"), "say Pendulum-v0.* is Pendulum-v1"),
    "of a module's other version": (pendulum("mine:Pendulum-v0"), "say mine:Pendulum-v0"),
    "of other observations": (pendulum(states=4), "observations have 4 coordinates.* 3\n"),
    "of other actions": (pendulum(size=2), "actions have 2 coordinates.* 1\n"),
    "of actions that no step received": (
        pendulum(largest=1000.0),
        r"trajectory 0, step 0, actions\[0\]: is 1000, Pendulum-v1 allows -2 to 2\n.*own units",
    ),
    "without actions": (pendulum().without_actions(), "no actions.*\n.*state-only"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_training_cannot_take_demonstrations(name):
    demos, message = REFUSED[name]
    with pytest.raises(DemoError, match=message):
        require_fit(demos, BlindEnv("Pendulum-v1"), needs_actions=True)


@pytest.mark.parametrize("env", [None, "Pendulum-v1", "classic:Pendulum-v1", "a pendulum of mine"])
def test_demonstrations_of_the_environment_are_taken(env):
    require_fit(pendulum(env), BlindEnv("Pendulum-v1"), needs_actions=True)
    require_fit(pendulum(env).without_actions(), BlindEnv("Pendulum-v1"), needs_actions=False)


def test_a_module_s_prefix_on_the_environment_s_side_does_not_count_either():
    if "Point-v0" not in gymnasium.registry:
        gymnasium.register("Point-v0", "toys:PointMass", max_episode_steps=toys.HORIZON)
    demos = toys.demos_of(toys.PointMass, 2, seed=0)
    labelled = Demos(demos.observations, demos.actions, demos.terminated, {"env": "Point-v0"})
    require_fit(labelled, BlindEnv("toys:Point-v0"), needs_actions=True)


def test_an_environment_from_a_function_is_known_by_sizes_and_bounds():
    def hopper_like():
        return gymnasium.make("Pendulum-v1")

    require_fit(pendulum("Hopper-v5"), BlindEnv(hopper_like), needs_actions=True)
    with pytest.raises(DemoError, match="allows -2 to 2"):
        require_fit(pendulum(largest=2.1), BlindEnv(hopper_like), needs_actions=True)


def test_float32_may_lose_a_little_of_a_bound():
    require_fit(pendulum(largest=2.0 + 1e-6), BlindEnv("Pendulum-v1"), needs_actions=True)
