"""The comparison with an earlier commit measures both in turns and sees what is slower."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import compare

    return compare


def test_a_machine_that_slows_down_meets_both_alike(compare):
    """Every call takes longer than the last one; ours takes 1.5 times the baseline's."""
    calls = []

    class Tree:
        def __init__(self, factor):
            self.factor = factor

        def seconds(self, name):
            calls.append(self)
            return self.factor * (1 + 0.01 * len(calls))

    now, before = Tree(1.5), Tree(1.0)
    found = compare.measured("x", now, before, 8)
    assert found["ratio"] == pytest.approx(1.5, rel=0.01)
    assert calls[:4] == [before, now, now, before]


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=BENCHMARKS, capture_output=True, text=True)


def test_the_baseline_is_a_commit_of_this_repository():
    commit = json.loads((BENCHMARKS / "baseline.json").read_text())["commit"]
    known = git("cat-file", "-t", commit)
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("not a checkout with its history")
    assert known.stdout.strip() == "commit"


def test_a_workload_answers_with_seconds():
    name = "demonstrations to the disk and back"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "workloads.py")],
        input=f"{name}\n{name}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    taken = [float(line.split()[1]) for line in done.stdout.splitlines() if "seconds" in line]
    assert len(taken) == 2
    assert all(x > 0 for x in taken)
