"""What the bonus does in a run: numbers whose truth is known, and the command."""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiny

from soar_il import cli
from soar_il.evaluation import bonus
from soar_il.learners import critics
from soar_il.learners.critics import Rule
from soar_il.learners.sac import Settings
from soar_il.networks import gaussian
from soar_il.report import record
from soar_il.tabular import bonus as tabular
from soar_il.tabular import mdps
from soar_il.tabular.settings import Settings as Tabular
from soar_il.types import Spec

SPEC = Spec(3, 2)


def networks():
    s = Settings(critics=4, hidden=(16, 16))
    c = critics.init(jax.random.key(0), SPEC, s)
    return gaussian.init(jax.random.key(1), SPEC, (16, 16)), c.layers


def part(sigma):
    actor, layers = networks()
    states, z = (jax.random.normal(jax.random.key(n), (64, d)) for n, d in ((2, 3), (3, 2)))
    return float(bonus.part_of_the_gradient(actor, layers, states, z, Rule(sigma), SPEC, False))


def test_a_bonus_that_is_always_clipped_moves_nothing():
    assert part(0.0) == 0.0
    assert 0.0 < part(100.0) < 1.0


def test_the_density_is_the_distance_to_a_neighbour_of_another_trajectory():
    kept = np.arange(40.0)[:, None]
    asked = np.array([[0.0], [20.0]])
    own = np.zeros((2, 40), bool)
    wide = kept.std()
    near = bonus.distances(asked, kept, own) * wide
    assert near == pytest.approx([9.0, 5.0])  # the tenth, itself among them
    own[1, 15:26] = True
    assert bonus.distances(asked, kept, own)[1] * wide == pytest.approx(10.0)


def test_coordinates_that_do_not_vary_hide_no_distance():
    """However large they are, and in single precision."""
    kept = np.stack([np.arange(40.0), np.full(40, 1e4)], axis=1).astype(np.float32)
    found = bonus.distances(kept[:1], kept, np.zeros((1, 40), bool))
    assert found * kept[:, 0].std() == pytest.approx([9.0], rel=1e-5)


def test_the_command_writes_what_a_report_reads(tmp_path, monkeypatch, capsys):
    tiny.register()
    folder = tmp_path / "run"
    with tiny.imitator(env="Point-v0") as imitator:
        imitator.learn(180)
        imitator.save(folder)
    monkeypatch.setattr(sys, "argv", ["soar", "bonus", str(folder), "--states", "64"])
    before = (folder / "metrics.jsonl").read_bytes()
    cli.main()
    assert "of the actor's gradient" in capsys.readouterr().out
    said = json.loads((folder / bonus.NAME).read_text())
    assert 0 <= said["gradient_share"] <= 1
    assert 0 <= said["clipped_share"] <= 1
    assert said["spread"] > 0
    assert -1 <= said["visits"] <= 1
    assert (folder / "metrics.jsonl").read_bytes() == before  # nothing was learned
    assert record.of(folder).seen["gradient_share"].end == said["gradient_share"]


def test_one_critic_has_no_bonus(tmp_path, monkeypatch, capsys):
    tiny.register()
    with tiny.imitator(env="Point-v0", critics=1) as imitator:
        imitator.learn(60)
        imitator.save(tmp_path / "run")
    monkeypatch.setattr(sys, "argv", ["soar", "bonus", str(tmp_path / "run")])
    with pytest.raises(SystemExit):
        cli.main()
    assert "no bonus to look at" in capsys.readouterr().err


def test_in_an_mdp_the_spread_falls_with_the_visits():
    """Estimates from more transitions differ less: the correlation is below 0."""
    settings = Tabular().with_critics(5)
    mdp = mdps.make("garnet")
    spread, visits = tabular.spread_and_visits(mdp, settings, 300, 100, range(3))
    assert spread.shape == visits.shape == (3, mdp.n_states, mdp.n_actions)
    assert (visits.sum(axis=(1, 2)) >= 300).all()
    assert (tabular.correlation(spread, visits) < -0.3).all()


def test_what_does_not_vary_has_no_correlation():
    level, other = np.ones((1, 2, 2)), np.arange(4.0).reshape(1, 2, 2)
    assert np.isnan(tabular.correlation(level, other)).all()
    assert tabular.correlation(-other, other) == pytest.approx([-1.0])
    assert jnp.isnan(jnp.asarray(bonus._correlation(np.ones(5), np.arange(5.0))))
