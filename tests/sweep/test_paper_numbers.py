"""The experiments and presets say what the paper says: its methods, clip values, steps, Table 2."""

import sys
import tomllib
from pathlib import Path

import pytest

from soar_il import cli
from soar_il.configure import resolve
from soar_il.report import reader, settings

ROOT = Path(__file__).parents[2]
FIGURES = ("state-action", "average", "single-trajectory", "clip-values", "hyper-parameters")
BASES = ("rkl", "ml-irl", "ml-irl-sa", "csil-plain")
CLIPS = {  # with 16 demonstrations, in the captions
    "rkl": {"Ant-v5": 0.8, "Hopper-v5": 50.0, "Humanoid-v5": 100.0, "Walker2d-v5": 30.0},
    "ml-irl": {"Ant-v5": 10.0, "Hopper-v5": 50.0, "Humanoid-v5": 5.0, "Walker2d-v5": 0.5},
    "csil-plain": {"Ant-v5": 10.0, "Hopper-v5": 5.0, "Humanoid-v5": 0.1, "Walker2d-v5": 0.5},
    "ml-irl-sa": {"Ant-v5": 5.0, "Hopper-v5": 10.0, "Humanoid-v5": 50.0, "Walker2d-v5": 0.5},
}
STEPS = {"Ant-v5": 1.2e6, "Hopper-v5": 1e6, "Humanoid-v5": 1e6, "Walker2d-v5": 1.5e6}


def said(name):
    return tomllib.loads((ROOT / "experiments" / f"{name}.toml").read_text())


def under(file, **where):
    """What the rules of a file set for a job, the options first."""
    found = dict(file["options"])
    for rule in file.get("where", []):
        if all(where.get(key) == value for key, value in rule.items() if key != "set"):
            found |= rule["set"]
    return found


@pytest.mark.parametrize("name", [*FIGURES, *(f"quick-{figure}" for figure in FIGURES)])
def test_the_paper_s_csil_is_algorithm_10(name):
    file = said(name)
    used = {*file["grid"]["base"], *(rule.get("base") for rule in file.get("where", []))}
    assert "csil" not in used
    if not name.startswith("quick-c") and not name.startswith("quick-h"):
        assert "csil-plain" in used


@pytest.mark.parametrize("name", ["state-only", "state-action", "average", "hyper-parameters"])
def test_the_clip_values_and_steps_are_those_of_the_captions_and_the_table(name):
    file = said(name)
    for base in file["grid"]["base"]:
        for env, sigma in CLIPS[base].items():
            chosen = under(file, base=base, env=env)
            assert chosen["steps"] == STEPS[env]
            assert chosen.get("sigma", resolve(base, env, "paper").learner.sigma) == sigma


def test_the_search_of_clip_values_has_every_one_that_the_paper_names():
    searched = said("clip-values")["grid"]["sigma"]
    assert {sigma for of in CLIPS.values() for sigma in of.values()} <= set(searched)
    assert {0.1, 0.5, 1.0, 5.0, 10.0, 50.0} <= set(searched)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("env", STEPS)
def test_the_preset_paper_is_table_2(base, env):
    made = resolve(base, env, "paper")
    assert made.cost.learning_rate == 1e-4
    assert made.cost.hidden == ((128, 128) if env == "Ant-v5" else (64, 64))
    assert made.learner.learning_rate == 1e-3
    assert made.learner.hidden == (256, 256)
    assert made.learner.sigma == CLIPS[base][env]
    assert made.learner.critics == 4


def test_the_actor_of_the_authors_csil_is_table_2_s_and_so_is_the_clone_it_starts_from():
    for env in STEPS:
        made = resolve("csil", env, "paper")
        assert made.learner.hidden == (256, 256)  # the clone has the actor's
        assert made.cost.learning_rate == 1e-4


def test_the_table_of_hyper_parameters_has_the_number_of_iterations(tmp_path, monkeypatch):
    """The paper's first row."""
    file = ROOT / "experiments" / "hyper-parameters.toml"
    monkeypatch.setattr(sys, "argv", ["soar", "sweep", str(file), "--out", str(tmp_path)])
    cli.main()
    found = {
        row[0]: dict(zip(table.head[1:], row[1:], strict=True))
        for table in settings.tables(reader.read([tmp_path]))
        for row in table.rows
    }
    by_column = found["steps"]
    assert len(by_column) == 4 * len(BASES)
    for column, steps in by_column.items():
        assert int(steps) == next(n for env, n in STEPS.items() if env in column)
