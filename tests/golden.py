"""Fingerprints of tiny runs: what a change of the code must leave as it is, bit for bit.

``python tests/golden.py`` in the environment of the tests writes golden.json again. Do so only for
a change that is meant to alter what is learned, and list it in the changelog.
"""

import hashlib
import json
import platform
from pathlib import Path

import jax
import numpy as np
import tiny

from soar_il import provenance
from soar_il.experts import sac
from soar_il.runs.run import Run
from soar_il.tabular import mdps, run
from soar_il.tabular.expert import draw_expert
from soar_il.tabular.settings import Settings

FILE = Path(__file__).with_name("golden.json")
STEPS = 240
VARIANTS = {
    "absorbing, own data": {"learner": {"split": "trajectories"}, "termination": "absorbing"},
    "early, tuned alpha": {"learner": {"tune_alpha": True}, "termination": "early"},
    "fixed, optimistic targets": {"learner": {"optimistic_targets": True}, "termination": "fixed"},
    "no trials, no average": {"learner": {"trial_every": 0, "average_rate": 0.0}},
    "fresh data": {"preset": "paper", "termination": "absorbing", "cost": {"hidden": [16]}},
    "fresh data, rkl": {"preset": "paper", "base": "rkl"},
}
CASES = [
    *(f"{base}, L={critics}" for base, critics in tiny.CASES),
    *VARIANTS,
    "sac",
    "tabular",
]


def machine() -> str:
    """What the bits depend on: the processor's vectors and the compiler."""
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    vectors = next((name for name in ("avx512f", "avx2", "asimd") if name in info), "other")
    return f"{platform.machine()} {vectors} jaxlib {provenance.about()['versions']['jaxlib']}"


def digest(tree) -> str:
    """Of all arrays that are learned, whatever their names and order."""
    arrays = [np.asarray(x) for x in jax.tree.leaves(jax.device_get(tree))]
    learned = [x for x in arrays if x.dtype.kind == "f" and x.ndim]
    each = sorted(hashlib.sha256(repr(x.shape).encode() + x.tobytes()).hexdigest() for x in learned)
    return hashlib.sha256("".join(each).encode()).hexdigest()[:16]


def kept(state, seen):
    return {"learned": digest((state.policy, state.cost, state.critics)), "seen": rounded(seen)}


def train(imitator):
    rows = []

    def keep(_, seen):
        rows.append(seen)

    with imitator:
        imitator.learn(STEPS, callback=keep)
        rows = rows or [{}]  # of a method that takes no steps
        return {**kept(imitator._run.state, rows[-1]), "first": rounded(rows[0])}


def rounded(seen):
    return {name: float(f"{float(seen[name]):.3g}") for name in sorted(seen)}


def expert(tmp_path):
    learner = {**tiny.LEARNER, "trial_every": 0}
    cfg = sac.resolve("Point-v0", learner=learner, horizon=tiny.toys.HORIZON)
    made = Run.create(tmp_path, cfg, tiny.toys.PointMass, None, make=sac.build)
    rows = []
    for seen in made.iterate():
        rows.append(seen)
        if made.steps >= STEPS:
            break
    result = {**kept(made.state, rows[-1]), "first": rounded(rows[0])}
    made.close()
    return result


def tabular():
    mdp = mdps.garnet(5, 3, 2, 0.9, 0)
    settings = Settings(critics=3)
    experts = [draw_expert(mdp, 50, seed, settings.state_only) for seed in (0, 1)]
    (trace,) = run.run(mdp, experts, settings, 40, [0, 1])
    mean = float(f"{trace.q.mean():.3g}")
    learned = digest((trace.policy, trace.cost, trace.q))
    return {"learned": learned, "seen": {"q": mean}, "first": {"q": mean}}


def result(case, folder):
    if case == "tabular":
        return tabular()
    if case == "sac":
        return expert(folder)
    if case in VARIANTS:
        return train(tiny.imitator(critics=3, **VARIANTS[case]))
    base, critics = case.split(", L=")
    return train(tiny.imitator(base=base, critics=int(critics)))


def main():
    import tempfile

    import conftest  # noqa: F401  the flags and the cache of the tests

    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    stored[machine()] = {case: result(case, Path(tempfile.mkdtemp())) for case in CASES}
    FILE.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
