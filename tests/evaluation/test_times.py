"""How long learning took: kept apart from the metrics, without evaluation, across resumes."""

import numpy as np
import pytest

from soar_il.evaluation import times
from soar_il.runs import log


@pytest.fixture
def clock(monkeypatch):
    """Both clocks, moved by hand."""
    at = [100.0]
    monkeypatch.setattr(times, "now", lambda: times.Moment(at[0], at[0] / 2))

    def wait(seconds):
        at[0] += seconds

    return wait


def written(folder):
    return [(r["k"], r["steps"], r["wall"], r["process"]) for r in log.read(folder / times.NAME)]


def test_evaluation_is_not_learning(tmp_path, clock):
    began = times.now()
    clock(2)  # cloning an expert, compiling
    with times.Clock(tmp_path, 0, 0, began) as made:
        clock(4)
        made.iteration(1, 250)
        with made.paused():
            clock(1000)
        clock(4)
        made.iteration(2, 500)
    assert written(tmp_path) == [(0, 0, 2, 1), (1, 250, 6, 3), (2, 500, 10, 5)]


def test_a_resumed_run_goes_on_from_its_checkpoint_s_seconds(tmp_path, clock):
    with times.Clock(tmp_path, 0, 0) as made:
        for k in (1, 2, 3):
            clock(10)
            made.iteration(k, 100 * k)
    clock(5000)  # killed, and resumed from iteration 2
    with times.Clock(tmp_path, 2, 200) as made:
        clock(6)
        made.iteration(3, 300)
    assert written(tmp_path)[-2:] == [(2, 200, 20, 10), (3, 300, 26, 13)]


def test_a_run_that_was_not_timed_from_the_start_has_no_times(tmp_path, clock):
    with times.Clock(tmp_path, 7, 700) as made:
        made.iteration(8, 800)
    assert times.seconds_at(tmp_path, np.array([800.0])) is None


def test_seconds_are_read_at_the_steps_of_evaluations(tmp_path, clock):
    with times.Clock(tmp_path, 0, 0) as made:
        clock(10)
        made.iteration(1, 100)
    found = times.seconds_at(tmp_path, np.array([0.0, 50.0, 100.0, 200.0]))
    np.testing.assert_allclose(found, [0, 2.5, 5, np.nan])
