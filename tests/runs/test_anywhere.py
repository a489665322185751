"""Where and how a process is started changes no bit, and neither does how long it has run."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import soak
import tiny

PLACES = {
    "another hash seed": {"PYTHONHASHSEED": "1"},
    "a third": {"PYTHONHASHSEED": "4242"},
    "plain C": {"LC_ALL": "C", "LANG": "C"},
    "another clock": {"TZ": "Asia/Tokyo"},
    "optimised": {"PYTHONOPTIMIZE": "1"},
}
SHORT = {"base": "ml-irl", "critics": 4}


@pytest.fixture(scope="module")
def here():
    with tiny.imitator(**SHORT) as imitator:
        return imitator.learn(150).fingerprint()


LEARN = f"""
import tiny
with tiny.imitator(**{SHORT}) as imitator:
    print(imitator.learn(150).fingerprint())
"""


@pytest.mark.parametrize(
    "name", ["optimised", *(soak.param(name) for name in PLACES if name != "optimised")]
)
def test_a_process_anywhere_learns_the_same(here, tmp_path, name):
    """With ``python -O`` no assertion is left: nothing that is checked depends on one."""
    done = subprocess.run(
        [sys.executable, "-c", LEARN],
        env={**os.environ, **PLACES[name]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-1] == here


def held():
    """Resident bytes, open files and threads of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    return pages * os.sysconf("SC_PAGESIZE"), files, threading.active_count(), tasks()


def tasks():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")
@pytest.mark.parametrize("iterations", soak.counts(40, 4000))
def test_memory_files_and_threads_stay_level(tmp_path, iterations):
    """After the first ten iterations, with checkpoints and policies kept all along."""
    measured = []

    def look(imitator, seen):
        run = imitator._run
        if run.k % 10 == 0:
            run.keep_policy()
            run.checkpoint()
            measured.append(held())
        return run.k < iterations

    with tiny.imitator(folder=tmp_path / "run", critics=4) as imitator:
        imitator.learn(10**9, callback=look)
    memory, *rest = zip(*measured, strict=True)
    assert all(len(set(counted)) == 1 for counted in rest), rest
    grown = memory[-1] - memory[len(memory) // 4]
    print(json.dumps({"iterations": iterations, "bytes": memory, "grown": grown}))
    assert grown < 2**20 * max(4, iterations / 1000)
