import gymnasium as gym
import numpy as np
import pytest
import toys
from gymnasium.spaces import Box
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from soar_il.envs import ids
from soar_il.envs.blind import BlindEnv
from soar_il.errors import EnvError, SoarError

unit = st.floats(-1, 1, width=32)
LOW, HIGH = toys.PointMass.action_space.low, toys.PointMass.action_space.high


def blind(source=toys.PointMass, horizon=toys.HORIZON):
    return BlindEnv(source, horizon)


def test_the_bounds_of_each_dimension_are_where_one_is():
    env = blind()
    np.testing.assert_array_equal(env.to_env(np.float32([1, 1])), HIGH)
    np.testing.assert_array_equal(env.to_env(np.float32([-1, -1])), LOW)
    np.testing.assert_array_equal(env.to_env(np.float32([0, 0])), (LOW + HIGH) / 2)
    np.testing.assert_array_equal(env.from_env(np.stack([LOW, HIGH])), [[-1, -1], [1, 1]])


@given(hnp.arrays(np.float32, (3, 2), elements=unit))
def test_to_the_environment_s_units_and_back(actions):
    env = blind()
    there = env.to_env(actions)
    assert there.dtype == np.float32
    assert np.all((there >= LOW) & (there <= HIGH))
    np.testing.assert_allclose(env.from_env(there), actions, atol=3e-7)


@given(hnp.arrays(np.float32, (3, 2), elements=st.floats(-9, 9, width=32)))
def test_actions_outside_the_bounds_are_moved_to_them(actions):
    env = blind()
    there, back = env.to_env(actions), env.from_env(actions)
    assert np.all((there >= LOW) & (there <= HIGH))
    assert np.all(np.abs(back) <= 1)


@given(hnp.arrays(np.float32, (4, 2), elements=unit))
def test_actions_that_are_in_the_unit_box_already_keep_their_bits(actions):
    env = blind(lambda: toys.Spaces(action=Box(-1, 1, (2,))))
    for there in (env.to_env(actions), env.from_env(actions)):
        assert there.dtype == np.float32
        np.testing.assert_array_equal(there, actions)


class Remembering(toys.PointMass):
    def step(self, action):
        self.given = action
        return super().step(action)


def test_the_environment_is_given_actions_in_its_own_units():
    inner = Remembering()
    env = blind(inner)
    env.reset(0)
    env.step(np.float32([0.5, -0.5]))
    np.testing.assert_array_equal(inner.given, np.float32([0.5, -0.75]))
    assert inner.given.dtype == np.float32


@pytest.mark.parametrize("kind", toys.REWARDS)
def test_reward_and_info_end_here(kind):
    env = blind(lambda: toys.OtherReward(toys.PointMass(), kind))
    plain = blind()
    one, other = env.reset(3), plain.reset(3)
    assert isinstance(one, np.ndarray)
    assert one.tobytes() == other.tobytes()
    for _ in range(5):
        one, other = env.step(np.float32([0.1, 0.2])), plain.step(np.float32([0.1, 0.2]))
        assert len(one) == 3
        assert one[0].tobytes() == other[0].tobytes()
        assert one[1:] == other[1:] == (False, False)
        assert [type(x) for x in one] == [np.ndarray, bool, bool]


def test_info_would_be_seen_if_it_were_looked_at():
    _, info = toys.OtherReward(toys.PointMass(), "nan").reset(seed=0)
    for look in (lambda: info["x"], lambda: info.get("x"), lambda: list(info), lambda: {**info}):
        with pytest.raises(AssertionError, match="looked at"):
            look()


def lengths(env, action, seed=0):
    env.reset(seed)
    ended = cut = False
    steps = 0
    while not (ended or cut):
        _, ended, cut = env.step(action)
        steps += 1
    return steps, ended, cut


def test_an_end_and_a_cut_are_told_apart():
    towards, away = np.float32([0, -0.2]), np.float32([1, 1])
    assert lengths(blind(), towards) == (toys.HORIZON, False, True)
    steps, ended, cut = lengths(blind(), away)
    assert (steps < toys.HORIZON, ended, cut) == (True, True, False)
    assert lengths(blind(horizon=5), towards) == (5, False, True)
    assert lengths(blind(horizon=99), towards) == (toys.HORIZON, False, True)


def test_the_time_limit_counts_from_the_last_reset():
    env = blind(horizon=5)
    assert [lengths(env, np.float32([0, -0.2]), seed)[0] for seed in range(3)] == [5, 5, 5]


def test_an_end_at_the_time_limit_is_an_end():
    steps, _, _ = lengths(blind(), np.float32([1, 1]))
    assert lengths(blind(horizon=steps), np.float32([1, 1])) == (steps, True, True)


def test_the_limit_of_a_registered_environment_is_its_own():
    gym.register("Limited-v0", toys.PointMass, max_episode_steps=17)
    try:
        env = BlindEnv("Limited-v0")
    finally:
        del gym.registry["Limited-v0"]
    assert (env.horizon, env.name) == (17, "Limited-v0")
    assert (env.observation_size, env.action_size) == (2, 2)


