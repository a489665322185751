"""Whether soar-il became slower: ratios to the commit that baseline.json names.

    python benchmarks/compare.py             # fails where something takes 10 % longer
    python benchmarks/compare.py --rounds 2  # the shortest look

Both commits run on this machine in turns, so that what else it does meets both. The result is
results/bench.json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from workloads import WORKLOADS

HERE = Path(__file__).parent
ROOT = HERE.parent
SLOWER, WATCH = 1.10, 1.05


class Timed:
    """workloads.py with the package of one tree."""

    def __init__(self, tree):
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        command = [sys.executable, str(HERE / "workloads.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, cwd=tree, **pipes)

    def seconds(self, name):
        print(name, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("seconds "):
                return float(line.split()[1])
        raise RuntimeError(f"{name} ended with an error, which is above")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measured(name, now, before, rounds):
    """Medians, and the median of the ratios of the rounds."""
    pairs = []
    for n in range(rounds):
        order = (now, before) if n % 2 else (before, now)
        taken = {tree: tree.seconds(name) for tree in order}
        pairs.append((taken[now], taken[before]))
    ours, theirs = zip(*pairs, strict=True)
    ratio = statistics.median(a / b for a, b in pairs)
    return {
        "seconds": statistics.median(ours),
        "baseline_seconds": statistics.median(theirs),
        "ratio": ratio,
    }


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench.json")
    asked = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # the last: the first is busiest
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    commit = json.loads((HERE / "baseline.json").read_text())["commit"]
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "baseline"
        git("worktree", "add", "--detach", str(tree), commit)
        try:
            now, before = Timed(ROOT), Timed(tree)
            found = {name: measured(name, now, before, asked.rounds) for name in asked.only}
            now.close()
            before.close()
        finally:
            git("worktree", "remove", "--force", str(tree))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    said = {"baseline": commit, "commit": git("rev-parse", "HEAD"), "rounds": asked.rounds}
    asked.out.write_text(json.dumps({**said, "workloads": found}, indent=1) + "\n")
    for name, each in found.items():
        mark = "SLOWER" if each["ratio"] > SLOWER else "slower" if each["ratio"] > WATCH else ""
        print(f"{name:36} {1e3 * each['seconds']:9.1f} ms, {each['ratio']:.2f} of before {mark}")
    print(f"written: {asked.out}")
    sys.exit(any(each["ratio"] > SLOWER for each in found.values()))


if __name__ == "__main__":
    main()
