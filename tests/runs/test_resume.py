"""A run that was stopped, by anything, ends as one that was not."""

import contextlib
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import jax
import pytest
import soak
import tiny
import toys

from soar_il.agent import Imitator
from soar_il.build import method_of
from soar_il.configure import resolve
from soar_il.errors import StorageError
from soar_il.runs.run import Run
from soar_il.runs.train import Keep
from soar_il.runs.train import train as train_run
from soar_il.seal import seal

STEPS = 2400


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    path = tmp_path_factory.mktemp("demos") / "points.demos"
    tiny.demos().save(path)
    return path


def command(*arguments):
    """``soar`` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tiny", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished(process, code=0):
    output = process.communicate()[0]
    assert process.returncode == code, output
    return output


def soar(*arguments):
    """``soar`` in this process, which has compiled already."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["soar", *map(str, arguments)])
        tiny.main()


def training(demos, folder, *more, steps=STEPS, base="ml-irl", critics=4):
    common = ["--demos", demos, "--env", "Point-v0", "--steps", steps]
    often = ["--checkpoint-every", 120, "--evaluate-every", 300, "--episodes", 2]
    method = ["--base", base, "--critics", critics]
    settings = tiny.settings(base)
    return ["train", *common, *method, *often, "--out", folder, *more, "--set", *settings]


@pytest.fixture(scope="module")
def uninterrupted(demos, tmp_path_factory):
    """The run of so many steps that nobody interrupted."""

    @functools.cache
    def made(steps, base="ml-irl", critics=4):
        folder = tmp_path_factory.mktemp("whole") / "run"
        soar(*training(demos, folder, steps=steps, base=base, critics=critics))
        return folder

    return made


@pytest.fixture(scope="module")
def whole(uninterrupted):
    return uninterrupted(STEPS)


def what_was_learned(folder):
    run = Run.resume(folder, "Point-v0", say=print)
    try:
        return run.fingerprint(), (folder / "metrics.jsonl").read_bytes(), run.steps
    finally:
        run.close()


@pytest.fixture(autouse=True)
def point_mass():
    tiny.register()


EVERY_KIND = [(base, critics) for base, critics in tiny.CASES if tiny.most(base) == 4]


