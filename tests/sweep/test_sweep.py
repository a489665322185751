"""Sweeps as a user meets them: the grid, mistakes, and being killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiny

from soar_il import cli
from soar_il.commands.sweep import kinds
from soar_il.errors import SoarError
from soar_il.report import reader
from soar_il.report.write import write
from soar_il.runs import log
from soar_il.runs.run import Run
from soar_il.sweep import checks, folder, grid, local

TOML = """
title = "Points"
[options]
steps = {steps}
demos = "{demos}"
evaluate_every = 200
checkpoint_every = 120
episodes = 2
[options.learner]
{learner}
[options.cost]
{cost}
[grid]
env = ["points:Point-v0"]
base = ["ml-irl"]
critics = [1, 4]
seed = [0]
"""


def lines(settings):
    return "\n".join(f"{name} = {value}" for name, value in settings.items())


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    path = tmp_path_factory.mktemp("demos") / "points.demos"
    tiny.demos().save(path)
    return path


def experiment(folder, demos, steps=1500, **cost):
    path = folder / "points.toml"
    settings = {"learner": lines(tiny.LEARNER), "cost": lines(tiny.cost("ml-irl") | cost)}
    path.write_text(TOML.format(demos=demos, steps=steps, **settings))
    return path


def sweep(file, out, *more):
    command = [sys.executable, "-m", "soar_il", "sweep", str(file), "--out", str(out), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finished(process, code=0):
    output = process.communicate(timeout=300)[0]
    assert process.returncode == code, output
    return output


def outcome(out):
    """What a report would read, and the fingerprint of every state."""
    tiny.register()
    found = {}
    for path in sorted(out.rglob("config.json")):
        run = Run.resume(path.parent, say=lambda text: None)
        name = str(path.parent.relative_to(out))
        found[name] = run.fingerprint(), log.read(path.parent / "scores.jsonl")
        run.close()
    return found


@pytest.fixture(scope="module")
def whole(demos, tmp_path_factory):
    """The sweep that nobody killed."""
    place = tmp_path_factory.mktemp("whole")
    output = finished(sweep(experiment(place, demos), place / "out"))
    return place / "out", output


def test_a_sweep_runs_every_job_and_says_so(whole):
    out, output = whole
    names = [f"Point-v0/ml-irl-L{critics}-seed0" for critics in (1, 4)]
    assert sorted(str(p.parent.relative_to(out)) for p in out.rglob("config.json")) == names
    for name in names:
        assert f"{name}: done, return" in output
        assert json.loads((out / name / "done.json").read_text())["steps"] >= 1500
    assert f"soar report {out / 'points.sweep.json'}" in output.replace("\n", " ")


def again(monkeypatch, file, out, *more):
    """``soar sweep`` in this process."""
    monkeypatch.setattr(sys, "argv", ["soar", "sweep", str(file), "--out", str(out), *more])
    cli.main()


def test_the_same_command_again_reruns_nothing(whole, demos, tmp_path, monkeypatch, capsys):
    out, _ = whole
    times = {path: path.stat().st_mtime_ns for path in out.rglob("checkpoints/*/*")}
    again(monkeypatch, experiment(tmp_path, demos), out)
    assert "started" not in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in out.rglob("checkpoints/*/*")} == times


def learning(out):
    """The sizes of the logs that training writes."""
    return {path: path.stat().st_size for path in out.glob("*/*/metrics.jsonl")}


def test_a_sweep_killed_twice_ends_as_one_that_was_not(whole, demos, tmp_path):
    """The sweep alone is hit, hard and politely; its jobs must notice and lose nothing."""
    file, out = experiment(tmp_path, demos), tmp_path / "out"
    choose = random.Random(0)
    for number in (signal.SIGKILL, signal.SIGTERM):
        process, before = sweep(file, out), learning(out)
        while process.poll() is None and not any(
            size > before.get(path, 0) for path, size in learning(out).items()
        ):
            time.sleep(0.02)
        time.sleep(choose.uniform(0, 0.2))
        process.send_signal(number)
        process.communicate()
    finished(sweep(file, out))
    assert outcome(out) == outcome(whole[0])
    killed, not_killed = (reported(place, tmp_path / name) for place, name in
                          ((out, "killed"), (whole[0], "whole")))  # fmt: skip
    assert killed == not_killed


def reported(out, place):
    """The figures and tables of a report, to the byte."""
    write(reader.read([out]), place, "Points")
    made = [*(place / "figures").glob("*.svg"), *(place / "tables").iterdir()]
    assert len(made) >= 6
    return {path.name: path.read_bytes() for path in made}


class Quiet:
    """A screen that remembers."""

    def __init__(self):
        self.said = []

    def started(self, job):
        self.said.append(f"{job.name} started")

    def ended(self, job, problem):
        self.said.append(f"{job.name} {problem or 'done'}")

    def look(self):
        pass


def fake(out, code, count=2, workers=1):
    """Jobs that run a line of Python in the place of ``soar``."""
    jobs = [grid.Job(f"j{n}", kinds()["tabular"], {}) for n in range(count)]
    screen = Quiet()
    problems = local.run(jobs, out, workers, screen, (sys.executable, "-c", code))
    return problems, screen.said


def test_a_job_that_fails_is_named_and_the_others_go_on(tmp_path):
    code = "import sys; sys.exit('no such luck' if 'j0' in sys.argv[-1] else 0)"
    problems, said = fake(tmp_path, code)
    assert problems == {"j0": "no such luck"}
    assert said == ["j0 started", "j0 no such luck", "j1 started", "j1 done"]
    assert not (tmp_path / "j0" / "done.json").exists()
    assert (tmp_path / "j1" / "done.json").exists()


def test_a_job_that_is_killed_again_and_again_is_given_up(tmp_path):
    problems, said = fake(tmp_path, "import os; os.kill(os.getpid(), 9)", count=1)
    assert "killed 3 times at step 0" in problems["j0"]
    assert said.count("j0 started") == 3


def test_what_another_sweep_has_finished_meanwhile_is_not_run_again(tmp_path):
    code = (
        "import sys, pathlib; other = pathlib.Path(sys.argv[-1]).parent / 'j1'; "
        "other.mkdir(); (other / 'done.json').write_text('{}')"
    )
    problems, said = fake(tmp_path, code)
    assert not problems
    assert said == ["j0 started", "j0 done", "j1 done"]


def test_a_dry_run_lists_the_commands_and_a_time(demos, tmp_path, monkeypatch, capsys):
    again(monkeypatch, experiment(tmp_path, demos), tmp_path / "out", "--dry-run")
    said = " ".join(capsys.readouterr().out.split())
    assert "Point-v0/ml-irl-L4-seed0: new, about" in said
    assert "--env points:Point-v0 --base ml-irl --critics 4 --seed 0" in said
    assert "2 jobs, about" in said
    assert not (tmp_path / "out").exists()


def test_changed_settings_are_refused(whole, demos, tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        again(monkeypatch, experiment(tmp_path, demos, batch=17), whole[0])
    said = " ".join(capsys.readouterr().err.split())
    assert "cost.batch 16, and is now asked for with 17" in said


def read(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text)
    return grid.read(path, kinds())


def test_names_do_not_depend_on_the_other_jobs(tmp_path):
    small = read(
        tmp_path, "grid = {env = ['Hopper-v5'], base = ['rkl'], sigma = [5.0], seed = [3]}"
    )
    large = read(
        tmp_path,
        "options = {critics = 4}\n"
        "grid = {seed = [0, 3], sigma = [0.1, 5.0], base = ['js', 'rkl'], env = ['Hopper-v5']}",
    )
    assert [job.name for job in small.jobs] == ["Hopper-v5/rkl-sigma5-seed3"]
    names = [job.name for job in large.jobs]
    assert len(set(names)) == 8
    assert "Hopper-v5/rkl-L4-sigma5-seed3" in names
    assert [name[-5:] for name in names] == ["seed0"] * 4 + ["seed3"] * 4


def test_one_critic_has_no_clip_value_and_special_cases_apply(tmp_path):
    made = read(
        tmp_path,
        "[grid]\nenv = ['A', 'B']\nbase = ['x']\ncritics = [1, 4]\nsigma = [1.0, 2.0]\n"
        "[[where]]\nenv = 'B'\nset = {steps = 7, learner.alpha = 0.5}\n",
    )
    assert [job.name for job in made.jobs] == [
        *("A/x-L1-seed0", "A/x-L4-sigma1-seed0", "A/x-L4-sigma2-seed0"),
        *("B/x-L1-seed0", "B/x-L4-sigma1-seed0", "B/x-L4-sigma2-seed0"),
    ]
    assert [job.options.get("steps") for job in made.jobs] == [None] * 3 + [7] * 3
    assert made.jobs[-1].arguments(Path("o"))[-2:] == ["--set", "learner.alpha=0.5"]


def test_a_job_can_be_left_out_of_the_grid(tmp_path):
    text = "[grid]\nenv = ['A']\nbase = ['x', 'bc']\ncritics = [1, 4]\n"
    made = read(tmp_path, text + "[[where]]\nbase = 'bc'\ncritics = 4\nskip = true\n")
    names = ["A/x-L1-seed0", "A/x-L4-seed0", "A/bc-L1-seed0"]
    assert [job.name for job in made.jobs] == names


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("titel = 'x'", "did you mean 'title'"),
        ("command = 'trian'", "did you mean 'train'"),
        ("purpose = 'tuning'", "write report or selection"),
        ("options = {stepps = 5}", "did you mean 'steps'"),
        ("grid = {seed = 5}", "give a list of values"),
        ("where = [{env = 'x'}]", "has no set"),
        ("grid = {env = ['Hopper-v5']}", "add base to the grid"),
        ("grid = {env = ['Hopper-v5'], base = ['ml-irl', 'nope', 'zzz']}", "nope, zzz"),
        ("grid = {env = ['Pusher-v5'], base = ['ml-irl', 'nope']}", "demonstrations of Pusher"),
        ("grid = {env = ['Hoper-v5'], base = ['ml-irl']}", "Hopper-v5"),
        ("grid = {env = ['Pusher-v5'], base = ['ml-irl']}", "soar demos record Pusher-v5"),
        ("options = {demos = 'no'}\ngrid = {env = ['Pusher-v5'], base = ['ml-irl']}", "no: does"),
        ("options = {learner = {alpa = 1.0}}\ngrid = {env = ['A'], base = ['ml-irl']}", "'alpha'"),
    ],
)
def test_mistakes_are_found_before_any_job(tmp_path, monkeypatch, text, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SoarError) as error:
        checks.check(read(tmp_path, text))
    assert says in str(error.value)


def test_what_can_run_is_offered_where_the_rest_cannot(tmp_path, monkeypatch, demos):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demos").mkdir()
    (tmp_path / "demos" / "Hopper-v5.demos").symlink_to(demos)
    text = "grid = {env = ['Hopper-v5', 'Pusher-v5'], base = ['ml-irl', 'nope'], critics = [4]}"
    with pytest.raises(SoarError, match=r"run the others with --only Hopper-v5/ml-irl-$"):
        checks.check(read(tmp_path, text))
    checked = checks.check(read(tmp_path, text), ("Hopper-v5/ml-irl-",))
    assert [job.name for job in checked.jobs] == ["Hopper-v5/ml-irl-L4-seed0"]
    assert checked.jobs[0].options["demos"] == "demos/Hopper-v5.demos"


def test_a_job_in_use_is_left_alone(tmp_path):
    job = grid.Job("A/x-seed0", kinds()["train"], {})
    with tiny.imitator(folder=tmp_path / job.name):
        assert folder.in_use(tmp_path / job.name)
    assert not folder.in_use(tmp_path / job.name)


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="cores and parents are Linux's here")


@LINUX
def test_each_worker_has_a_core_of_its_own(tmp_path):
    code = "import os, time; print(sorted(os.sched_getaffinity(0))); time.sleep(1)"
    count = len(local.cores())
    assert not fake(tmp_path, code, count, count)[0]
    printed = sorted((tmp_path / f"j{n}" / "output.txt").read_text().strip() for n in range(count))
    assert printed == sorted(f"[{core}]" for core in local.cores())


@LINUX
def test_jobs_end_with_their_sweep(tmp_path):
    """Also where it is killed and can say nothing."""
    code = (
        "import sys, test_sweep, pathlib; "
        "test_sweep.fake(pathlib.Path(sys.argv[1]), 'import time; time.sleep(600)', 1)"
    )
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=known)
    mine = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    while parent.poll() is None and not mine.read_text().strip():
        time.sleep(0.02)
    (child,) = map(int, mine.read_text().split())
    command = Path(f"/proc/{child}/cmdline")  # empty while it becomes its command
    while command.read_bytes().split(b"\0")[2:3] != [b"import time; time.sleep(600)"]:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    end = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists()
