"""Made-up studies: curves that rise to a level, with noise that pairs share."""

import numpy as np

from soar_il.report.arms import label
from soar_il.report.results import Missing, Result, Seen, Study

STEPS = np.arange(1, 11) * 5000.0


def result(env, critics, seed, level, speed=3.0, **more):
    """Returns rise to ``level`` (1 is the expert) the sooner the larger ``speed``."""
    base, sigma = more.pop("base", "ml-irl"), more.pop("sigma", 10.0)
    name, count = more.pop("extra", ""), more.get("demonstrations")
    name += f"{count} demonstrations" if count else ""
    luck = np.random.default_rng([seed, len(env)]).normal(0, 0.05)
    noise = np.random.default_rng([seed, critics, len(env)]).normal(0, 0.02, len(STEPS))
    normal = level * (1 - np.exp(-speed * STEPS / 50_000)) + luck + noise
    settings = {"env": env, "base": base, "seed": seed, "termination": "absorbing"}
    settings |= {"learner": {"critics": critics, "sigma": sigma}}
    settings |= {"demonstrations": count or 16}
    fields = {
        "place": f"results/{env}/{base}-L{critics}-seed{seed}",
        "label": label(base, critics) + (f", {name}" if name else ""),
        "demonstrations": 16,
        "purpose": "report",
        "steps": STEPS,
        "returns": 3500 * normal,
        "spreads": np.full(len(STEPS), 10.0),
        "noisy": 3400 * normal,
        "normal": normal,
        "seen": seen(more.pop("gap", 0.1), spread=0.5 * critics, clipped=0.75),
        "seconds": None,
        "options": {"learner.sigma": sigma, "demonstrations": count or 16},
        "settings": settings,
        "about": {"command": f"soar train --seed {seed}"},
    } | more
    return Result(env=env, base=base, critics=critics, sigma=sigma, seed=seed, **fields)


def seen(gap, spread, clipped):
    """What the learner saw of itself, the same all the time."""
    numbers = {"cost_gap": gap, "q_spread": spread, "clipped": clipped}
    return {name: Seen(value, value) for name, value in numbers.items()}


def study(seeds=6, envs=("Hopper-v5", "Ant-v5"), gain=0.3, speed=8.0, missing=()):
    """L = 1 reaches 0.6; L = 4 reaches more, and sooner."""
    results = []
    for env in envs:
        for seed in range(seeds):
            results.append(result(env, 1, seed, 0.6))
            results.append(result(env, 4, seed, 0.6 + gain, speed))
    kept = tuple(r for r in results if (r.env, r.critics, r.seed) not in missing)
    gone = tuple(
        Missing(
            f"{env}/ml-irl-L{critics}-seed{seed}",
            env,
            "ml-irl",
            label("ml-irl", critics),
            "not begun",
        )
        for env, critics, seed in missing
    )
    return Study(kept, gone, ("Made up",))


def clips(seeds=6, purpose="report", first=0, sigmas=(0.1, 1.0, 50.0)):
    """The larger the clip value, the worse."""
    return tuple(
        result("Ant-v5", 4, first + seed, 0.9 - 0.1 * n, sigma=sigma, extra=f"sigma{sigma:g}",
               purpose=purpose, gap=0.1 * (n + 1))
        for n, sigma in enumerate(sigmas)
        for seed in range(seeds)
    )  # fmt: skip


def exploration(seeds=5):
    """As soar tabular writes it: one critic fails on some seeds."""

    def runs(ends):
        return [
            {"seed": n, "steps": [10, 100, 1000], "policy_value": [5, 3, end],
             "mixture_value": [5, 4, (end + 5) / 2]}
            for n, end in enumerate(ends)
        ]  # fmt: skip

    return {
        "expert_value": 1.0,
        "uniform_value": 5.0,
        "seeds": list(range(seeds)),
        "task": {"mdp": "hard-exploration"},
        "curves": [
            {"critics": 1, "k": [1, 2, 3], "runs": runs([5, 1.1, 5, 4.5, 4])},
            {"critics": 3, "k": [1, 2, 3], "runs": runs([1.1, 1.0, 1.2, 1.1, 1.0])},
        ],
    }
