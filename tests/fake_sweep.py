"""Folders of sweeps that look finished: settings and logs as runs write them, nothing trained."""

import json
import math

from soar_il.runs import log

SETTINGS = {
    "termination": "absorbing",
    "standardise": True,
    "horizon": 0,
    "demonstrations": 16,
}


def rising(level, speed=3.0, points=10, steps=50_000):
    """(steps, return) that rise to ``level``."""
    at = [steps * n // points for n in range(1, points + 1)]
    return [(n, level * (1 - math.exp(-speed * n / steps))) for n in at]


def run(folder, curve, env="Own-v0", base="ml-irl", seed=0, critics=1, sigma=1.0, **more):
    """A finished run: its settings, what the learner saw and how its policies scored."""
    folder.mkdir(parents=True)
    learner = {"critics": critics, "sigma": sigma, "alpha": 0.2} | more.pop("learner", {})
    seen = more.pop("seen", {})
    settings = {"env": env, "base": base, "seed": seed, **SETTINGS, **more, "learner": learner}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "plan.json").write_text(json.dumps({"steps": curve[-1][0]}))
    (folder / "provenance.json").write_text(json.dumps({"command": f"soar train --seed {seed}"}))
    with log.Log(folder / "metrics.jsonl") as metrics, log.Log(folder / "scores.jsonl") as scores:
        for k, (steps, value) in enumerate(curve, 1):
            numbers = {"cost_gap": 1 / k, "q_spread": 0.5 * k, "clipped": k / len(curve)} | seen
            metrics.append({"k": k, "steps": steps, **numbers})
            score = {"return": value, "return_std": 5.0, "stochastic_return": 0.9 * value}
            scores.append({"k": k, "steps": steps, **score})
    return settings


def sweep(out, jobs, title="Made up", name="x", **more):
    """``jobs``: (name, options, curve or None for a run that was not begun, more of ``run``)."""
    said = []
    for job, options, curve, rest in jobs:
        known = {k: options[k] for k in ("env", "base", "seed", "critics", "sigma") if k in options}
        settings = rest.pop("settings", None)
        if curve is not None:
            settings = run(out / job, curve, **known, **rest)
            (out / job / "done.json").write_text('{"seconds": 1, "since": 0, "steps": 1}')
        said.append({"name": job, "options": options, "settings": settings})
    content = {"title": title, "command": "train", "purpose": "report", "trained": True} | more
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.sweep.json").write_text(json.dumps({**content, "demos": {}, "jobs": said}))
    return out
