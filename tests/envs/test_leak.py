"""Whatever the environment's reward is, what is learned is the same, bit for bit."""

import ast
import json
from pathlib import Path

import jax
import numpy as np
import pytest
import tiny
import toys

from soar_il.bases.api import Base, Needs
from soar_il.envs import blind

ROOT = Path(__file__).parents[2]
STEPS = 150


def learned(kind=None, **more):
    def env():
        return toys.OtherReward(toys.PointMass(), kind) if kind else toys.PointMass()

    with tiny.imitator(env, **more) as imitator:
        return imitator.learn(STEPS).fingerprint()


@pytest.mark.parametrize(("base", "critics"), tiny.CASES)
def test_the_reward_and_info_of_the_environment_reach_nothing(base, critics):
    plain = learned(base=base, critics=critics)
    for kind in toys.REWARDS:
        assert learned(kind, base=base, critics=critics) == plain, kind


def test_a_leak_would_be_seen(monkeypatch):
    """The test above has teeth: an environment that lets the reward through fails it."""

    def leaking(self, action):
        self._steps += 1
        observation, reward, terminated, truncated, _ = self._env.step(self.to_env(action))
        observation = np.asarray(observation, np.float32) + np.float32(1e-3 * reward)
        return observation, bool(terminated), bool(truncated) or self._steps >= self.horizon

    plain = learned()
    monkeypatch.setattr(blind.BlindEnv, "step", leaking)
    assert learned() != plain
    assert learned("negated") != learned()


def constant(value):
    """A base method whose cost is one number, whatever happens."""

    def init(key, spec, expert):
        return jax.numpy.float32(value)

    def update(cost, expert, data, key):
        return cost, {}

    def cost(state, batch):
        return jax.numpy.broadcast_to(state, batch.continues.shape)

    return Base(Needs(), init, update, cost)


def test_the_learned_cost_reaches_the_critics():
    """In the code released with the paper it does not."""
    values = {}
    for value in (0.0, 1.0):
        with tiny.imitator(base=constant(value)) as imitator:
            imitator.learn(STEPS)
            values[value] = jax.device_get(imitator._run.state.critics.layers)
    pairs = zip(jax.tree.leaves(values[0.0]), jax.tree.leaves(values[1.0]), strict=True)
    assert all((a != b).any() for a, b in pairs)


def run_command(monkeypatch, capsys, folder, *more):
    tiny.register()
    demos = folder.parent / "points.demos"
    if not demos.exists():
        tiny.demos().save(demos)
    common = ["--demos", demos, "--env", "Point-v0", "--critics", 2, "--steps", STEPS]
    arguments = ["train", *common, "--out", folder, "--set", *tiny.SETTINGS, *more]
    monkeypatch.setattr("sys.argv", ["soar", *map(str, arguments)])
    tiny.main()
    monkeypatch.setattr("sys.argv", ["soar", "fingerprint", str(folder)])
    capsys.readouterr()
    tiny.main()
    return capsys.readouterr().out.strip()


def test_evaluation_changes_nothing(monkeypatch, capsys, tmp_path):
    off = run_command(monkeypatch, capsys, tmp_path / "off", "--evaluate-every", 0)
    often = run_command(monkeypatch, capsys, tmp_path / "often", "--evaluate-every", 60)
    other = run_command(
        monkeypatch, capsys, tmp_path / "other", "--evaluate-every", 60, "--episodes", 3
    )
    assert off == often == other
    scores = [json.loads(s) for s in (tmp_path / "often" / "scores.jsonl").read_text().splitlines()]
    assert len(scores) >= 2
    assert (tmp_path / "off" / "metrics.jsonl").read_bytes() == (
        tmp_path / "often" / "metrics.jsonl"
    ).read_bytes()


ALLOWED = {
    "envs/scored.py",
    "evaluation/score.py",
    "evaluation/video.py",
    "experts/sac.py",
    "experts/record.py",
}


def test_only_evaluation_and_experts_know_of_rewards():
    """No other file imports the scored environment or has a name with reward in it."""
    for path in sorted((ROOT / "soar_il").rglob("*.py")):
        file = str(path.relative_to(ROOT / "soar_il"))
        if file in ALLOWED or file.startswith(("demos/", "tabular/")):
            continue
        tree = ast.parse(path.read_text())
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        names |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        froms = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        modules = {n.module for n in froms}
        modules |= {f"{n.module}.{alias.name}" for n in froms for alias in n.names}
        modules |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        assert not [name for name in names if "reward" in name.lower()], file
        assert "soar_il.envs.scored" not in modules, file
