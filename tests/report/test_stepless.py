"""A method that takes no environment steps beside those that do: a level line, never a limit."""

import numpy as np
import pytest
import study as made_up

from soar_il.report import arm_tables, compare, headline, plots
from soar_il.report.results import Study, last_common, value_at

SEEDS = 3


def clone(seed, level=0.7, env="Hopper-v5"):
    one = {"steps": np.zeros(1), "spreads": np.zeros(1), "noisy": np.full(1, 3000.0)}
    one |= {"returns": np.full(1, 3500 * level), "normal": np.full(1, level)}
    return made_up.result(env, 1, seed, level, base="bc", seconds=np.full(1, 9.0), **one)


def both():
    online = [
        made_up.result("Hopper-v5", 1, seed, 0.9, base="gail", seconds=made_up.STEPS / 100)
        for seed in range(SEEDS)
    ]
    return Study((*online, *(clone(seed, 0.7 + 0.01 * seed) for seed in range(SEEDS))), ())


def test_it_does_not_shorten_what_is_compared():
    study = both()
    assert last_common(study.results) == 50_000
    (c,) = compare.comparisons(study)
    assert (c.ours, c.theirs, c.steps) == ("gail", "bc", 50_000)
    assert c.difference.value == pytest.approx(0.9 * (1 - np.exp(-3)) - 0.71, abs=0.06)
    assert (c.to_goal, c.seconds) == (None, None)  # a clone is there at once, or never
    assert [value_at(clone(0), at) for at in (0.0, 25_000.0, 9e9)] == [0.7] * 3


def test_its_row_says_that_it_took_none():
    rows = arm_tables.returns(both(), []).rows
    head = arm_tables.returns(both(), []).head
    steps = {row[head.index("method")]: row[head.index("steps")] for row in rows}
    assert steps == {"bc": "none", "gail": "50,000"}


def test_its_curve_is_level_from_the_first_evaluation_to_the_last():
    (panel,) = (p for p in plots.panels(both(), []) if p.name.startswith("learning"))
    (ax,) = panel.figure.axes
    lines = {line.get_label(): line for line in ax.get_lines()}
    x, y = lines["bc"].get_data()
    assert (x[0], x[-1]) == (5000, 50_000)
    assert np.all(y == y[0])


def test_alone_it_says_so():
    alone = Study(tuple(clone(seed) for seed in range(SEEDS)), ())
    (sentence,) = headline.headlines(alone, compare.comparisons(alone))
    assert sentence.startswith("bc is at 0.70")
    assert "without an environment step" in sentence
