"""SQIL: two costs, by whose row it is, and half of each minibatch the expert's."""

import jax
import numpy as np
import pytest
import tiny

from soar_il import Demos
from soar_il.agent import Imitator
from soar_il.bases import BASES
from soar_il.bases.given import Given
from soar_il.engine import draws, replay
from soar_il.errors import ConfigError, DemoError
from soar_il.learners import sac
from soar_il.types import Spec, Treated

SPEC = Spec(3, 2)
ENTRY = BASES["sqil"]


def made():
    return ENTRY.make(ENTRY.settings(), Given(40, 128, (16,)))


def data_of(level, tables=0, length=40, n=8, capacity=1024):
    """Episodes whose states are all ``level``."""
    one = np.ones(length, np.float32)
    states = np.full((length + 1, SPEC.observation), level, np.float32)
    still = np.zeros((length, SPEC.action), np.float32)
    treated = [Treated(states, still, one, one, one)] * n
    return replay.add(replay.empty(SPEC, capacity, tables), treated, n * length)


def minibatches(critics=4, split="trajectories", batch=100):
    s = sac.Settings(critics=critics, split=split, batch=batch, expert_share=0.5)
    own = data_of(-1.0, critics if s.own_data else 0)
    return draws.Draws(own, data_of(1.0), s, shows_expert=False)


@pytest.mark.parametrize(("critics", "split"), [(1, "minibatches"), (4, "trajectories")])
def test_half_of_every_minibatch_is_the_expert_s_and_costs_are_two_numbers(critics, split):
    source, base = minibatches(critics, split), made()
    for n in range(5):
        key = jax.random.key(n)
        for batch in (source.each(key), source.shared(key)):
            np.testing.assert_array_equal(batch.expert, batch.observations[..., 0] == 1.0)
            np.testing.assert_array_equal(np.sum(batch.expert, axis=-1), 50)
            costs = np.asarray(base.cost((), batch))
            assert set(np.unique(costs)) == {-1.0, 0.0}
            np.testing.assert_array_equal(costs == -1.0, batch.expert)


def test_what_a_row_costs_does_not_follow_from_what_is_in_it():
    """The expert's own transition, made by the learner, costs 0: reward comes with the source."""
    base, rows = made(), data_of(1.0).draw(jax.random.key(0), 9)
    np.testing.assert_array_equal(base.cost((), rows), 0.0)
    np.testing.assert_array_equal(base.cost((), draws.of_expert(rows)), -1.0)


def test_no_cost_is_below_what_is_said():
    assert made().least_cost == -1.0


def test_demonstrations_are_never_overwritten():
    """However much the learner does, half is still the expert's."""
    source = minibatches(1, "minibatches")
    own = source.own
    for _ in range(10):  # 3,200 transitions into room for 1,024
        own = replay.add(own, [Treated(*x) for x in episodes(-2.0)], 320)
    batch = source._replace(own=own).each(jax.random.key(0))
    assert set(np.unique(batch.observations[batch.expert])) == {1.0}
    assert np.sum(batch.expert) == 50
    assert set(np.unique(batch.observations[~np.asarray(batch.expert)])) == {-2.0}


def episodes(level, n=8, length=40):
    one = np.ones(length, np.float32)
    states = np.full((length + 1, SPEC.observation), level, np.float32)
    return [(states, np.zeros((length, SPEC.action), np.float32), one, one, one)] * n


def test_nothing_is_learned_and_nothing_is_kept():
    base = made()
    expert, data = data_of(1.0), data_of(-1.0)
    cost = base.init(jax.random.key(0), SPEC, expert)
    after, seen = base.update(cost, expert, data, jax.random.key(1))
    assert cost == after == ()
    assert float(seen["cost_gap"]) == 1.0


@pytest.mark.parametrize("preset", ["tuned", "paper"])
def test_presets_show_the_expert_half_of_the_time(preset):
    with tiny.imitator(base="sqil", preset=preset, critics=1) as imitator:
        assert imitator.config.learner.expert_share == 0.5


def test_without_the_expert_s_rows_or_actions_it_is_refused():
    with pytest.raises(ConfigError, match="expert_share"):
        tiny.imitator(base="sqil", learner={"expert_share": 0.0})
    shown = tiny.demos()
    with pytest.raises(DemoError, match="actions"):
        tiny.imitator(base="sqil", demos=Demos(shown.observations, None, shown.terminated))


@pytest.mark.parametrize("critics", [1, 4])
def test_a_run_trains_and_goes_on_exactly(critics, tmp_path):
    def fresh(folder):
        return tiny.imitator(base="sqil", critics=critics, folder=tmp_path / folder)

    with fresh("whole") as whole:
        whole.learn(200)
        expected = whole.fingerprint()
    with fresh("part") as part:
        part.learn(100)
        part.save(tmp_path / "part")
    with Imitator.load(tmp_path / "part", env=tiny.toys.PointMass) as part:
        part.learn(200 - part.num_timesteps)
        assert part.fingerprint() == expected
