"""The wide figure of a README."""

import sys

import fake_sweep as fake
import pytest

from soar_il import cli
from soar_il.errors import SoarError
from soar_il.report import poster


def drawn(tmp_path, monkeypatch, *more):
    jobs = [
        (f"{env}/{critics}", {"env": env, "base": "ml-irl", "critics": critics, "seed": 0},
         fake.rising(3000.0), {})
        for env in ("Hopper-v5", "Walker2d-v5") for critics in (1, 4)
    ]  # fmt: skip
    out = fake.sweep(tmp_path / "s", jobs)
    picture = tmp_path / "docs" / "wide.svg"
    said = ["soar", "report", str(out), "--poster", str(picture), *map(str, more)]
    monkeypatch.setattr(sys, "argv", said)
    cli.main()
    assert picture.stat().st_size > 10_000
    assert not (out / "report").exists()
    return picture.read_text()


def test_a_panel_an_environment_and_the_marks_of_others(tmp_path, monkeypatch):
    marks = tmp_path / "marks.toml"
    text = '[[marks]]\nenv = "{}"\nmethod = "{}"\nsteps = 90_000\nsource = "a figure"\n'
    marks.write_text(text.format("Hopper-v5", "Theirs") + text.format("Other-v0", "Elsewhere"))
    with_marks = drawn(tmp_path, monkeypatch, "--marks", marks)
    for word in ("Hopper-v5, 1 seed", "Walker2d-v5, 1 seed", "ml-irl + SOAR, L = 4", "Theirs"):
        assert word in with_marks
    assert "Elsewhere" not in with_marks  # no panel is of that environment
    assert "log scale" in with_marks


def test_without_marks_steps_are_on_a_plain_scale(tmp_path, monkeypatch):
    assert "log scale" not in drawn(tmp_path, monkeypatch)


def test_a_mark_without_a_source_is_refused(tmp_path):
    marks = tmp_path / "marks.toml"
    marks.write_text('[[marks]]\nenv = "Hopper-v5"\nmethod = "X"\nsteps = 1\n')
    with pytest.raises(SoarError, match="source"):
        poster.marks(marks)
