"""AdRIL: costs by whose row it is and by the round it was collected in."""

import jax
import numpy as np
import owed
import pytest
import tiny

from soar_il.bases import BASES
from soar_il.engine import draws, replay
from soar_il.errors import ConfigError
from soar_il.learners import sac
from soar_il.types import Spec, Treated

SPEC = Spec(1, 1)


def treated(level, n, length=10):
    one = np.ones(length, np.float32)
    states = np.full((length + 1, 1), level, np.float32)
    return [Treated(states, np.zeros((length, 1), np.float32), one, one, one)] * n


def data_of(level, n, tables=0):
    return replay.add(replay.empty(SPEC, 1024, tables), treated(level, n), 10 * n)


def rounds(unit, tables=0, **settings):
    """The cost state and the data after rounds of 3, 2 and 4 trajectories at -1, -2 and -3."""
    base = owed.made("adril", unit=unit, round_steps=15, **settings)
    expert = data_of(1.0, 8)
    cost, data, after = base.init(jax.random.key(0), SPEC, expert), None, []
    for level, n in ((-1.0, 3), (-2.0, 2), (-3.0, 4)):
        data = (
            data_of(level, n, tables)
            if data is None
            else replay.add(data, treated(level, n), 10 * n)
        )
        cost, seen = base.update(cost, expert, data, jax.random.key(1))
        after.append((cost, seen))
    return base, expert, data, after


def table(base, cost, source):
    """What rows cost, by their state."""
    batch = source.shared(jax.random.key(0))
    found = {}
    for state, row in zip(batch.observations[:, 0], base.cost(cost, batch), strict=True):
        found.setdefault(float(state), set()).add(float(row))
    assert all(len(costs) == 1 for costs in found.values())
    return {state: costs.pop() for state, costs in found.items()}


@pytest.mark.parametrize(("unit", "size"), [("trajectory", 1.0), ("expert", 8.0)])
def test_costs_follow_from_the_round(unit, size):
    """Rewards 1 / N_E, -1 / N_past and 0 as its authors write them; N counts trajectories."""
    base, expert, data, after = rounds(unit)
    s = sac.Settings(critics=1, batch=200, expert_share=0.5)
    found = table(base, after[-1][0], draws.Draws(data, expert, s, shows_expert=False))
    reward = {1.0: size / 8, -1.0: -size / 5, -2.0: -size / 5, -3.0: 0.0}
    assert found == {state: pytest.approx(-r) for state, r in reward.items()}
    assert after[-1][1]["cost_gap"] == pytest.approx(size / 5 + size / 8)


def test_in_the_first_round_nothing_of_the_learner_s_costs_anything():
    base, _, data, after = rounds("expert")
    first = after[0][0]
    assert int(first.past) == 0
    np.testing.assert_array_equal(base.cost(first, data.draw(jax.random.key(0), 50)), 0.0)


def test_a_round_lasts_as_long_as_is_said():
    """Of 30, 20 and 40 steps; with rounds of 50 the second iteration belongs to the first."""
    assert [int(cost.past) for cost, _ in rounds("expert")[3]] == [0, 3, 5]
    base = owed.made("adril", round_steps=50)
    expert, data = data_of(1.0, 8), data_of(-1.0, 3)
    cost = base.init(jax.random.key(0), SPEC, expert)
    past = []
    for n in (3, 2, 4, 1):
        data = replay.add(data, treated(-1.0, n), 10 * n) if past else data
        cost, _ = base.update(cost, expert, data, jax.random.key(1))
        past.append(int(cost.past))
    assert past == [0, 0, 5, 5]


def test_every_critic_sees_the_rounds_of_its_own_rows():
    base, expert, data, after = rounds("expert", tables=3)
    s = sac.Settings(critics=3, batch=60, expert_share=0.5, split="trajectories")
    batch = draws.Draws(data, expert, s, shows_expert=False).each(jax.random.key(0))
    costs = np.asarray(base.cost(after[-1][0], batch))
    states = np.asarray(batch.observations[..., 0])
    np.testing.assert_array_equal(costs == 0, states == -3.0)
    np.testing.assert_array_equal(costs < 0, states == 1.0)
    np.testing.assert_array_equal(np.sum(batch.expert, axis=-1), 30)


def test_a_row_that_overwrites_an_old_one_belongs_to_the_round_that_made_it():
    base, expert, data, after = rounds("expert")
    cost = after[-1][0]
    for level in (-4.0, -5.0):  # 1,320 rows in all into room for 1,024
        data = replay.add(data, treated(level, 60), 600)
        cost, _ = base.update(cost, expert, data, jax.random.key(1))
    rows = data.draw(jax.random.key(0), 500)
    assert set(np.unique(rows.observations)) == {-4.0, -5.0}
    np.testing.assert_array_equal(base.cost(cost, rows) == 0, rows.observations[:, 0] == -5.0)


@pytest.mark.parametrize("preset", ["tuned", "paper"])
def test_presets_show_the_expert_half_of_the_time(preset):
    with tiny.imitator(base="adril", preset=preset, critics=1) as imitator:
        assert imitator.config.learner.expert_share == 0.5


def test_without_the_expert_s_rows_it_is_refused_and_rounds_are_not_empty():
    with pytest.raises(ConfigError, match="expert_share"):
        tiny.imitator(base="adril", learner={"expert_share": 0.0})
    with pytest.raises(ConfigError, match="round_steps"):
        BASES["adril"].settings(round_steps=0)


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_trains_and_goes_on_exactly(critics, tmp_path):
    whole, resumed, half, seen = owed.straight_and_resumed(
        tmp_path, base="adril", critics=critics, cost={"round_steps": 100}
    )
    assert whole == resumed != half
    assert float(seen[-1]["past_cost"]) > 0