@pytest.mark.parametrize(
    ("base", "critics", "wanted"),
    [("ml-irl", 4, 2), *(soak.param(*kind, soak.times(10, 2)) for kind in soak.some(EVERY_KIND))],
)
def test_kill_9_at_random_moments_changes_nothing(
    demos, uninterrupted, tmp_path, base, critics, wanted
):
    """Ten times a run of every method, two hundred and more in all; twice where time is short."""
    choose, steps = random.Random(critics), max(STEPS, 400 * wanted)
    folder, whole, kills = tmp_path / "run", uninterrupted(steps, base, critics), 0
    while kills < wanted:
        started = (folder / "plan.json").exists()
        new = training(demos, folder, steps=steps, base=base, critics=critics)
        process = command("resume", folder) if started else command(*new)
        log = folder / "metrics.jsonl"
        before = log.stat().st_size if log.exists() else 0
        while process.poll() is None and not (log.exists() and log.stat().st_size > before):
            time.sleep(0.005)  # past imports and compilation, where a kill is no news
        time.sleep(choose.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:
            break
        kills += 1
    soar("resume", folder)
    assert kills == wanted, "it finished before it could be killed often enough"
    assert what_was_learned(folder) == what_was_learned(whole)
    assert scores(folder) == scores(whole)
    assert not list(folder.rglob("tmp-*"))


def scores(folder):
    return [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]


@pytest.mark.skipif(sys.platform != "linux", reason="a process chooses its cores on Linux alone")
def test_the_cores_that_a_run_may_use_change_nothing(tmp_path):
    """One in a sweep, all in a shell or on a cluster; it shows at full size alone."""
    cores, prints = os.sched_getaffinity(0), set()
    run = ["--env", "Hopper-v5", "--base", "ml-irl", "--critics", 1, "--steps", 100]
    short = ["--set", "learner.iteration_steps=100", "learner.random_steps=100"]
    try:
        for n, given in enumerate(({min(cores)}, cores)):
            os.sched_setaffinity(0, given)  # children inherit it
            folder = tmp_path / str(n)
            finished(command("train", *run, "--evaluate-every", 0, "--out", folder, *short))
            prints.add(finished(command("fingerprint", folder)))
    finally:
        os.sched_setaffinity(0, cores)
    assert len(prints) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_polite_stop_keeps_the_last_iteration(demos, whole, tmp_path, number, code):
    folder = tmp_path / "run"
    process = command(*training(demos, folder, "--checkpoint-every", 1_000_000, steps=20 * STEPS))
    log = folder / "metrics.jsonl"
    while not (log.exists() and len(log.read_bytes().splitlines()) > 3):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    finished(process, code)
    done = log.read_bytes().splitlines()
    (kept,) = (folder / "checkpoints").iterdir()
    assert int(kept.name) == len(done)
    there = (whole / "metrics.jsonl").read_bytes().splitlines()
    if len(done) < len(there):  # on a busy machine the signal may come late
        soar("resume", folder, "--steps", STEPS)
        assert what_was_learned(folder) == what_was_learned(whole)
    assert log.read_bytes().splitlines()[: len(there)] == there


def test_a_stop_just_after_an_iteration_keeps_the_policy_that_was_due(tmp_path):
    """Or the curve of a run that was stopped would lack a point."""

    def stop(seen):
        raise KeyboardInterrupt

    with tiny.imitator(folder=tmp_path / "run") as imitator:
        with pytest.raises(KeyboardInterrupt):
            train_run(imitator._run, 6000, Keep(6000, 60), stop, lambda run: None)
        assert imitator._run.k == 1
    kept = sorted(path.stem for path in (tmp_path / "run" / "snapshots").iterdir())
    assert kept == ["000000000", "000000001"]


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(whole, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    newest = max((folder / "checkpoints").iterdir())
    state = bytearray((newest / "state.safetensors").read_bytes())
    state[len(state) // 2] ^= 1
    (newest / "state.safetensors").write_bytes(state)
    soar("resume", folder)
    output = capsys.readouterr().out
    assert newest.name in output.replace("\n", "")
    assert "damaged" in output or "SHA-256" in output
    assert what_was_learned(folder) == what_was_learned(whole)


def test_a_longer_run_goes_on_from_a_shorter_one(demos, whole, tmp_path, capsys):
    folder = tmp_path / "run"
    soar(*training(demos, folder, "--steps", 500))
    soar("resume", folder, "--steps", STEPS)
    assert "resuming at iteration" in capsys.readouterr().out
    assert what_was_learned(folder) == what_was_learned(whole)


def test_a_moved_run_goes_on(demos, whole, tmp_path):
    soar(*training(demos, tmp_path / "here", "--steps", 500))
    (tmp_path / "here").rename(tmp_path / "there")
    soar("resume", tmp_path / "there", "--steps", STEPS)
    assert what_was_learned(tmp_path / "there") == what_was_learned(whole)


def test_what_a_method_learns_before_the_first_step_is_not_learned_again(tmp_path):
    """CSIL's clone is dear; of a run with a checkpoint only the shapes are wanted."""
    small = {"learner": tiny.LEARNER, "cost": tiny.cost("csil-plain")}
    made, plain = [], method_of(resolve("csil-plain", "Point-v0", **small), toys.HORIZON, None)

    def init(key, *more):
        made.append(not isinstance(key, jax.core.Tracer))
        return plain.init(key, *more)

    base = plain._replace(init=init)
    with tiny.imitator(base=base, folder=tmp_path / "run") as imitator:
        imitator.learn(60)
        imitator.save(tmp_path / "run")
        learned = imitator.fingerprint()
    with Imitator.load(tmp_path / "run", env=toys.PointMass, base=base) as loaded:
        assert loaded.fingerprint() == learned
    assert made == [True, False]


def test_a_run_in_use_is_left_alone(tmp_path):
    with tiny.imitator(folder=tmp_path / "run") as imitator:
        imitator.learn(60)
        with pytest.raises(StorageError, match=r"in use by this process\n.*close the Imitator"):
            Run.resume(tmp_path / "run", toys.PointMass)


def test_other_versions_are_refused_and_named(tmp_path):
    with tiny.imitator(folder=tmp_path / "run") as imitator:
        imitator.learn(60)
        imitator.save(tmp_path / "run")
    path = tmp_path / "run" / "provenance.json"
    about = json.loads(path.read_text())
    about["versions"]["jax"] = "0.0.1"
    del about["sha256"]
    path.write_bytes(seal(about, "sha256"))
    with pytest.raises(StorageError, match=r"0\.0\.1"):
        Run.resume(tmp_path / "run", toys.PointMass)
    said = []
    Run.resume(tmp_path / "run", toys.PointMass, allow_drift=True, say=said.append).close()
    assert any("0.0.1" in line for line in said)


def test_a_folder_with_a_run_is_not_overwritten(tmp_path):
    with tiny.imitator(folder=tmp_path / "run"):
        pass
    with pytest.raises(StorageError, match="a run here already"):
        tiny.imitator(folder=tmp_path / "run")


@pytest.mark.parametrize("base", tiny.EVERY_BASE)
def test_save_and_load_go_on_exactly(tmp_path, base):
    critics = tiny.most(base)  # compiled by the leak tests too
    with tiny.imitator(base=base, critics=critics) as imitator:
        imitator.learn(120).save(tmp_path / "saved")
        after = imitator.learn(120).fingerprint()
    with Imitator.load(tmp_path / "saved", env=toys.PointMass) as loaded:
        assert loaded.learn(120).fingerprint() == after


@pytest.mark.parametrize("base", ["ml-irl", "csil"])
@pytest.mark.parametrize("steps", [50, 130, 301])
def test_a_run_takes_the_steps_it_was_asked_for(base, steps, tmp_path):
    """Less than an episode more; an iteration here has 300, and starts with as many."""
    learner = {**tiny.LEARNER, "iteration_steps": 300, "random_steps": 300}
    said = {"critics": 2, "horizon": toys.HORIZON, "learner": {**learner, "split": "minibatches"}}
    cfg = resolve(base, "Point-v0", **said, cost=tiny.cost(base))
    run = Run.create(tmp_path / "run", cfg, "Point-v0", tiny.demos())
    with contextlib.closing(run):
        train_run(run, steps, Keep(), lambda seen: None, lambda run: None, shorten=True)
        assert steps <= run.steps < steps + toys.HORIZON


def test_a_shortened_iteration_is_made_again_whole_for_more_steps(demos, uninterrupted, tmp_path):
    """And again, however often; what is left after the last is the run that nobody stopped."""
    folder, whole = tmp_path / "run", uninterrupted(900)
    often = ["--set", "learner.iteration_steps=60"]
    soar(*training(demos, folder, *often, steps=415))
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    lengths = [json.loads(line)["steps"] for line in lines]
    assert lengths[-1] - lengths[-2] < 60, "nothing was shortened"
    soar("resume", folder, "--steps", 421)
    soar("resume", folder, "--steps", 655)
    soar("resume", folder, "--steps", 900)
    assert what_was_learned(folder) == what_was_learned(whole)
