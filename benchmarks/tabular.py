"""Speed of the tabular half, as ratios and curves measured in one run. `make bench` runs it.

Everything runs on one core, but for the line that says otherwise.
"""

import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import reference

from soar_il.tabular import mdps, theory
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.run import run
from soar_il.tabular.settings import Settings

RUNS = 100


def seconds_per_iteration(mdp, settings, iterations, seeds, chunk):
    """Wall time over iterations once compiled: the first chunk compiles and is not counted."""
    experts = [draw_expert(mdp, 100, seed, settings.state_only) for seed in seeds]
    traces = run(mdp, experts, settings, iterations + chunk, seeds, chunk)
    next(traces)
    start = time.perf_counter()
    for _ in traces:
        pass
    return (time.perf_counter() - start) / iterations


def against_transcription(iterations=10_000):
    mdp, settings = mdps.hard_exploration(), Settings(critics=3)
    expert = draw_expert(mdp, 100, 0).occupancy
    arguments = (0, 3, settings.eta, settings.alpha, settings.rule, settings.bonus_scale, True)
    reference.tabular_soar(mdp, expert, 2, *arguments)
    start = time.perf_counter()
    reference.tabular_soar(mdp, expert, iterations, *arguments)
    slow = time.perf_counter() - start
    fast = seconds_per_iteration(mdp, settings, iterations, range(RUNS), 1000) * iterations
    print(f"hard-exploration, L = 3, K = {iterations:,}, one run:")
    print(f"  transcription      {slow:8.2f} s")
    print(f"  compiled, one core {fast / RUNS:8.4f} s   {slow * RUNS / fast:6.0f}x")
    both = subprocess.run(
        [sys.executable, __file__, "--all-cores"], capture_output=True, text=True, check=True
    )
    spread = float(both.stdout) * iterations
    cores = os.cpu_count()
    print(f"  compiled, {cores} cores  {spread / RUNS:8.4f} s   {slow * RUNS / spread:6.0f}x")


def all_cores(iterations=5000):
    """Wall time of an iteration of all runs, spread over the cores."""
    groups = [range(i, RUNS, os.cpu_count()) for i in range(os.cpu_count())]
    with ThreadPoolExecutor(len(groups)) as pool:
        times = pool.map(
            lambda seeds: seconds_per_iteration(
                mdps.hard_exploration(), Settings(critics=3), iterations, seeds, 1000
            ),
            groups,
        )
        print(max(times))


def large():
    iterations, delta = 10_000, 0.1
    critics = theory.n_critics(100, 10, iterations, delta)
    mdp = mdps.garnet(100, 10, 100, 0.95, seed=0)
    settings = Settings(critics=critics, rule="min", eta=0.01, alpha=0.02)
    start = time.perf_counter()
    for _ in run(mdp, [draw_expert(mdp, 10_000, 0)], settings, iterations, [0]):
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"S = 100, A = 10, full support, discount 0.95, K = {iterations:,}, L = {critics}:")
    print(f"  {time.perf_counter() - start:.1f} s with compilation, peak memory {peak:.2f} GiB")


def growth():
    print("microseconds an iteration, one run of ten (garnet, 2 successors, discount 0.9, min):")
    base = {"S": 10, "A": 5, "L": 10, "K": 2000}
    for letter, values in {
        "S": (5, 10, 20, 40),
        "A": (2, 5, 10, 20),
        "L": (1, 10, 100, 1000),
        "K": (500, 2000, 8000),
    }.items():
        cells = []
        for value in values:
            size = base | {letter: value}
            mdp = mdps.garnet(size["S"], size["A"], 2, 0.9)
            settings = Settings(critics=size["L"], rule="min", eta=0.1, alpha=0.1)
            taken = seconds_per_iteration(mdp, settings, size["K"], range(10), 250)
            cells.append(f"{letter}={value}: {taken / 10 * 1e6:.0f}")
        print("  " + "   ".join(cells))
    print(f"  (the others at {', '.join(f'{k}={v}' for k, v in base.items())})")


if __name__ == "__main__":
    everywhere = "--all-cores" in sys.argv
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count()) if everywhere else {0})
    if everywhere:
        all_cores()
    else:
        against_transcription()
        large()
        growth()
