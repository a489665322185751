"""Experts: the one learner that may see the reward, its policies, and what it demonstrates."""

import dataclasses
import hashlib
import json

import jax
import numpy as np
import pytest
import tiny
import toys
from hypothesis import given, settings
from hypothesis import strategies as st

from soar_il.demos import Demos, places
from soar_il.demos.check import check
from soar_il.errors import ConfigError, StorageError
from soar_il.evaluation.score import Evaluator, normalised
from soar_il.experts import record, sac, shipped
from soar_il.policy import Policy
from soar_il.runs.run import Run

LEARNER = {
    **tiny.LEARNER,
    "hidden": [32, 32],
    "batch": 64,
    "iteration_steps": 200,
    "trial_every": 0,
}


@pytest.fixture(autouse=True)
def point_mass():
    tiny.register()


@pytest.fixture
def soar(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["soar", *map(str, arguments)])
        tiny.main()

    return run


def scored(length, first):
    """A trajectory whose observation at step t is its cost there; some of them end."""
    costs = first + np.arange(length + 1, dtype=np.float32)
    observations = np.repeat(costs[:, None], 2, axis=1)
    return sac.Scored(observations, np.zeros((length, 2), np.float32), length % 2 == 1, costs[:-1])


def test_an_expert_has_nothing_to_be_tried_against():
    with pytest.raises(ConfigError, match="trial_every = 0"):
        sac.build(sac.resolve("Point-v0", learner={"trial_every": 100}), "Point-v0")


@pytest.mark.parametrize("termination", ["absorbing", "fixed"])
def test_an_end_may_not_be_replaced_where_the_true_reward_is_known(termination):
    """The rows that would be added have no true cost, and shifted the costs behind them."""
    with pytest.raises(ConfigError, match=rf"termination is {termination}\n.*give early"):
        sac.build(sac.resolve("Point-v0", termination=termination), "Point-v0")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.integers(1, 700), min_size=1, max_size=4), min_size=1, max_size=8))
def test_each_transition_keeps_its_own_cost(pushes):
    """Also when the ring has come round and trajectories span chunks."""
    cfg = sac.resolve("Point-v0", learner={"capacity": 2900})
    built = sac.build(cfg, "Point-v0")
    data, first = built.no_data(), 0
    for lengths in pushes:
        taus = []
        for length in lengths:
            taus.append(scored(length, first))
            first += length + 1
        data = built.parts.add(data, taus)
    batch = data.draw_each(jax.random.key(0), 256, 1)
    np.testing.assert_array_equal(batch.costs, batch.observations[..., 0])
    batch = data.draw(jax.random.key(1), 256)
    np.testing.assert_array_equal(batch.costs, batch.observations[..., 0])
    built.env.close()


