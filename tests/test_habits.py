"""Habits of Stable-Baselines3 and of the shell: callbacks, logs, quiet, JSON, names."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny
import toys

from soar_il import Demos, Imitator, cli
from soar_il.callbacks import Callback, StopWhenLevel
from soar_il.errors import ConfigError, DemoError
from soar_il.learners.sac import Settings

no_wandb = pytest.mark.skipif(bool(importlib.util.find_spec("wandb")), reason="it is there")


def command(monkeypatch, *arguments):
    tiny.register()
    monkeypatch.setattr(sys, "argv", ["soar", *map(str, arguments)])
    cli.main()


@pytest.fixture
def demos(tmp_path):
    return tiny.demos().save(tmp_path / "points.demos")


class Witness(Callback):
    """Remembers what it was told, and stops after so many iterations."""

    def __init__(self, most):
        self.most, self.told = most, []

    def on_start(self, imitator):
        self.told.append("start")

    def on_iteration(self, imitator, seen):
        self.told.append(imitator.num_timesteps == seen["steps"])
        return self.told.count(True) < self.most

    def on_end(self, imitator):
        self.told.append("end")


def test_callbacks_are_objects_functions_and_lists_of_them():
    first, second, counted = Witness(3), Witness(100), []
    with tiny.imitator() as imitator:
        imitator.learn(10_000, callback=[first, second, lambda _, seen: counted.append(seen)])
        assert first.told == second.told == ["start", True, True, True, "end"]
        assert len(counted) == 3
        imitator.learn(1, callback=StopWhenLevel(patience=1_000))
        assert imitator.num_timesteps < 1_000


def test_learning_stops_when_a_number_has_been_level_for_long():
    stop = StopWhenLevel("gap", patience=100)
    seen = [
        (3.0, 50, True),
        (2.0, 100, True),
        (2.5, 150, True),
        (2.0, 199, True),
        (3.0, 200, False),
    ]
    for gap, steps, goes_on in seen:
        assert stop.on_iteration(None, {"gap": gap, "steps": steps}) is goes_on


def test_verbose_says_what_it_does_and_the_usual_is_silent(capsys, tmp_path):
    with tiny.imitator() as quiet:
        quiet.learn(60)
    assert not capsys.readouterr().out
    with tiny.imitator(verbose=1, tensorboard_log=tmp_path / "events") as loud:
        loud.learn(60)
    said = capsys.readouterr().out
    assert "compiling" in said
    assert "cost gap" in said
    assert list((tmp_path / "events").glob("events*"))


def test_what_cannot_be_is_refused_with_what_to_do():
    with pytest.raises(ConfigError, match="JAX_PLATFORMS"):
        Imitator(toys.PointMass, tiny.demos(), device="cuda")
    with pytest.raises(ConfigError, match=r"learner: is a Settings, not a dict(.|\n)*learner=\{"):
        Imitator(toys.PointMass, tiny.demos(), learner=Settings())


def test_demonstrations_are_indexed_as_lists_are():
    demos = tiny.demos(4)
    assert (len(demos[0]), len(demos[1:3]), len(demos[-1])) == (1, 2, 1)
    np.testing.assert_array_equal(demos[1:][0].observations[0], demos.observations[1])
    assert [len(one) for one in demos] == [1, 1, 1, 1]
    with pytest.raises(DemoError, match="there are 4"):
        demos[9:]


def test_quiet_prints_nothing_and_eval_speaks_json(monkeypatch, capsys, tmp_path, demos):
    run = tmp_path / "run"
    where = ["--demos", demos, "--env", "Point-v0", "--out", run, "--quiet"]
    command(monkeypatch, "train", *where, "--steps", 60, "--episodes", 1, "--set", *tiny.SETTINGS)
    assert not capsys.readouterr().out
    command(monkeypatch, "eval", run, "--episodes", 2, "--no-last", "--json")
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert records[0]["steps"] == 0
    assert {"return", "length", "episodes"} <= records[-1].keys()
    command(monkeypatch, "resume", run)
    said = capsys.readouterr().out
    assert "has its" in said
    assert "--steps MORE" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "--episodes", 0], "episodes is 0"),
        (["train", "--steps", 0], "steps is 0"),
        (["train", "--set"], "learner.alpha=0.1"),
        (["train", "--env", "Hopper-v2"], "gymnasium-robotics"),
        (["train", "--env", "nowhere:Own-v0"], "folder of nowhere.py"),
        (["eval", "nowhere", "--episodes", 0], "episodes is 0"),
        (["eval", "nowhere"], "there is no config.json"),
        pytest.param(
            ["train", "--wandb", "project"], "pip install 'soar-il[wandb]'", marks=no_wandb
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*out of date")
def test_a_mistake_is_said_without_a_traceback(
    arguments, said, monkeypatch, capsys, tmp_path, demos
):
    monkeypatch.chdir(tmp_path)
    before = set(Path().iterdir())
    if arguments[0] == "train":
        arguments = [*arguments[:1], "--demos", demos, *arguments[1:]]
    with pytest.raises(SystemExit) as stopped:
        command(monkeypatch, *arguments)
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert said in " ".join((printed.out + printed.err).split())
    assert "Traceback" not in printed.err
    assert set(Path().iterdir()) == before


def test_a_mistyped_environment_is_named_where_there_are_no_demonstrations(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        command(monkeypatch, "train", "--env", "Hoper-v5")
    assert "did you mean Hopper-v5?" in capsys.readouterr().err


def test_demonstrations_of_other_names_are_trained_on(monkeypatch, capsys, tmp_path):
    found = tiny.demos(4)
    np.savez(tmp_path / "x.npz", state=found.observations, u=found.actions)
    where = ["--demos", tmp_path / "x.npz", "--env", "Point-v0", "--out", tmp_path / "run"]
    keys = ["--keys", "observations=state,actions=u"]
    short = ["--steps", 60, "--evaluate-every", 0, "--set", *tiny.SETTINGS]
    command(monkeypatch, "train", *where, *keys, *short)
    said = capsys.readouterr().out
    assert "/60 steps" in said
    assert "checking demonstrations and environment" in said
    assert not (tmp_path / "run" / "phase.txt").exists()  # a finished run is busy with nothing


def test_a_module_of_the_current_folder_is_found_with_arguments(tmp_path):
    """As the installed command does, which Python gives no current folder."""
    example = Path(__file__).parent.parent / "examples" / "your_environment.py"
    (tmp_path / "mine.py").write_text(example.read_text())
    run = "import sys; sys.path = [p for p in sys.path if p]; from soar_il.cli import main; main()"

    def soar(*arguments):
        made = [sys.executable, "-P", "-c", run, *arguments]
        return subprocess.run(made, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, check=True)
    said = soar("demos", "check", "Reach2D-v0.demos", "--env", "mine:Reach2D-v0")
    assert "fits mine:Reach2D-v0 by" in said
    small = [*tiny.SETTINGS, "learner.critics=1"]
    wind = ["--env-args", "wind=0.5", "--demos", "Reach2D-v0.demos", "--steps", "60"]
    said = soar("train", "--env", "mine:Reach2D-v0", *wind, "--episodes", "1", "--set", *small)
    folder = tmp_path / "results" / "Reach2D-v0-wind=0.5" / "ml-irl-L1-seed0"
    assert json.loads((folder / "config.json").read_text())["env"] == "mine:Reach2D-v0(wind=0.5)"
    assert ":" not in said.split("run: ")[1].split()[0]
    assert json.loads(soar("eval", str(folder), "--episodes", "1", "--json"))["steps"] >= 60


def test_a_nested_observation_can_be_predicted_for(tmp_path):
    example = Path(__file__).parent.parent / "examples" / "your_environment.py"
    names = {}
    exec(compile(example.read_text().partition("gym.register")[0], "own", "exec"), names)
    made, size = names["Reach2D"], 6
    states = [np.random.default_rng(n).normal(size=(31, size)) for n in range(2)]
    with tiny.imitator(made, demos=Demos.from_arrays(states)) as imitator:
        env = made()
        nested, _ = env.reset(seed=0)
        flat = np.concatenate([nested[name] for name in sorted(nested)])
        np.testing.assert_array_equal(imitator.predict(nested)[0], imitator.predict(flat)[0])
        several = {name: np.stack([x, x + 1]) for name, x in nested.items()}  # of a VectorEnv
        np.testing.assert_array_equal(
            imitator.predict(several)[0], imitator.predict(np.stack([flat, flat + 1]))[0]
        )
