from itertools import accumulate

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from soar_il.bases.api import half_recent
from soar_il.engine import replay
from soar_il.errors import ConfigError
from soar_il.types import Spec, Treated

SPEC = Spec(2, 1)
GAMMA = 0.97


def episode(number, length):
    """States that name their trajectory and time."""
    time = np.arange(length + 1, dtype=np.float32)
    states = np.stack([np.full_like(time, number), time], axis=1)
    continues, weights = np.ones(length, np.float32), np.ones(length, np.float32)
    continues[-1], weights[-1] = number % 2, 1 + number % 5
    return Treated(
        observations=states,
        actions=number + time[:-1, None] / 2048,
        continues=continues,
        weights=weights,
        occupancy=weights * np.float32(GAMMA) ** time[:-1],
    )


def episodes(lengths, first=0):
    return [episode(first + n, length) for n, length in enumerate(lengths)]


def flat(batch):
    """One row (s, a, s', continues, weight) a transition."""
    ends = np.stack([batch.continues, batch.weights], axis=-1)
    return np.concatenate(
        [batch.observations, batch.actions, batch.next_observations, ends], axis=-1
    )


def transitions(treated):
    """The rows of ``flat``, one by one, and then the one where none starts."""
    for tau in treated:
        for t in range(len(tau.actions)):
            s, after = tau.observations[t], tau.observations[t + 1]
            yield (*s, *tau.actions[t], *after, tau.continues[t], tau.weights[t])
        yield None


class Model:
    """A list of rows of which the last ``capacity`` are alive."""

    def __init__(self, capacity, critics):
        self.capacity, self.critics = capacity, critics
        self.rows, self.trajectories, self.steps = [], 0, 0

    def add(self, treated, steps):
        self.rows = [*self.rows, *transitions(treated)][-self.capacity :]
        self.trajectories += len(treated)
        self.steps += steps

    def alive(self, table):
        own = range(self.critics)[table - 1] if table else None
        return [
            row
            for row in self.rows
            if row is not None and (own is None or row[0] % self.critics == own)
        ]


def alive(data, table):
    data = jax.device_get(data)
    places = data.head[table] - data.alive[table] + np.arange(data.alive[table])
    return flat(data.at(data.tables[table, places % data.tables.shape[1]]))


def filled(lengths, critics, capacity=replay.CHUNK):
    data, model = replay.empty(SPEC, capacity, critics), Model(capacity, critics)
    treated = episodes(lengths)
    model.add(treated, sum(lengths))
    return replay.add(data, treated, int(sum(lengths))), model


lengths = st.one_of(st.just(1), st.integers(1, 40), st.integers(1, replay.CHUNK - 1))
pushes = st.lists(st.lists(lengths, min_size=1, max_size=4), min_size=1, max_size=6)


@settings(max_examples=60)
@given(pushes, st.sampled_from([0, 1, 3]), st.sampled_from([replay.CHUNK, 1500]))
def test_the_data_are_the_newest_rows_and_each_critic_has_every_lth_trajectory(
    program, critics, capacity
):
    data, model = replay.empty(SPEC, capacity, critics), Model(capacity, critics)
    for push in program:
        treated = episodes(push, model.trajectories)
        model.add(treated, sum(push) + 5)
        data = replay.add(data, treated, sum(push) + 5)
        assert int(data.trajectories) == model.trajectories
        assert int(data.steps) == model.steps
        assert int(data.new_steps) == sum(push) + 5
        assert int(data.fresh) == sum(push)
        for table in range(1 + critics):
            expected = model.alive(table)
            assert int(data.alive[table]) == len(expected)
            np.testing.assert_array_equal(alive(data, table), np.reshape(expected, (-1, 7)))
        check_newest(data, model, treated)


