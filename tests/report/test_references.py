"""What a return is measured against where no expert is shipped."""

import json
import sys

import fake_sweep as fake
import numpy as np
import pytest
import tiny

from soar_il import cli
from soar_il.errors import SoarError
from soar_il.report import reader, references


@pytest.fixture(autouse=True)
def points():
    tiny.register()


def runs(folder, env="Point-v0", **more):
    for seed in range(2):
        fake.run(folder / f"{env}-{seed}", fake.rising(-20.0), env=env, seed=seed, **more)
    return folder


def report(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["soar", "report", *map(str, arguments)])
    cli.main()


def test_random_play_is_measured_once_and_kept(tmp_path, monkeypatch, capsys):
    folder = runs(tmp_path / "s")
    report(monkeypatch, folder, "--expert-return", 0)
    assert "measuring a random policy on Point-v0, once" in capsys.readouterr().out
    kept = json.loads((folder / references.NAME).read_text())["Point-v0"]
    report(monkeypatch, folder, "--expert-return", 0)
    assert "measuring" not in capsys.readouterr().out
    one = reader.read([folder], {"": 0.0}).results[0]
    np.testing.assert_allclose(one.normal, 1 - one.returns / kept["return"])
    assert one.normal[0] < 1


def test_without_the_expert_s_return_nothing_is_normalised(tmp_path, monkeypatch):
    folder = runs(tmp_path / "s")
    report(monkeypatch, folder)
    study = reader.read([folder])
    assert study.references["Point-v0"].random is not None
    assert study.results[0].normal is None
    assert "random play" in (folder / "report" / "tables" / "references.md").read_text()


def test_the_demonstrations_may_hold_their_expert_s_return(tmp_path):
    folder = runs(tmp_path / "s")
    for place in folder.iterdir():
        (place / "demos.demos").mkdir()
        manifest = place / "demos.demos" / "manifest.json"
        manifest.write_text(json.dumps({"about": {"expert_return": -3.5}}))
    known = reader.read([folder]).references["Point-v0"]
    assert (known.expert, known.expert_from) == (-3.5, "the demonstrations' provenance")
    assert reader.read([folder], {"Point-v0": 1.0}).references["Point-v0"].expert == 1.0
    manifest.write_text(json.dumps({"about": {"expert_return": -7.0}}))
    assert reader.read([folder]).references["Point-v0"].expert is None  # they do not agree


def test_a_scripted_expert_is_measured_as_random_play_is(tmp_path, monkeypatch):
    folder = runs(tmp_path / "s", env="soar_il.envs.exploration:Maze-v0")
    report(monkeypatch, folder)
    known = reader.read([folder]).references["soar_il.envs.exploration:Maze-v0"]
    assert known.random == 0.0
    assert known.expert > 140
    assert known.expert_from == "the scripted expert, measured"


def test_the_shipped_expert_s_card_is_used_and_may_be_overruled(tmp_path):
    folder = runs(tmp_path / "s", env="Hopper-v5")
    assert reader.read([folder]).references["Hopper-v5"].expert == pytest.approx(3560.6, abs=0.1)
    assert reader.read([folder], {"": 4000.0}).references["Hopper-v5"].expert == 4000


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["high"], "give a number, or ENV=NUMBER"),
        (["5"], "say whose: --expert-return Hopper-v5=5"),
        (["Ant-v5=5"], "there is no run of it"),
    ],
)
def test_an_expert_s_return_that_fits_nothing_is_refused(tmp_path, given, says):
    runs(tmp_path)
    runs(tmp_path, env="Hopper-v5")
    with pytest.raises(SoarError) as error:
        reader.read([tmp_path], references.given(given))
    assert says in str(error.value)


def test_an_environment_that_is_not_here_is_reported_without(tmp_path, monkeypatch, capsys):
    folder = runs(tmp_path / "s", env="Gone-v0")
    report(monkeypatch, folder)
    said = " ".join(capsys.readouterr().out.split())
    assert "no random policy on Gone-v0: there is no environment of this name" in said
    assert (folder / "report" / "index.html").exists()
