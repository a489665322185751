import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import soak

from soar_il import cli
from soar_il.tabular import mdps
from soar_il.tabular.studies import rate

SOAR = [sys.executable, "-c", "from soar_il.cli import main; main()"]


def soar(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["soar", *map(str, arguments)])
    cli.main()


def ablation(monkeypatch, folder, *more):
    soar(monkeypatch, "tabular", "--critics", 1, 2, "--seeds", 5, "--out", folder, *more)
    return json.loads((folder / "ablation.json").read_text())


def test_tabular_writes_what_it_promises(monkeypatch, tmp_path, capsys):
    content = ablation(monkeypatch, tmp_path, "--iterations", 40)
    mdp = mdps.hard_exploration()
    assert content["expert_value"] == pytest.approx(mdp.initial_value(mdp.optimal_policy()))
    assert content["task"]["settings"]["eta"] == 4.0
    assert content["versions"]["jax"]
    assert [curve["critics"] for curve in content["curves"]] == [1, 2]
    for curve in content["curves"]:
        assert (curve["k"][0], curve["k"][-1]) == (1, 40)
        assert [r["seed"] for r in curve["runs"]] == [0, 1, 2, 3, 4]
        for r in curve["runs"]:
            assert len(r["policy_value"]) == len(r["mixture_value"]) == len(curve["k"])
            assert r["policy_value"][0] == pytest.approx(content["uniform_value"], abs=1e-5)
            assert np.all(np.diff(r["steps"]) > 0)
    for name in ("ablation.svg", "ablation.png"):
        assert (tmp_path / name).stat().st_size > 10_000
    printed = capsys.readouterr().out
    assert "seeds solved" in printed
    assert "ablation.png" in printed


def test_the_mixture_is_the_mean_of_the_policies(monkeypatch, tmp_path):
    content = ablation(monkeypatch, tmp_path, "--iterations", 20, "--mdp", "garnet")
    run = content["curves"][1]["runs"][2]
    k = content["curves"][1]["k"]
    assert k == list(range(1, 21))
    means = np.cumsum(run["policy_value"]) / np.array(k)
    np.testing.assert_allclose(run["mixture_value"], means, atol=1e-5)


def test_the_same_command_gives_the_same_values(monkeypatch, tmp_path):
    first = ablation(monkeypatch, tmp_path / "a", "--iterations", 25, "--rule", "min")
    second = ablation(monkeypatch, tmp_path / "b", "--iterations", 25, "--rule", "min")
    assert first["curves"] == second["curves"]
    assert first["task"]["settings"]["rule"] == "min"


def test_the_released_preset_counts_every_step(monkeypatch, tmp_path):
    content = ablation(
        monkeypatch, tmp_path, "--preset", "as-released", "--iterations", 3, "--critics", 2
    )
    steps = [r["steps"][-1] for r in content["curves"][0]["runs"]]
    wanted = 3 * 102 * 100  # iterations x rollouts x mean length
    assert np.mean(steps) == pytest.approx(wanted, rel=0.2)


def test_regret_writes_what_it_promises(monkeypatch, tmp_path, capsys):
    soar(
        monkeypatch, "regret", "--mdps", "chain", "--garnets", 1, "--largest", 300,
        "--seeds", 5, "--first-seed", 30, "--out", tmp_path,
    )  # fmt: skip
    content = json.loads((tmp_path / "regret.json").read_text())
    assert content["seeds"] == [30, 31, 32, 33, 34]
    assert list(content["mdps"]) == ["chain", "garnet-0"]
    point = content["mdps"]["chain"]["points"][-1]
    assert point["iterations"] == point["expert_samples"] == 300
    terms = point["terms"]
    total = np.add(terms["policy"], terms["cost"])
    np.testing.assert_allclose(point["regret"], total)
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    assert "slope" in capsys.readouterr().out


def test_the_theory_s_constants_come_with_their_bound(monkeypatch, tmp_path):
    soar(
        monkeypatch, "regret", "--constants", "theory", "--smallest", 20, "--largest", 60,
        "--seeds", 5, "--out", tmp_path,
    )  # fmt: skip
    for point in json.loads((tmp_path / "regret.json").read_text())["mdps"]["hard-exploration"][
        "points"
    ]:
        assert point["settings"]["critics"] > 200
        assert max(point["regret"]) <= point["bound"]
        assert not any(point["optimism_failed"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tabular", "--mdp", "chian"], "did you mean 'chain'"),
        (["tabular", "--preset", "papers"], "did you mean 'paper'"),
        (["tabular", "--critics", "0"], "critics is 0"),
        (["tabular", "--seeds", "0"], "seeds is 0"),
        (["tabular", "--iterations", "0"], "iterations is 0"),
        (["tabular", "--out", "{file}/x"], "cannot be made"),
        (["regret", "--largest", "50"], "10 <= smallest < largest"),
        (["regret", "--mdps", "deep-sea"], "cost depends on the action"),
    ],
)
def test_mistakes_are_explained_in_a_line(monkeypatch, tmp_path, capsys, arguments, says):
    file = tmp_path / "file"
    file.touch()
    filled = [argument.replace("{file}", str(file)) for argument in arguments]
    if "--out" not in filled:
        filled += ["--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as stop:
        soar(monkeypatch, *filled)
    assert stop.value.code == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert says in printed
    assert "Traceback" not in printed


def test_control_c_keeps_what_is_done(tmp_path):
    command = [*SOAR, "tabular", "--critics", "1", "--seeds", "1", "--out", str(tmp_path)]
    at_once = {**os.environ, "PYTHONUNBUFFERED": "1"}  # or the first line comes with the hundredth
    process = subprocess.Popen(
        [*command, "--iterations", "400000"], stdout=subprocess.PIPE, text=True, env=at_once
    )
    for line in process.stdout:
        if "/400,000" in line:
            break
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 130, output
    content = json.loads((tmp_path / "ablation.json").read_text())
    assert 1 < content["curves"][0]["k"][-1] < 400_000
    assert (tmp_path / "ablation.png").exists()


@pytest.mark.parametrize(
    ("over", "largest"), [(["garnet"], 3162), soak.param(["garnet", "chain"], 10_000)]
)
def test_the_regret_of_random_mdps_falls_like_the_theorem_says(
    over, largest, monkeypatch, tmp_path
):
    """K from 10^2 on; docs/tabular.md has the whole range, 20 seeds and the hard MDP."""
    asked = ["regret", "--mdps", *over, "--largest", largest, "--seeds", 10]
    soar(monkeypatch, *asked, "--out", tmp_path)
    content = json.loads((tmp_path / "regret.json").read_text())
    for measured in content["mdps"].values():
        assert measured["slope"]["high"] <= -0.35


def test_the_grid_has_two_values_a_decade():
    assert rate.grid(100, 100_000) == [100, 316, 1000, 3162, 10000, 31623, 100000]