def check_newest(data, model, treated):
    last = [row for row in transitions(treated) if row is not None]
    occupancy = np.concatenate([tau.occupancy for tau in treated])
    kept = min(len(last), len(model.alive(0)))
    batch, weights = data.newest()
    weights = np.asarray(weights)
    counted = weights > 0
    assert counted.sum() == kept
    np.testing.assert_array_equal(flat(batch)[counted][::-1], last[-kept:])
    expected = occupancy[-kept:] / occupancy[-kept:].sum(dtype=np.float64)
    np.testing.assert_allclose(weights[counted][::-1], expected, rtol=1e-5)


def test_newest_weights_sum_to_one_and_room_leaves_out_the_oldest():
    data, _ = filled([300, 7, 60], 0)
    for room, kept in ((None, 367), (5000, 367), (100, 100), (1, 1)):
        batch, weights = data.newest(room)
        assert float(weights.sum()) == pytest.approx(1, abs=1e-6)
        assert int((weights > 0).sum()) == kept
        np.testing.assert_array_equal(flat(batch)[:kept][::-1], alive(data, 0)[-kept:])


@pytest.mark.parametrize("critics", [1, 3])
def test_half_of_a_minibatch_is_of_the_newest_of_each_table(critics):
    data, _ = filled([200, 150, 1, 220, 90, 300, 35, 180, 2, 120], critics * (critics > 1))
    n, recent = 4000, 50
    reach = half_recent(n, recent)
    one = flat(data.draw(jax.random.key(1), n, reach))[None]
    each = flat(data.draw_each(jax.random.key(2), n, critics, reach))
    tables = [0, *(range(1, critics + 1) if critics > 1 else [0])]
    for table, found in zip(tables, [*one, *each], strict=True):
        rows = [tuple(row) for row in alive(data, table)]
        newest = set(rows[-recent:])
        first, second = ({tuple(row) for row in part} for part in np.split(found, 2))
        assert first == newest
        assert len(second & newest) > 0
        assert len(second) > 0.8 * len(rows)
    assert half_recent(n, 0) is None


@pytest.mark.parametrize("critics", [0, 3])
def test_draws_are_uniform_over_what_is_alive_and_nothing_else(critics):
    data, _ = filled([200, 150, 1, 220, 90, 300, 35, 180, 2, 120], critics)
    assert int(data.steps) > replay.CHUNK
    n = 40_000
    drawn = {0: flat(data.draw(jax.random.key(1), n))}
    if critics:
        each = flat(data.draw_each(jax.random.key(2), n, critics))
        drawn |= dict(enumerate(each, start=1))
    for table, found in drawn.items():
        places = {tuple(row): place for place, row in enumerate(alive(data, table))}
        counts = np.zeros(len(places))
        np.add.at(counts, [places[tuple(row)] for row in found], 1)
        assert counts.min() > 0
        assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("discount", [0.9, 0.99])
def test_an_occupancy_is_drawn_as_its_discount_says(discount):
    """Trajectory 0 was cut after its last step, trajectory 1 stays there."""
    lengths, n = np.array([30, 20]), 60_000
    data, _ = filled(lengths, 0)
    found = data.draw_occupancy(jax.random.key(1), n, discount)
    counts = np.zeros((2, 30))
    np.add.at(counts, tuple(np.asarray(found.observations, int).T), 1)
    law = discount ** np.arange(30) * (1 - discount) * np.ones((2, 1))
    law[0] /= 1 - discount**30
    law[1, 19] = discount**19
    law[1, 20:] = 0
    expected = n * law * (lengths / lengths.sum())[:, None]
    assert counts[1, 20:].sum() == 0
    possible = expected > 0
    assert stats.chisquare(counts[possible], expected[possible]).pvalue > 1e-3
    np.testing.assert_array_equal(found.weights, 1)


def test_an_occupancy_has_nothing_of_what_was_overwritten():
    data, _ = filled([600, 500, 300], 0)
    found = flat(data.draw_occupancy(jax.random.key(1), 2000, 0.99)._replace(weights=np.ones(2000)))
    there = {tuple(row[:-1]) for row in alive(data, 0)}
    assert {tuple(row[:-1]) for row in found} <= there


