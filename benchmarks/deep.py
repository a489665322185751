"""Speed of the deep half on one core, as ratios measured in one run. `make bench` runs it."""

import dataclasses
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax  # noqa: E402
import numpy as np  # noqa: E402
import tiny  # noqa: E402

from soar_il import rng  # noqa: E402
from soar_il.bases import BASES  # noqa: E402
from soar_il.build import build, method_of  # noqa: E402
from soar_il.configure import resolve  # noqa: E402
from soar_il.demos import Demos  # noqa: E402
from soar_il.engine import loop, parts, replay  # noqa: E402
from soar_il.engine.parts import Kit  # noqa: E402
from soar_il.learners import LEARNERS  # noqa: E402
from soar_il.soar import run  # noqa: E402
from soar_il.types import Spec, Treated  # noqa: E402

UPDATES = 200
SIZES = {"Hopper": Spec(12, 3, True), "Ant": Spec(106, 8, True)}  # with the absorbing indicator


def best_of(times, work):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - start)
    return best


def sgemm_rate():
    """Floating-point operations a second of one large product."""
    x = jax.numpy.asarray(np.random.default_rng(0).normal(size=(1024, 1024)), np.float32)
    product = jax.jit(lambda a: a @ a)
    return 2 * 1024**3 / best_of(30, lambda: product(x))


def operations(spec, s, cost):
    """Multiplications and additions in the matrix products of one update."""

    def net(inputs, outputs, hidden=s.hidden):
        return 2 * sum(a * b for a, b in pairwise((inputs, *hidden, outputs)))

    q, pi = net(spec.observation + spec.action, 1), net(spec.observation, 2 * spec.action)
    critics = 2 * s.critics * s.batch * q * (1 + 3)  # targets forward; critics forward, backward
    actor = 2 * s.critics * s.batch * q * 2 + s.batch * pi * 3  # backward to the action only
    costs = net(spec.observation, 1, cost.hidden)
    return critics + actor + s.critics * s.batch * (pi + costs)


def wandering(spec, n, length):
    generator = np.random.default_rng(0)
    one = np.ones(length, np.float32)
    for _ in range(n):
        states = generator.normal(size=(length + 1, spec.observation)).astype(np.float32)
        states[:, -1] = 0
        actions = generator.uniform(-1, 1, (length, spec.action)).astype(np.float32)
        yield Treated(states, actions, one, one, one)


def works(kit):
    """The updates of critics and actor, and those of the cost, for UPDATES steps: compiled."""
    algorithm, base, spec, s = kit
    expert = replay.add(replay.empty(spec, 20_000, 0), list(wandering(spec, 16, 1000)), 0)
    state = parts.initial(kit, rng.at(0, 0), expert)
    data = replay.add(state.data, list(wandering(spec, 20, 300)), UPDATES)
    many, fit = loop.compiled_improve(*kit), loop.compiled_update(base)
    shown = s.expert_share > 0 or base.needs.demonstrations
    theirs = loop.compiled_actions(base, spec)(state.cost, expert) if shown else None
    policy, key = state.policy.policy, rng.at(0, 1)
    updated = (state.critics, policy, state.cost, data, theirs, key)
    fitted = (state.cost, expert, data, algorithm.acting(policy), key("cost"))
    jax.block_until_ready((many(*updated), fit(*fitted)))
    return lambda: many(*updated), lambda: fit(*fitted)


def update_seconds(kit):
    return [best_of(8, work) / UPDATES for work in works(kit)]


def updates():
    for name, spec in SIZES.items():
        for critics in (1, 4):
            kit = kit_of("ml-irl", critics, spec)
            seconds, cost = update_seconds(kit)
            rate = sgemm_rate()
            floor = operations(spec, kit.s, BASES["ml-irl"].settings()) / rate
            print(
                f"{name:7} L = {critics}: update {1e3 * seconds:6.2f} ms, "
                f"{100 * floor / seconds:3.0f} % of sgemm ({rate / 1e9:.0f} GFLOPS), "
                f"cost update {1e3 * cost:.2f} ms"
            )


