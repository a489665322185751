"""Throughput of a sweep with one worker and with two, on the point mass; run it alone.

    PYTHONPATH=tests python benchmarks/sweep.py

Two workers on two cores should finish jobs at least 1.8 times as fast as one.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tiny

JOBS = 4
TOML = """
[options]
steps = 6000
demos = "{demos}"
evaluate_every = 0
[options.learner]
hidden = [128, 128]
batch = 100
iteration_steps = 200
random_steps = 200
capacity = 8192
[grid]
env = ["points:Point-v0"]
base = ["ml-irl"]
critics = [4]
seed = {seeds}
"""


def seconds(file: Path, out: Path, workers: int) -> float:
    """Of a sweep from nothing; the first one also fills the cache of compiled programs."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "soar_il", "sweep", str(file), "--out", str(out)]
    subprocess.run([*command, "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        tiny.demos().save(place / "points.demos")
        file = place / "bench.toml"
        text = TOML.format(demos=place / "points.demos", seeds="{seeds}")
        file.write_text(text.replace("{seeds}", "[99]"))
        seconds(file, place / "warm", 1)
        file.write_text(text.replace("{seeds}", str(list(range(JOBS)))))
        one, two = (seconds(file, place / str(workers), workers) for workers in (1, 2))
    print(f"{JOBS} jobs: {one:.1f} s with one worker, {two:.1f} s with two: {one / two:.2f} x")


if __name__ == "__main__":
    main()
