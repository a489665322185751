"""What a sweep shows while it runs: phases, returns as a line of text, one figure that grows."""

import os

import pytest
from rich.console import Console

from soar_il.commands.sweep import kinds
from soar_il.runs import log
from soar_il.sweep import picture, screen
from soar_il.sweep.grid import Job
from soar_il.terminal import phases

KIND = kinds()["train"]


def job(critics, env="Hopper-v5"):
    options = {"env": env, "base": "ml-irl", "critics": critics, "seed": 0, "steps": 1000}
    row = f"{env}/ml-irl-L{critics}"
    return Job(f"{row}-seed0", KIND, options, row)


@pytest.fixture
def out(tmp_path):
    for critics in (1, 4):
        (tmp_path / job(critics).name).mkdir(parents=True)
    return tmp_path


def evaluated(out, critics, returns, first=0):
    with_log = log.Log(out / job(critics).name / "scores.jsonl")
    for k, value in enumerate(returns, first):
        with_log.append({"k": k, "steps": 100 * k, "return": value, "normalised": value / 1000})
    with_log.close()


def test_the_figure_is_drawn_anew_when_a_policy_was_evaluated_and_only_then(out):
    made = picture.Picture([job(1), job(4)], out)
    made.renew(at_once=True)
    assert made.path is None
    evaluated(out, 1, [0.0, 500.0])
    made.renew(at_once=True)
    assert made.path == out / "curves.png"
    before = made.path.read_bytes()
    os.utime(made.path, (0, 0))
    made.renew(at_once=True)
    assert made.path.stat().st_mtime == 0
    evaluated(out, 4, [0.0, 900.0])
    made.renew(at_once=True)
    assert made.path.read_bytes() != before


def test_returns_as_a_line_of_text_share_their_scale(out):
    evaluated(out, 1, [0.0, 350.0])
    evaluated(out, 4, [0.0, 700.0])
    made = picture.Picture([job(1), job(4)], out)
    made.renew(at_once=True)
    assert (made.spark(job(1)), made.spark(job(4))) == ("▁▅", "▁█")


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_table_says_what_each_job_is_busy_with(width, out, monkeypatch):
    console = Console(width=width, force_terminal=True, color_system=None, record=True)
    monkeypatch.setattr(screen, "console", console)
    shown = screen.Cells([job(1), job(4)], out)
    shown.started(job(1))
    shown.started(job(4))
    phases.noted(out / job(1).name)("cloning the expert: 8,000 of 20,000 steps")
    said = log.Log(out / job(4).name / "metrics.jsonl")
    said.append({"k": 1, "steps": 500})
    said.close()
    evaluated(out, 4, [0.0, 700.0])
    shown._picture.renew(at_once=True)
    console.print(shown.table())
    text = " ".join(console.export_text(clear=False).split())
    assert "8,000 of" in text
    assert "50% 700 ▁█" in text
    assert "  ml-irl-L1 " in console.export_text(clear=False)  # a name in one piece, at any width
    assert max(map(len, console.export_text().splitlines() or [""])) <= width
