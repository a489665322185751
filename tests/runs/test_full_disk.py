"""A disk that is full or read-only pauses a run, which says so and loses nothing."""

import errno
import io
import itertools
import os
import subprocess
import sys

import pytest
import tiny

from soar_il import files
from soar_il.errors import StorageError
from soar_il.runs.run import Run
from soar_il.runs.train import Keep
from soar_il.runs.train import train as train_run
from soar_il.terminal import progress

STEPS = 400
ROOT = sys.platform == "linux" and os.geteuid() == 0


def trained(imitator, said, on_iteration=lambda seen: None):
    imitator._run.say = said.append
    train_run(imitator._run, STEPS, Keep(120, 120), on_iteration, lambda run: None)
    return imitator.fingerprint()


def kept(folder):
    """Every file whose bits must repeat."""
    names = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    apart = ("provenance.json", "lock", "manifest.json")
    return {str(p.relative_to(folder)): p.read_bytes() for p in names if p.name not in apart}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    with tiny.imitator(folder=folder) as imitator:
        fingerprint = trained(imitator, [])
        return fingerprint, kept(folder)


@pytest.mark.parametrize("code", ["ENOSPC", "EROFS", "EDQUOT", "EACCES"])
def test_writes_that_fail_now_and_then_lose_nothing(whole, tmp_path, monkeypatch, code):
    """Every third of each call that storing is made of; segments and checkpoints are among them."""
    failed, said = set(), []

    def flaky(name, real):
        calls = itertools.count(1)

        def call(*arguments, **options):
            if next(calls) % 3 == 0:
                failed.add(name)
                raise OSError(getattr(errno, code), "not now")
            return real(*arguments, **options)

        return call

    with tiny.imitator(folder=tmp_path / "run") as imitator, monkeypatch.context() as patched:
        patched.setattr(files, "pause", lambda seconds: None)
        for name in ("write", "append", "fsync_dir"):
            patched.setattr(files, name, flaky(name, getattr(files, name)))
        patched.setattr(os, "replace", flaky("replace", os.replace))
        fingerprint = trained(imitator, said)
    assert failed == {"write", "append", "fsync_dir", "replace"}
    assert any("paused, nothing is lost" in line for line in said)
    assert any("going on" in line for line in said)
    assert fingerprint == whole[0]
    there = kept(tmp_path / "run")
    for name, content in whole[1].items():
        if not name.startswith("checkpoints"):  # one that did not fit is left out
            assert there[name] == content, name
    last = max((tmp_path / "run" / "checkpoints").iterdir())
    assert int(last.name) == imitator._run.k


def test_an_error_that_no_waiting_mends_is_raised(monkeypatch):
    def fail():
        with files.storing("here"):
            raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(files, "pause", lambda seconds: pytest.fail("it waits"))
    with pytest.raises(StorageError, match="broken"):
        files.patiently(fail, print)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of 4 MiB and 200 files."""
    if not ROOT:
        pytest.skip("only root may mount")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=200", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def filled(place, what):
    """Until nothing fits; what to remove so that it does."""
    made = []
    try:
        for n in range(10_000):
            made.append(place / f"filler-{n}")
            with open(made[-1], "wb", buffering=0) as file:
                while what == "space":
                    if file.write(bytes(4096)) < 4096:
                        return made
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    return made


@pytest.mark.parametrize("what", ["space", "files"])
@pytest.mark.parametrize("end", ["freed", "stopped"])
def test_a_disk_that_is_really_full(whole, small_disk, monkeypatch, what, end):
    said, made = [], []

    def fill(seen):
        if not made:
            made.extend(filled(small_disk, what))

    def free(seconds):
        for path in made:
            path.unlink(missing_ok=True)
        if end == "stopped":
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "pause", free)
    folder = small_disk / "run"
    with tiny.imitator(folder=folder) as imitator:
        if end == "freed":
            assert trained(imitator, said, fill) == whole[0]
        else:
            with pytest.raises(KeyboardInterrupt):
                trained(imitator, said, fill)
            assert imitator._run.k == 1
    assert len([line for line in said if "paused" in line]) == 1
    if end == "stopped":
        run = Run.resume(folder, tiny.toys.PointMass, say=said.append)
        try:
            train_run(run, STEPS, Keep(120, 120), lambda seen: None, lambda run: None)
            assert run.fingerprint() == whole[0]
        finally:
            run.close()
    assert kept(folder) == whole[1]


@pytest.mark.parametrize(("code", "passes"), [("ENOSPC", True), ("EIO", False)])
def test_output_that_does_not_fit_is_lost_and_the_work_is_not(code, passes):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(getattr(errno, code), "no")

    shown = progress.Forgiving(file=Full())
    if passes:
        return shown.print("far along")
    with pytest.raises(OSError, match="no"):
        shown.print("far along")
