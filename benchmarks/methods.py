"""What each base method costs: minutes of one core for so many steps of Hopper, L = 1.

    python benchmarks/methods.py [--steps 4000] [--of 30000] [METHOD ...]

A method is run for a few steps. Seconds a step are those of the later half; what comes before
the first step (compiling, cloning) is counted once.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from soar_il.bases import BASES


def minutes(base: str, steps: int, of: int, folder: Path) -> tuple[float, float, float]:
    """Seconds before the first step, milliseconds a step, minutes for ``of`` steps."""
    out = folder / base
    options = ["--env", "Hopper-v5", "--base", base, "--critics", "1", "--demonstrations", "16"]
    more = [] if base == "bc" else ["--steps", str(steps)]
    command = [sys.executable, "-m", "soar_il", "train", *options, *more, "--evaluate-every", "0"]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)
    times = [json.loads(line) for line in (out / "times.jsonl").read_text().splitlines()]
    if base == "bc":
        return times[-1]["process"], 0.0, times[-1]["process"] / 60
    half = next(n for n, row in enumerate(times) if row["steps"] >= steps / 2)
    later = times[-1]["process"] - times[half]["process"]
    each = later / (times[-1]["steps"] - times[half]["steps"])
    start = max(0.0, times[-1]["process"] - each * times[-1]["steps"])
    return start, 1000 * each, (start + each * of) / 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=list(BASES))
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--of", type=int, default=30_000)
    asked = parser.parse_args()
    print(f"{'method':<12} start s   ms/step   min for {asked.of:,} steps")
    with tempfile.TemporaryDirectory() as folder:
        for base in asked.methods:
            start, each, whole = minutes(base, asked.steps, asked.of, Path(folder))
            print(f"{base:<12} {start:7.0f} {each:9.2f} {whole:9.1f}", flush=True)


if __name__ == "__main__":
    main()