def methods(rounds=8):
    """One update of all that learns, the cost's share included, against ML-IRL's.

    In turns, so that what else the machine does meets them all.
    """
    for critics in (1, 4):
        timed = {name: works(kit_of(name, critics)) for name in BASES}
        best = {name: [float("inf")] * 2 for name in timed}
        for _ in range(rounds):
            for name, pair in timed.items():
                best[name] = [
                    min(b, best_of(1, work)) for b, work in zip(best[name], pair, strict=True)
                ]
        for name, seconds in best.items():
            print(
                f"{name:10} L = {critics}: update and cost update "
                f"{1e3 * sum(seconds) / UPDATES:6.2f} ms, "
                f"{sum(seconds) / sum(best['ml-irl']):.2f} of ml-irl's"
            )


def kit_of(name, critics, spec=SIZES["Hopper"]):
    """A method of the table, less what it does once before the first episode."""
    fields = {f.name for f in dataclasses.fields(BASES[name].settings)}
    once = {"steps": 1, "critic_steps": 0} if "critic_steps" in fields else None
    learner = {"critics": critics, "capacity": 100_000}
    cfg = resolve(name, "Hopper-v5", learner=learner, cost=once)
    return Kit(LEARNERS[cfg.algorithm], method_of(cfg, 1000, None), spec, cfg.learner)


def whole_step(critics, env="Hopper-v5", iterations=4):
    """Seconds a step of training, all in, and of it the updates alone."""
    generator = np.random.default_rng(0)
    demos = Demos.from_arrays([generator.normal(size=(1001, 11)) for _ in range(4)])
    built = build(resolve("ml-irl", env, learner={"critics": critics}), env, demos)
    inside = [0.0]
    improve = built.parts.improve

    def timed(*arguments):
        start = time.perf_counter()
        result = jax.block_until_ready(improve(*arguments))
        inside[0] += time.perf_counter() - start
        return result

    iterations_of = run(built.parts._replace(improve=timed), built.start(), 0)
    before = [int(next(iterations_of)[0].data.steps) for _ in range(2)][-1]
    inside[0], start = 0.0, time.perf_counter()
    steps = [int(next(iterations_of)[0].data.steps) for _ in range(iterations)][-1] - before
    return (time.perf_counter() - start) / steps, inside[0] / steps


def whole_steps():
    totals = {}
    for critics in (1, 4):
        total, inside = whole_step(critics)
        totals[critics] = total
        print(
            f"Hopper-v5, L = {critics}: {1e3 * total:.2f} ms a step of training, "
            f"{100 * (total / inside - 1):.0f} % above the update alone"
        )
    print(f"L = 4 takes {totals[4] / totals[1]:.2f} times as long as L = 1")


def compilation():
    """Seconds to the end of the first iteration, with an empty and with a filled cache."""
    with tempfile.TemporaryDirectory() as cache:
        for label in ("nothing compiled before", "compiled by an earlier run"):
            environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
            environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.5"
            output = subprocess.run(
                [sys.executable, __file__, "--first-call"],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            print(f"compilation at L = 4, {label}: {float(output):.1f} s")


def first_call():
    """Seconds that compiling costs: the first calls less the second ones."""
    start = time.perf_counter()
    learned, fitted = update_seconds(kit_of("ml-irl", 4))
    print(time.perf_counter() - start - 9 * UPDATES * (learned + fitted))


def memory(iterations=50_000):
    """Resident memory over a long run of a tiny one."""
    with tiny.imitator(critics=2, learner={"iteration_steps": 1, "updates_per_step": 0.1}) as it:
        loop = run(it._run.parts, it._run.state, 0)
        sizes = []
        for n, _ in enumerate(loop):
            if n % (iterations // 5) == 0:
                sizes.append(_resident())
            if n == iterations:
                break
    shown = ", ".join(f"{size:.0f}" for size in sizes)
    print(f"resident memory over {iterations:,} iterations: {shown} MiB")


def _resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    if "--first-call" in sys.argv:
        first_call()
    else:
        updates()
        methods()
        whole_steps()
        compilation()
        memory()
