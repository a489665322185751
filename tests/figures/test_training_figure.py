"""A run's own figure: 2 % do not look like a crash."""

import matplotlib.pyplot as plt
import pytest

from soar_il.figures import training


def drawn(monkeypatch, tmp_path, scores):
    """The panel of true returns."""
    figures = []
    monkeypatch.setattr(training, "save", lambda figure, *_: figures.append(figure))
    training.training_figure([], scores, "a run", tmp_path / "curve")
    plt.close("all")
    return figures[0].axes[0]


def score(steps, value, **more):
    return {"steps": steps, "return": value, "stochastic_return": value - 5, **more}


def test_the_expert_and_random_play_are_drawn_where_they_are_known(monkeypatch, tmp_path):
    """A clone that loses 1.4 % of an expert at 3,560, random play at 20."""
    scores = [score(n, v, normalised=(v - 20) / 3540) for n, v in ((0, 3550), (1000, 3500))]
    top = drawn(monkeypatch, tmp_path, scores)
    lines = {line.get_label(): line.get_ydata()[0] for line in top.lines}
    assert lines["expert"] == pytest.approx(3560)
    assert lines["random"] == pytest.approx(20)
    low, high = top.get_ylim()
    assert low <= 20
    assert high >= 3560


def test_elsewhere_the_axis_spans_a_fifth_of_the_return(monkeypatch, tmp_path):
    top = drawn(monkeypatch, tmp_path, [score(0, 3550), score(1000, 3500)])
    low, high = top.get_ylim()
    assert high - low >= 0.19 * 3550
