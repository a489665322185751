import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soar_il.envs.view import view_of
from soar_il.types import Spec, Trajectory

GAMMA, HORIZON, FAR = 0.9, 9, 10.0
MODES = ("absorbing", "fixed", "early")
lengths = st.integers(1, HORIZON)


def view(termination, discount=GAMMA, horizon=HORIZON):
    return view_of([], False, termination, FAR, horizon, discount)


def trajectory(length, terminated):
    draw = np.random.default_rng(length)
    return Trajectory(
        draw.normal(size=(length + 1, 2)).astype(np.float32),
        draw.uniform(-1, 1, (length, 3)).astype(np.float32),
        terminated,
    )


def with_zero(states):
    return np.concatenate([states, np.zeros((len(states), 1))], axis=1)


@given(lengths)
def test_an_end_becomes_the_absorbing_state_that_leads_to_itself_for_ever(length):
    tau = trajectory(length, True)
    treated = view("absorbing").treat(tau)
    absorbing = [[0, 0, FAR]] * 2
    np.testing.assert_array_equal(
        treated.observations, [*with_zero(tau.observations[:-1]), *absorbing]
    )
    np.testing.assert_array_equal(treated.actions, [*tau.actions, [0, 0, 0]])
    np.testing.assert_array_equal(treated.continues, np.ones(length + 1))
    np.testing.assert_allclose(treated.weights, [*np.ones(length), 1 / (1 - GAMMA)], rtol=1e-6)
    occupancy = [*GAMMA ** np.arange(length), GAMMA**length / (1 - GAMMA)]
    np.testing.assert_allclose(treated.occupancy, occupancy, rtol=1e-6)


@given(lengths, st.sampled_from([0.0, 0.5, 0.9, 0.99]))
def test_an_episode_that_ends_is_one_over_one_minus_gamma_steps_long_in_all(length, discount):
    treated = view("absorbing", discount).treat(trajectory(length, True))
    assert treated.occupancy.sum() == pytest.approx(1 / (1 - discount), rel=1e-5)


@given(lengths)
def test_a_fixed_end_stays_as_it_is_until_the_horizon(length):
    tau = trajectory(length, True)
    treated = view("fixed").treat(tau)
    np.testing.assert_array_equal(treated.observations[: length + 1], tau.observations)
    assert len(treated.observations) == HORIZON + 1
    np.testing.assert_array_equal(
        treated.observations[length:], np.tile(tau.observations[-1], (HORIZON + 1 - length, 1))
    )
    np.testing.assert_array_equal(
        treated.actions, [tau.actions[t % length] for t in range(HORIZON)]
    )
    np.testing.assert_array_equal(treated.continues, np.ones(HORIZON))
    np.testing.assert_array_equal(treated.weights, np.ones(HORIZON))
    np.testing.assert_allclose(treated.occupancy, GAMMA ** np.arange(HORIZON), rtol=1e-6)


def test_an_episode_longer_than_the_horizon_is_not_shortened():
    tau = trajectory(6, True)
    np.testing.assert_array_equal(
        view("fixed", horizon=3).treat(tau).observations, tau.observations
    )


