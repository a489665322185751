"""The line of a training run, and what it says before there are steps."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from soar_il.bases import fitting
from soar_il.terminal import phases, progress, training

SEEN = {"steps": 5000, "cost_gap": 1.2, "q_spread": 0.5, "clipped": 0.07}


@pytest.mark.parametrize("width", [60, 80, 160])
def test_steps_rate_time_left_and_return_come_first_and_fit(width, monkeypatch):
    console = Console(width=width, force_terminal=True, color_system=None, record=True)
    monkeypatch.setattr(training, "console", console)
    monkeypatch.setattr(progress, "console", console)
    with training.TrainingProgress(0, 30_000) as line:
        line.phase("compiling")
        line.score = 1234.0
        for steps in (1000, 3000, 5000):
            line.update({**SEEN, "steps": steps})
        console.export_text()  # forgets what was shown before
        line._progress.refresh()
        last = console.export_text().strip()
    assert re.search(r"5,000/30,000 steps, [\d,]+/s, \d+:\d\d left, return 1,234", last)
    assert len(last) <= width


def test_a_log_has_each_phase_once(capsys):
    with training.TrainingProgress(0, 1000) as line:
        for _ in range(3):
            line.phase("evaluating")
    assert capsys.readouterr().out.count("evaluating") == 1


def test_only_those_inside_are_heard_and_notes_need_a_folder(tmp_path):
    heard = []
    phases.phase("before")
    with phases.heard_by(heard.append, phases.noted(tmp_path / "none"), phases.noted(tmp_path)):
        phases.phase("one")
        with phases.heard_by():
            phases.phase("nobody's")
    phases.phase("after")
    assert heard == ["one"]
    assert phases.read(tmp_path) == "one"
    assert phases.read(tmp_path / "none") == ""


@pytest.mark.parametrize("parts", [1, 3, 10])
def test_work_in_parts_says_how_far_it_is_and_changes_no_bit(parts, monkeypatch):
    def once(state, key):
        moved = state + 0.1 * jnp.tanh(jax.random.normal(key, state.shape) - state)
        return moved, {"size": jnp.sum(moved)}

    start, key, heard = jnp.ones(5), jax.random.key(0), []
    whole = jax.jit(lambda n: fitting.repeated(once, start, n, key))(jnp.int32(23))[0]
    monkeypatch.setattr(fitting, "PARTS", parts)
    with phases.heard_by(heard.append):
        made = fitting.in_parts("working", once, start, 23, key)
    np.testing.assert_array_equal(made, whole)
    assert heard[0] == "working: 0 of 23 steps"
    assert len(heard) <= parts
