"""A sweep knows every option and setting that its command does, and what they may be."""

import sys

import gymnasium as gym
import pytest
import toys

from soar_il.commands import train as command
from soar_il.commands.sweep import kinds
from soar_il.errors import SoarError
from soar_il.sweep import checks, estimate, folder, grid, local


def read(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text)
    return grid.read(path, kinds())


def test_every_setting_of_training_is_one_of_a_sweep(tmp_path):
    """`soar train --set observed=27` and the same in a file mean the same run."""
    (job,) = read(
        tmp_path,
        "options = {observed = 5, standardise = false, learner.alpha = 0.5, tensorboard = true}\n"
        "grid = {env = ['Hopper-v5'], base = ['ml-irl'], seed = [3]}",
    ).jobs
    settings = checks.resolved(job)
    assert (settings["observed"], settings["standardise"], settings["seed"]) == (5, False, 3)
    said = job.arguments(tmp_path / "o")
    assert said[-4:] == ["--set", "observed=5", "standardise=false", "learner.alpha=0.5"]
    assert "--tensorboard" in said


def test_more_coordinates_than_there_are_stop_the_sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "options.observed = 99\ngrid = {env = ['Hopper-v5'], base = ['ml-irl']}"
    with pytest.raises(SoarError, match="observed is 99"):
        checks.check(read(tmp_path, text))


def test_arms_are_options_that_go_together(tmp_path):
    """Each is a row of its own; what an arm does not say has no part in its name."""
    sweep = read(
        tmp_path,
        "grid = {env = ['Hopper-v5'], base = ['ml-irl'], seed = [0, 1]}\n"
        "[[arms]]\ncritics = 4\n"
        "[[arms]]\ncritics = 4\nsigma = 0.0\n"
        "[[arms]]\ncritics = 1\nlearner.alpha = 0.5\n",
    )
    names = [job.name.removeprefix("Hopper-v5/") for job in sweep.jobs]
    rows = ["ml-irl-L4", "ml-irl-L4-sigma0", "ml-irl-L1-alpha0.5"]
    assert names == [f"{row}-seed{seed}" for seed in (0, 1) for row in rows]
    assert [job.options.get("sigma") for job in sweep.jobs[:3]] == [None, 0.0, None]


@pytest.fixture
def endless():
    """An environment without a time limit of its own."""
    gym.register("Endless-v0", toys.PointMass)
    yield "Endless-v0"
    del gym.registry["Endless-v0"]


def test_an_environment_is_tried_with_the_horizon_that_jobs_give_it(tmp_path, endless):
    demos = tmp_path / "points.demos"
    toys.demos_of(toys.PointMass, 2, seed=0).save(demos)
    text = f"grid = {{env = ['{endless}'], base = ['ml-irl']}}\noptions.demos = '{demos}'\n"
    with pytest.raises(SoarError, match="no time limit"):
        checks.check(read(tmp_path, text))
    checked = checks.check(read(tmp_path, f"{text}options.horizon = 30"))
    assert len(checked.jobs) == 1
    left = estimate.seconds(checked.jobs, checked.settings, tmp_path / "out")
    assert left[checked.jobs[0].name] > 0


def test_what_a_file_leaves_out_is_the_command_s_own_default(tmp_path, monkeypatch):
    def train(env: str = "Hopper-v5", base: str = "x", steps: int = 123) -> None:
        raise AssertionError

    monkeypatch.setattr(command, "train", train)
    (job,) = read(tmp_path, "grid = {env = ['Hopper-v5'], base = ['ml-irl']}").jobs
    assert (job.steps, job.get("seed")) == (123, None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("options.steps = '1500'", "give a value of type int"),
        ("grid.critics = [1, '4']", "critics is '4'"),
        ("arms = [{critics = '4'}]", "critics is '4'"),
        ("grid.critics = [1]\narms = [{critics = 4}]", "critics is in grid and in arms"),
        ("options.termination = 'never'", "'absorbing' or 'fixed' or 'early'"),
        ("options.seed = true", "give a value of type int"),
        ("options.standardize = true", "did you mean 'standardise'"),
        ("command = 'tabular'\noptions.learner.alpha = 1.0", "tabular has no option"),
        ("command = 'tabular'\noptions.rule = 'max'", "'min' or 'mean-std'"),
    ],
)
def test_a_value_of_the_wrong_type_is_found_at_once(tmp_path, text, says):
    with pytest.raises(SoarError) as error:
        read(tmp_path, text)
    assert says in str(error.value)


class Silent:
    """A screen that says nothing."""

    def started(self, job):
        pass

    def ended(self, job, problem):
        pass

    def look(self):
        pass


def test_what_ended_a_job_is_kept_until_it_is_started_again(tmp_path):
    job, place = grid.Job("a", kinds()["tabular"], {}), tmp_path / "a"
    for code, wanted in (("import sys; sys.exit('no such luck')", "no such luck"), ("", "")):
        local.run([job], tmp_path, 1, Silent(), (sys.executable, "-c", code))
        assert folder.problem(place) == wanted