def test_the_reward_of_a_step_is_the_cost_of_its_transition():
    cfg = sac.resolve("Point-v0", learner=LEARNER)
    built = sac.build(cfg, "Point-v0")
    for tau in built.parts.collect(built.start().policy, jax.random.key(0)):
        expected = np.linalg.norm(tau.observations[1:], axis=1)
        np.testing.assert_allclose(tau.costs, expected, rtol=1e-5)
    built.env.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An expert of the point mass, by the command."""
    tiny.register()
    folder = tmp_path_factory.mktemp("expert") / "run"
    with pytest.MonkeyPatch.context() as patch:
        given = [f"learner.{name}={value}" for name, value in LEARNER.items()]
        common = ["--steps", "4000", "--evaluate-every", "1000", "--out", str(folder)]
        patch.setattr("sys.argv", ["soar", "expert", "train", "Point-v0", *common, "--set", *given])
        tiny.main()
    return folder


def test_an_expert_learns_the_true_task(trained):
    scores = [json.loads(s) for s in (trained / "scores.jsonl").read_text().splitlines()]
    controller = -11.0  # of the clipped linear controller in toys, from the same kind of starts
    assert scores[-1]["return"] > 1.3 * controller
    assert scores[-1]["return"] > scores[0]["return"]


def test_an_expert_that_was_stopped_ends_as_one_that_was_not(trained, tmp_path, soar, capsys):
    given = [f"learner.{name}={value}" for name, value in LEARNER.items()]
    folder = tmp_path / "run"
    common = ["--evaluate-every", 1000, "--out", folder]
    soar("expert", "train", "Point-v0", "--steps", 1500, *common, "--set", *given)
    soar("resume", folder, "--steps", 4000)
    prints = []
    for run in (trained, folder):
        capsys.readouterr()
        soar("fingerprint", run)
        prints.append(capsys.readouterr().out)
    assert prints[0] == prints[1]
    assert (folder / "metrics.jsonl").read_bytes() == (trained / "metrics.jsonl").read_bytes()


def test_the_kept_policy_is_the_best_and_its_card_is_measured(trained, tmp_path, soar, capsys):
    soar("expert", "keep", trained, "--out", tmp_path, "--episodes", 7)
    assert "over 7 episodes" in capsys.readouterr().out
    policy, card = shipped.expert("Point-v0", tmp_path)
    scores = [json.loads(s) for s in (trained / "scores.jsonl").read_text().splitlines()]
    assert policy.k == max(scores, key=lambda r: r["return"])["k"]
    evaluator = Evaluator("Point-v0", 7, seed=card["evaluation_seed"])
    assert evaluator.score(policy, True).returns.mean() == pytest.approx(card["return"])
    assert evaluator.random().returns.mean() == pytest.approx(card["random_return"])
    assert card["random_return"] < 2 * card["return"] < 0
    (row,) = shipped.table(3, 5, tmp_path)
    assert (row.env, row.paper, len(row.returns)) == ("Point-v0", None, 3)


def test_an_expert_may_look_at_the_first_coordinates_alone(tmp_path, soar):
    given = [f"learner.{name}={value}" for name, value in LEARNER.items()]
    common = ["--steps", 300, "--evaluate-every", 100, "--out", tmp_path / "run"]
    soar("expert", "train", "Point-v0", *common, "--set", *given, "observed=1")
    card = shipped.keep(tmp_path / "run", tmp_path, 2)
    policy, _ = shipped.expert("Point-v0", tmp_path)
    assert (policy.view.observed, card["observed"], len(policy.layers[0][0])) == (1, 1, 1)
    assert len(record.record(policy, 2).demos.observations[0][0]) == 2
    with pytest.raises(ConfigError, match="observed is 3"):
        sac.build(sac.resolve("Point-v0", observed=3), "Point-v0")


def test_a_policy_that_is_not_its_cards_is_refused(trained, tmp_path):
    card = shipped.keep(trained, tmp_path, 2)
    path = tmp_path / card["file"]
    other = Policy.load(path)
    dataclasses.replace(other, steps=other.steps + 1).save(path)
    with pytest.raises(StorageError, match="not the policy that its card describes"):
        shipped.expert("Point-v0", tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'Point-v0'"):
        shipped.expert("Pint-v0", tmp_path)


@pytest.mark.parametrize("deterministic", [True, False])
def test_recording_twice_gives_the_same_bits(trained, deterministic):
    policy = Policy.load(sorted((trained / "snapshots").glob("*.safetensors"))[-1])
    first, second = (record.record(policy, 3, deterministic) for _ in range(2))
    assert first.demos.hash == second.demos.hash
    assert first.demos.hash != record.record(policy, 3, deterministic, seed=1).demos.hash
    assert first.demos.about["deterministic"] is deterministic
    assert len(first.demos.about["reset_seeds"]) == len(first.demos) == 3


def test_a_recording_replays_in_the_environment(trained):
    """Actions are in the environment's own bounds and belong to the states beside them."""
    policy = Policy.load(sorted((trained / "snapshots").glob("*.safetensors"))[-1])
    made = record.record(policy, 3, deterministic=False)
    for n, seed in enumerate(made.demos.about["reset_seeds"]):
        env = toys.PointMass()
        states, total = [env.reset(seed=seed)[0]], 0.0
        for action in made.demos.actions[n]:
            assert env.action_space.contains(action)
            state, reward, *_ = env.step(action)
            states.append(state)
            total += reward
        np.testing.assert_array_equal(np.stack(states), made.demos.observations[n])
        assert total == pytest.approx(made.returns[n])


def test_an_expert_run_needs_no_demonstrations_but_an_imitators_does(tmp_path):
    cfg = sac.resolve("Point-v0", learner=LEARNER)
    with pytest.raises(ConfigError, match="no demonstrations"):
        Run.create(tmp_path / "run", cfg, "Point-v0", None)


def test_every_shipped_policy_is_what_its_card_says():
    for env, card in shipped.cards().items():
        path = shipped.folder() / card["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == card["sha256"]
        policy, _ = shipped.expert(env)
        assert (policy.env, policy.steps) == (env, card["steps"])


def test_the_curves_of_all_that_is_shipped_are_drawn(tmp_path, soar, capsys):
    soar("expert", "curves", "--out", tmp_path)
    assert "experts.png" in capsys.readouterr().out
    drawn = (tmp_path / "experts.svg").read_text()
    assert all(env in drawn for env in shipped.cards())
    assert (tmp_path / "experts.png").read_bytes().startswith(b"\x89PNG")


def test_the_shipped_demonstrations_are_the_shipped_expert_s(tmp_path, monkeypatch):
    """Found without a path, fit the environment, and begin as a recording made here begins."""
    monkeypatch.chdir(tmp_path)
    demos = Demos.load(places.find("Hopper-v5"))
    policy, card = shipped.expert("Hopper-v5")
    assert len(demos) == 16
    assert demos.about["expert_sha256"] == card["sha256"]
    assert check(demos, "Hopper-v5") == []
    again = record.record(policy, 1).demos
    np.testing.assert_allclose(again.observations[0][:20], demos.observations[0][:20], atol=1e-3)


def test_scores_are_normalised_by_the_card():
    _, card = shipped.expert("Hopper-v5")
    assert normalised("Hopper-v5", card["return"]) == pytest.approx(1)
    assert normalised("Hopper-v5", card["random_return"]) == pytest.approx(0)
    assert normalised("Point-v0", 0.0) is None


def test_random_play_is_uniform_over_the_actions():
    played = []

    class Watched(toys.PointMass):
        def step(self, action):
            played.append(np.array(action))
            return super().step(action)

    evaluator = Evaluator(Watched, 20, toys.HORIZON)
    evaluator.random()
    space = toys.PointMass().action_space
    share = (np.stack(played) - space.low) / (space.high - space.low)
    np.testing.assert_allclose(np.quantile(share, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.05)