def test_an_environment_can_be_an_id_a_factory_or_itself():
    for source, name in ((toys.PointMass, "PointMass"), (toys.PointMass(), "PointMass")):
        assert blind(source).name == name
    env = BlindEnv("Hopper-v5")
    assert (env.observation_size, env.action_size, env.horizon) == (11, 3, 1000)
    env.close()


@pytest.mark.parametrize(
    ("source", "what", "remedy"),
    [
        (toys.discrete_actions, r"action space is Discrete\(3\)", "continuous"),
        (toys.unbounded_actions, "action space has no bounds", "write finite low and high"),
        (toys.half_bounded_actions, "action space has no bounds", "write finite low and high"),
        (toys.stuck_action, "action 1 has no room", "drop that action"),
        (toys.square_actions, r"action space has shape \(2, 2\)", "give it a vector"),
        (toys.image_observations, r"observation space has shape \(4, 4\)", "FlattenObservation"),
        (toys.discrete_observations, "observation space is Discrete", "continuous"),
        (lambda: 3, "the factory returned a int", "return a gymnasium.Env"),
        (lambda: None, "the factory returned a NoneType", "return a gymnasium.Env"),
        ("Hoper-v5", "no environment of this name", r"did you mean Hopper-v5\?"),
        ("HalfCheeta-v5", "no environment of this name", r"did you mean HalfCheetah-v5\?"),
        ("no_such_module:Thing-v0", "cannot be made", "folder of no_such_module.py"),
        ("Blah-v0", "no environment of this name", "an environment of your own"),
        ("Hopper-v5(gravity=3)", "TypeError.*gravity.*line", "takes gravity"),
        ("Hopper-v5(gravity)", "arguments cannot be read", "NAME=VALUE"),
        ("Hopper-v2", "cannot be made: ImportError", ""),
        ("Hopper-v99", "cannot be made", "Hopper-v5"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*out of date")  # Gymnasium's, of old versions
def test_an_environment_that_does_not_fit_is_refused_with_what_to_do(source, what, remedy):
    with pytest.raises(SoarError) as caught:
        BlindEnv(source, 10)
    assert caught.match(what)
    assert not remedy or caught.match(rf"what to do: .*{remedy}")
    name = source if isinstance(source, str) else source.__name__
    assert str(caught.value).startswith(f"{name}: ")


def test_an_environment_without_a_time_limit_is_refused_unless_one_is_given():
    with pytest.raises(EnvError, match=r"no time limit.*\n.*what to do: .*--set horizon="):
        BlindEnv(toys.PointMass)
    assert BlindEnv(toys.PointMass, 12).horizon == 12


@pytest.mark.parametrize("step", [0, 1, 7])
def test_an_observation_that_is_not_a_number_is_named_with_its_step(step):
    inner = toys.Diverging()
    inner.at = step
    env = blind(inner)

    def play():
        env.reset(0)
        for _ in range(10):
            env.step(np.zeros(2, np.float32))

    said = rf"Diverging: observation 1 is nan after step {step} of an episode\n.*what to do: .*mend"
    with pytest.raises(EnvError, match=said):
        play()


def test_observations_are_float32_whatever_the_environment_gives():
    class Doubles(toys.PointMass):
        def reset(self, *, seed=None, options=None):
            observation, info = super().reset(seed=seed)
            return observation.astype(np.float64), info

    assert blind(Doubles).reset(0).dtype == np.float32


def test_an_observation_of_several_parts_is_joined_in_gymnasium_s_order():
    env = blind(toys.dict_observations)
    parts = {"velocity": np.array([3.0, 4.0]), "position": np.array([1.0, 2.0])}
    assert env.flat(parts).tolist() == [1, 2, 3, 4]
    assert env.observation_size == 4


def test_an_environment_s_name_can_hold_what_it_is_made_with():
    name = ids.compose("Hopper-v5(frame_skip=4)", {"reset_noise_scale": 0.0, "frame_skip": 2})
    assert name == "Hopper-v5(frame_skip=2, reset_noise_scale=0.0)"
    env = BlindEnv(name)
    assert env.reset(0).tolist() == env.reset(1).tolist(), "the noise of the start is not zero"
    assert env.name == name
    env.close()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({}, "own:Own-v0"),
        ({"map": 'a "b", (c)', "wind": True, "sizes": [1, 2.5]}, None),
        ({"size": -3}, "own:Own-v0(size=-3)"),
    ],
)
def test_a_name_with_arguments_is_read_as_it_was_made(arguments, name):
    made = ids.compose("own:Own-v0", arguments)
    assert ids.parse(made) == ("own:Own-v0", arguments)
    assert name in (None, made)
    assert ids.without_module(made) == made.removeprefix("own:")
    assert not set(ids.file_name(made)) & set(' ":(),')
