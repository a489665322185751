"""The files in experiments/: the paper's figures and tables, in full and in small."""

import tomllib
from pathlib import Path

import pytest

from soar_il.bases import BASES
from soar_il.commands.sweep import kinds
from soar_il.configure import resolve
from soar_il.sweep import checks, estimate, grid

FILES = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
SIZES = {"Hopper-v5": (12, 3), "Walker2d-v5": (18, 6), "Ant-v5": (106, 8), "Humanoid-v5": (349, 17)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_file_is_one_and_its_settings_exist(path):
    sweep = grid.read(path, kinds())
    assert sweep.shows
    for job in sweep.jobs:
        assert checks.resolved(job) or not job.kind.resolve


def test_every_figure_and_table_has_both_sizes():
    names = {path.stem for path in FILES}
    for figure in (
        *("average", "state-only", "state-action", "number-of-critics", "clip-values"),
        *("single-trajectory", "hard-exploration", "expert-table", "hyper-parameters"),
    ):
        assert {figure, f"quick-{figure}"} <= names


@pytest.mark.parametrize("path", [p for p in FILES if "quick" in p.stem], ids=lambda p: p.stem)
def test_the_quick_ones_take_less_than_an_hour_on_two_cores(path):
    """By the model of estimate.py, with a core of 60 GFLOPS."""
    sweep = grid.read(path, kinds())
    seconds = 0.0
    for job in sweep.jobs if sweep.trained and sweep.kind.resolve else ():
        sizes = SIZES[job.options["env"]]
        seconds += job.steps * estimate.modelled(checks.resolved(job), job, *sizes, speed=60e9)
    assert seconds / 2 < 3600


def test_figures_that_share_a_folder_mean_the_same_runs():
    folder = FILES[0].parent
    whole = {job.name: job for job in grid.read(folder / "average.toml", kinds()).jobs}
    parts = [grid.read(folder / f"{name}.toml", kinds()) for name in ("state-only", "state-action")]
    assert {part.out for part in parts} == {"paper"}
    assert {job.name: job for part in parts for job in part.jobs} == whole


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_no_case_sets_a_clip_value_that_the_preset_has(path):
    """A number is written down in one place."""
    sweep = grid.read(path, kinds())
    for rule in tomllib.loads(path.read_text()).get("where", []):
        if "sigma" in rule.get("set", {}):
            given = (rule["base"], rule["env"], sweep.jobs[0].options["preset"])
            assert resolve(*given).learner.sigma != rule["set"]["sigma"], rule


def test_the_paper_s_clip_values_and_steps():
    read = grid.read(FILES[0].parent / "average.toml", kinds()).jobs
    jobs = {job.name: job.options for job in read}
    sigmas = {job.name: checks.resolved(job)["learner"]["sigma"] for job in read}
    assert len(jobs) == 4 * 4 * 2 * 5
    assert sigmas["Humanoid-v5/rkl-L4-seed0"] == 100.0
    assert sigmas["Ant-v5/csil-plain-L4-seed4"] == 10.0
    assert "sigma" not in jobs["Ant-v5/csil-plain-L1-seed4"]
    assert jobs["Walker2d-v5/ml-irl-L1-seed2"]["steps"] == 1_500_000
    assert jobs["Ant-v5/ml-irl-sa-L4-seed2"]["steps"] == 1_200_000


def test_no_seed_both_chooses_and_reports():
    seeds = {"report": set(), "selection": set()}
    for path in FILES:
        sweep = grid.read(path, kinds())
        if sweep.kind.name == "train":
            seeds[sweep.purpose] |= {job.options.get("seed", 0) for job in sweep.jobs}
    assert not seeds["report"] & seeds["selection"]


@pytest.mark.parametrize(
    ("name", "demonstrations", "expected"),
    [
        ("methods", 16, [100_000, 60_000, 30_000, 80_000, 60_000]),
        ("methods-one", 1, [30_000, 60_000]),
    ],
)
def test_the_table_of_methods_has_every_method_at_the_same_steps(name, demonstrations, expected):
    sweep = grid.read(FILES[0].parent / f"{name}.toml", kinds())
    assert {job.options["demonstrations"] for job in sweep.jobs} == {demonstrations}
    steps = {}
    for job in sweep.jobs:
        steps.setdefault(job.options["base"], {})[job.options["env"]] = job.options["steps"]
    assert steps.keys() == BASES.keys()
    assert set(steps.pop("bc").values()) == {0}
    (same,) = {tuple(sorted(each.items())) for each in steps.values()}
    assert [n for _, n in same] == expected