@given(lengths)
def test_an_early_end_has_no_value_after_it(length):
    tau = trajectory(length, True)
    treated = view("early").treat(tau)
    np.testing.assert_array_equal(treated.observations, tau.observations)
    np.testing.assert_array_equal(treated.actions, tau.actions)
    np.testing.assert_array_equal(treated.continues, [*np.ones(length - 1), 0])
    np.testing.assert_array_equal(treated.weights, np.ones(length))
    np.testing.assert_allclose(treated.occupancy, GAMMA ** np.arange(length), rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
@given(lengths)
def test_a_cut_is_left_as_it_is_and_goes_on(mode, length):
    tau = trajectory(length, False)
    treated = view(mode).treat(tau)
    seen = with_zero(tau.observations) if mode == "absorbing" else tau.observations
    np.testing.assert_array_equal(treated.observations, seen)
    np.testing.assert_array_equal(treated.actions, tau.actions)
    np.testing.assert_array_equal(treated.continues, np.ones(length))
    np.testing.assert_array_equal(treated.weights, np.ones(length))
    np.testing.assert_allclose(treated.occupancy, GAMMA ** np.arange(length), rtol=1e-6)


@pytest.mark.parametrize("terminated", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_everything_is_float32_and_a_trajectory_is_not_changed(mode, terminated):
    tau = trajectory(4, terminated)
    before = [x.tobytes() for x in tau[:2]]
    assert {x.dtype for x in view(mode).treat(tau)} == {np.dtype(np.float32)}
    assert [x.tobytes() for x in tau[:2]] == before


def test_only_the_absorbing_mode_adds_a_coordinate():
    assert view("absorbing").spec(2, 3) == Spec(3, 3, absorbing=True)
    assert view("fixed").spec(2, 3) == view("early").spec(2, 3) == Spec(2, 3, absorbing=False)


def test_the_absorbing_state_is_told_from_the_living_by_its_indicator():
    v = view("absorbing")
    treated = v.treat(trajectory(4, True))
    alive = v.spec(2, 3).alive(treated.observations)
    np.testing.assert_array_equal(alive, [True] * 4 + [False] * 2)


def demonstrations():
    draw = np.random.default_rng(0)
    rows = [draw.normal([3, -200, 0.5], [2, 50, 0], size=(n, 3)) for n in (5, 80)]
    return [x.astype(np.float32) for x in rows]


def standardised(termination="early", demos=None):
    demos = demonstrations() if demos is None else demos
    return view_of(demos, True, termination, FAR, HORIZON, GAMMA)


def test_demonstrations_are_seen_with_mean_zero_and_spread_one():
    seen = standardised()(np.concatenate(demonstrations()))
    np.testing.assert_allclose(seen.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(seen.std(axis=0), [1, 1, 0], atol=1e-5)


def test_rollouts_are_seen_on_the_demonstrations_scale():
    v = standardised()
    stacked = np.concatenate(demonstrations()).astype(float)
    state = np.float32([7, 100, 2])
    expected = (state[:2] - stacked.mean(axis=0)[:2]) / stacked.std(axis=0)[:2]
    np.testing.assert_allclose(v(state)[:2], expected, rtol=1e-4)
    far = Trajectory(np.float32([[1e3, 0, 0]] * 3), np.zeros((2, 1), np.float32), True)
    v.treat(far)
    np.testing.assert_array_equal(v(state), standardised()(state))


def test_a_coordinate_that_never_moves_in_the_demonstrations_keeps_its_units():
    seen = standardised()(np.float32([[3, -200, 0.5], [3, -200, 2.5]]))
    np.testing.assert_allclose(seen[:, 2], [0, 2], atol=1e-6)


def test_what_is_far_from_the_demonstrations_is_cut_at_ten():
    seen = standardised()(np.float32([[1e6, -1e9, 1e6], [-1e6, 1e9, -1e6]]))
    np.testing.assert_array_equal(seen, [[10, -10, 10], [-10, 10, -10]])


def test_the_indicator_is_neither_standardised_nor_part_of_what_is():
    v = standardised("absorbing")
    assert v(np.float32([3, -200, 0.5])).shape == (4,)
    assert v(np.float32([[3, -200, 0.5]] * 5))[:, -1].tolist() == [0] * 5
    tau = Trajectory(demonstrations()[0], np.zeros((4, 1), np.float32), True)
    treated = v.treat(tau)
    np.testing.assert_array_equal(treated.observations[-2:], [[0, 0, 0, FAR]] * 2)


def test_the_first_coordinates_alone_are_seen_where_that_is_asked():
    """As if the others did not exist: not in the scale, not before the indicator."""
    whole = demonstrations()
    part = view_of(whole, True, "absorbing", FAR, HORIZON, GAMMA, observed=2)
    never_there = view_of([x[:, :2] for x in whole], True, "absorbing", FAR, HORIZON, GAMMA)
    np.testing.assert_array_equal(part(whole[0]), never_there(whole[0][:, :2]))
    assert part.spec(3, 1) == never_there.spec(2, 1)


def test_without_standardisation_observations_are_as_they_are():
    state = np.float32([1e6, -3.5])
    assert view("early")(state).tobytes() == state.tobytes()
