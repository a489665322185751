from pathlib import Path

import numpy as np
import pytest

from soar_il.commands import demos as commands
from soar_il.demos import Demos, places, summary
from soar_il.errors import DemoError

RNG = np.random.default_rng(0)


@pytest.fixture
def demos():
    s = RNG.uniform(-1, 1, size=(3, 201, 3))
    s[2] = s[0]
    a = RNG.uniform(-1.9, 1.9, size=(3, 200, 1))
    a[:, ::4], a[:, 1::8] = 2, -2
    about = {"env": "Pendulum-v1", "who": "a [bold]test[/oops]"}
    return Demos.from_arrays(s, a, terminated=[True, False, False], about=about)


def test_info_says_what_is_there(demos):
    rows = dict(summary.info(demos, "Pendulum-v1"))
    assert rows["trajectories"] == "3"
    assert rows["transitions"] == "600"
    assert rows["lengths: min, median, max"] == "200, 200, 200"
    assert rows["ended by termination"] == "33%"
    assert rows["actions near a bound"] == "37.5%"
    assert rows["repeated trajectories"] == "1"
    assert rows["observation 2"].endswith("(space: -8 to 8)")
    assert dict(summary.info(demos.without_actions()))["actions"] == "none"
    assert dict(summary.info(Demos.from_arrays(demos.observations)))["ended by termination"] == (
        "unknown"
    )


@pytest.mark.parametrize("state_only", [False, True])
def test_the_figure_is_drawn(demos, tmp_path, state_only):
    demos = demos.without_actions() if state_only else demos
    assert summary.figure(demos, tmp_path / "new" / "x.png", "title").stat().st_size > 5000
    with pytest.raises(DemoError, match="cannot be drawn"):
        summary.figure(demos, tmp_path / "x.what")


def test_list_shows_good_and_bad(demos, tmp_path, capsys):
    demos.save(tmp_path / "good.demos")
    demos.save(tmp_path / "good.npz")
    (tmp_path / "bad.npz").write_bytes(b"x")
    commands.list_(tmp_path)
    out = capsys.readouterr().out
    assert out.count("Pendulum-v1") == 2
    assert out.count("cannot be used") == 1
    (tmp_path / "empty").mkdir()
    commands.list_(tmp_path / "empty")
    assert "no .demos folder" in capsys.readouterr().out
    with pytest.raises(DemoError, match="is not a folder"):
        commands.list_(tmp_path / "none")


def test_info_prints_brackets_as_they_are(demos, tmp_path, capsys):
    path = demos.save(tmp_path / "[x].demos")
    commands.info(path, plot=tmp_path / "x.png")
    out = capsys.readouterr().out
    assert "a [bold]test[/oops]" in out
    assert "notice trajectory 2 is trajectory 0 again" in out
    assert (tmp_path / "x.png").exists()


def test_check_prints_notices_and_raises_errors(demos, tmp_path, capsys):
    path = demos.save(tmp_path / "x.demos")
    commands.check(path, "Pendulum-v1")
    out = capsys.readouterr().out
    assert "could be of Pendulum-v1, with 2 notice" in out
    assert "checked: sizes and bounds, " in out
    with pytest.raises(DemoError, match="repeat another"):
        commands.check(path, "Pendulum-v1", strict=True)
    with pytest.raises(DemoError, match="say Pendulum-v1"):
        commands.check(path, "Hopper-v5")


def test_convert_tells_what_it_did(tmp_path, capsys):
    np.savez(
        tmp_path / "x.npz",
        obs=RNG.normal(size=(2, 4, 3)),
        acts=RNG.normal(size=(2, 4, 1)),
        rewards=1,
    )
    commands.convert(str(tmp_path / "x.npz"), tmp_path / "x.demos", env="Pendulum-v1", who="me")
    out = capsys.readouterr().out
    assert "notice 2 of 2 trajectories lack their final observation" in out
    assert "left out rewards" in out
    assert "6 transitions" in out
    assert Demos.load(tmp_path / "x.demos").about["who"] == "me"
    with pytest.raises(DemoError, match="exists"):
        commands.convert(str(tmp_path / "x.npz"), tmp_path / "x.demos")


def test_demonstrations_are_found_by_the_environments_name(tmp_path, monkeypatch):
    """In the folder, then in its demos folder; otherwise the error says how to get some."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DemoError, match=r"soar_il\.record.*soar demos record --run"):
        places.find("Point-v0")  # no expert of it is shipped
    with pytest.raises(DemoError, match="`soar demos record Walker2d-v5`"):
        places.find("Walker2d-v5")
    (tmp_path / "Point-v0.demos").mkdir()
    assert places.find("Point-v0") == Path("Point-v0.demos")
    (tmp_path / "demos" / "Point-v0.demos").mkdir(parents=True)
    assert places.find("Point-v0") == Path("demos/Point-v0.demos")