def test_every_draw_may_have_a_reach_of_its_own():
    data, _ = filled([100, 50, 30], 0)
    recent = jax.numpy.where(jax.numpy.arange(4000) < 1000, 30, 80)
    for batch in (
        data.draw(jax.random.key(1), 4000, recent),
        data.draw_occupancy(jax.random.key(1), 4000, 0.99, recent),
    ):
        number = np.asarray(batch.observations[:, 0])
        assert set(number[:1000]) == {2}
        assert set(number[1000:]) == {1, 2}


def test_critics_that_share_their_data_still_get_a_minibatch_each():
    data, _ = filled([500], 0)
    one, two, three = flat(data.draw_each(jax.random.key(0), 64, 3))
    for pair in ((one, two), (one, three), (two, three)):
        assert not np.array_equal(*pair)
        same = sum(np.array_equal(a, b) for a, b in zip(*pair, strict=True))
        assert same < 5


def test_a_draw_is_a_function_of_its_key():
    data, _ = filled([50, 60, 70], 3)
    one, two, other = (flat(data.draw_each(jax.random.key(k), 32, 3)) for k in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@settings(max_examples=20)
@given(st.lists(lengths, min_size=1, max_size=6), st.sampled_from([0, 3]), st.data())
def test_how_trajectories_are_cut_into_pushes_leaves_no_trace(sequence, critics, data):
    cuts = data.draw(st.sets(st.integers(1, max(1, len(sequence) - 1))))
    ends = sorted({*(cut for cut in cuts if cut < len(sequence)), len(sequence)})
    starts = [0, *ends[:-1]]
    whole, _ = filled(sequence, critics)
    again, _ = filled(sequence, critics)
    parts = replay.empty(SPEC, replay.CHUNK, critics)
    for start, end in zip(starts, ends, strict=True):
        part = sequence[start:end]
        parts = replay.add(parts, episodes(part, start), sum(part))
    for name in replay.Replay._fields:
        one, two, three = (np.asarray(getattr(x, name)) for x in (whole, again, parts))
        assert one.tobytes() == two.tobytes(), name
        if name not in ("new_steps", "fresh"):
            assert one.tobytes() == three.tobytes(), name


def test_a_million_rows_of_humanoid_fit_in_two_gigabytes():
    shapes = jax.eval_shape(lambda: replay.empty(Spec(349, 17, True), 1_000_000, 4))
    assert sum(x.size * x.dtype.itemsize for x in shapes) < 2e9


def test_what_is_added_to_is_used_up_so_there_is_one_copy():
    before, _ = filled([10], 3)
    replay.add(before, episodes([10], 1), 10)
    assert all(x.is_deleted() for x in (before.observations, before.actions, before.tables))


def test_a_capacity_that_is_too_small_is_refused():
    with pytest.raises(ConfigError, match=r"capacity is 1023\n.*at least 1024"):
        replay.empty(SPEC, replay.CHUNK - 1, 0)


def test_a_trajectory_that_does_not_fit_is_refused_and_nothing_is_lost():
    data, model = filled([10, 20], 3)
    with pytest.raises(ConfigError, match=r"1024 steps does not fit.*\n.*larger capacity"):
        replay.add(data, episodes([5, 1024], 2), 1029)
    np.testing.assert_array_equal(alive(data, 0), model.alive(0))


def test_the_longest_trajectory_that_fits_is_kept_whole():
    data, model = filled(list(accumulate([100] * 9)), 1)
    data = replay.add(data, [episode(9, replay.CHUNK - 1)], replay.CHUNK - 1)
    model.add([episode(9, replay.CHUNK - 1)], 0)
    assert int(data.alive[0]) == replay.CHUNK - 1
    np.testing.assert_array_equal(alive(data, 0), model.alive(0))
