import json
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import pytest
import toys

from soar_il import config
from soar_il.bases import BASES
from soar_il.configure import Config, resolve
from soar_il.errors import ConfigError
from soar_il.evaluation.score import Evaluator
from soar_il.experts import sac
from soar_il.learners import LEARNERS
from soar_il.tabular.settings import Settings
from soar_il.tabular.studies.ablation import Task


@dataclass(frozen=True)
class Inner:
    size: int = 1


@dataclass(frozen=True)
class Outer:
    name: str
    rate: float = 0.5
    mode: Literal["a", "b"] = "a"
    inner: Inner = field(default_factory=Inner)


def test_a_mapping_becomes_a_dataclass():
    made = config.from_mapping(Outer, {"name": "x", "rate": 2, "inner": {"size": 3}}, "here")
    assert made == Outer("x", 2.0, "a", Inner(3))


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ({"name": "x", "rat": 1.0}, r"here: unknown setting 'rat'.*did you mean 'rate'"),
        ({"name": "x", "rate": "fast"}, r"here: rate: is 'fast'.*type float"),
        ({"name": "x", "rate": True}, r"here: rate: is True"),
        ({"name": "x", "mode": "c"}, r"here: mode: is 'c'.*choose one of: a, b"),
        ({"name": "x", "inner": {"size": 1.5}}, r"here: inner: size: is 1\.5.*type int"),
        ({"name": "x", "inner": 3}, r"here: inner: is 3"),
        ({}, r"here: .*name"),
    ],
)
def test_what_does_not_fit_is_refused(mapping, says):
    with pytest.raises(ConfigError, match=f"(?s){says}"):
        config.from_mapping(Outer, mapping, "here")


def test_the_paper_s_numbers():
    task = config.preset(Task, "tabular", "paper")
    assert (task.mdp, task.expert_samples) == ("hard-exploration", 100)
    assert task.settings == Settings(eta=4.0, alpha=0.5, rule="mean-std", bonus_scale=0.001)


def test_a_file_that_extends_what_there_is_not_says_so(tmp_path):
    for name, says in (("ml-il/tuned", "did you mean 'ml-irl'"), ("ml-irl/tunde", "'tuned'")):
        (tmp_path / "own.toml").write_text(f'extends = "{name}"')
        with pytest.raises(ConfigError, match=says):
            resolve("ml-irl", "Point-v0", str(tmp_path / "own.toml"))


def test_a_preset_can_be_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('mdp = "chain"\n[settings]\neta = 1\n')
    task = config.preset(Task, "tabular", str(path))
    assert (task.mdp, task.settings.eta) == ("chain", 1.0)
    path.write_text("mdp = ")
    with pytest.raises(ConfigError, match=r"mine\.toml: is not valid TOML"):
        config.preset(Task, "tabular", str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        config.preset(Task, "tabular", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match="did you mean 'paper'"):
        config.preset(Task, "tabular", "papr")


ENVS = ("Hopper-v5", "HalfCheetah-v5", "Walker2d-v5", "Ant-v5", "Humanoid-v5", "Mine-v0")


@pytest.mark.parametrize("preset", ["tuned", "paper"])
@pytest.mark.parametrize("base", [*BASES, "sac"])
def test_every_preset_names_settings_that_there_are_for_every_environment(base, preset):
    for env in ENVS:
        made = sac.resolve(env, preset) if base == "sac" else resolve(base, env, preset)
        assert (made.base, made.env) == (base, env)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("base", "room", "given", "says"),
    [
        ("ml-irl", "cost", {"gradient_penalty": NAN}, r"gradient_penalty is nan.*at least 0"),
        ("csil", "cost", {"steps": -5}, r"steps is -5.*at least 1"),
        ("ml-irl", "cost", {"hidden": [0]}, r"hidden is \(0,\).*at least 1"),
        ("ml-irl", "cost", {"hidden": []}, r"hidden is empty.*sizes"),
        ("rkl", "cost", {"weight_decay": -1.0}, r"weight_decay is -1.*at least 0"),
        ("fkl", "cost", {"learning_rate": INF}, r"learning_rate is inf.*more than 0"),
        ("csil", "cost", {"bound": -1.0}, r"bound is -1.*more than 0"),
        ("csil-plain", "cost", {"bound": -1.0}, r"bound is -1.*more than 0"),
        ("ml-irl", "learner", {"target_entropy": NAN}, r"target_entropy is nan"),
        ("ml-irl", "learner", {"hidden": [32, 0]}, r"hidden is \(32, 0\).*at least 1"),
        ("ml-irl", "learner", {"expert_share": 1.0}, r"expert_share is 1.*less than 1"),
        ("js", "cost", {"samples": 1}, r"samples 1.*at least 2"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(base, room, given, says):
    with pytest.raises(ConfigError, match=f"(?s){says}"):
        resolve(base, "Hopper-v5", **{room: given})


def test_a_score_of_no_episodes_is_refused():
    with pytest.raises(ConfigError, match=r"(?s)episodes is 0.*at least 1"):
        Evaluator(toys.PointMass, 0, toys.HORIZON)


FRESH = "is read with data = replay"


@pytest.mark.parametrize(
    ("base", "cost", "says"),
    [
        ("csil", {"faithful": False}, "unknown setting 'faithful'"),
        ("csil", {"anchored": False}, "unknown setting 'anchored'"),
        ("csil-plain", {"centres": 9}, "unknown setting 'centres'"),
        ("csil-plain", {"level": 0.5}, "unknown setting 'level'"),
        ("csil-plain", {"refine": 0.5}, "unknown setting 'refine'"),
        ("csil-plain", {"hidden": [8]}, "hidden is read with anchored = false"),
        (
            "csil-plain",
            {"anchored": False, "critic_steps": 9},
            "critic_steps is read with anchored",
        ),
        (
            "csil-plain",
            {"anchored": False, "action_slope": 9},
            "action_slope is read with anchored",
        ),
        ("csil-plain", {"anchored": False, "slope_batch": 9}, "slope_batch is read with anchored"),
        ("ml-irl", {"data": "fresh", "batch": 9}, f"batch {FRESH}"),
        ("ml-irl", {"data": "fresh", "discount": 0.5}, f"discount {FRESH}"),
        ("ml-irl", {"data": "fresh", "recent": 9}, f"recent {FRESH}"),
        ("ml-irl-sa", {"data": "fresh", "gradient_penalty": 9}, f"gradient_penalty {FRESH}"),
        ("ml-irl-sa", {"data": "fresh", "slope": 9}, f"slope {FRESH}"),
        ("rkl", {"data": "fresh", "recent": 9, "discount": 1.0}, f"recent {FRESH}"),
        ("rkl", {"data": "fresh", "discount": 0.9}, f"discount {FRESH}"),
        ("js", {"samples": 0, "discount": 0.9}, f"discount {FRESH}"),
        ("ml-irl", {"gradient_penalty": 0.0, "slope": 1.0}, "slope is read with gradient_penalty"),
        ("rkl", {"gradient_penalty": 0.0, "slope": 1.0}, "slope is read with gradient_penalty"),
        (
            "gail",
            {"gradient_penalty": 0.0, "by_size": False},
            "by_size is read with gradient_penalty",
        ),
    ],
)
def test_a_setting_that_would_be_ignored_is_refused(base, cost, says):
    with pytest.raises(ConfigError, match=f"{says}.*"):
        resolve(base, "Hopper-v5", cost=cost)


@pytest.mark.parametrize(
    ("learner", "says"),
    [
        ({"trial_every": 0, "trials": 5}, "trials is read with trial_every above 0"),
        ({"target_entropy": -0.5}, "target_entropy is read with tune_alpha = true"),
    ],
)
def test_a_setting_of_the_learner_that_would_be_ignored_is_refused(learner, says):
    with pytest.raises(ConfigError, match=says):
        resolve("ml-irl", "Hopper-v5", learner=learner)


PRESETS = sorted((Path(config.__file__).parent / "presets").glob("*/*.toml"))


def repeated(mine, under, defaults):
    """What a table says although it would hold without it."""
    return {
        name: value
        for name, value in mine.items()
        if not isinstance(value, dict) and under.get(name, defaults.get(name)) == value
    }


def plain(cls):
    """A dataclass's defaults as TOML writes them."""
    return json.loads(json.dumps({f.name: f.default for f in fields(cls)}, default=str))


@pytest.mark.parametrize("path", PRESETS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_preset_says_only_what_differs_from_what_it_extends_and_from_the_defaults(path):
    kind, mine = path.parent.name, tomllib.loads(path.read_text())
    if kind == "tabular":
        return
    below = mine.pop("extends", "")
    under = config.preset_mapping(*below.split("/")) if below else {}
    algorithm = mine.get("algorithm", under.get("algorithm", "sac"))
    rooms = {"learner": plain(LEARNERS[algorithm].settings)}
    if kind not in ("sac", "common"):
        rooms["cost"] = plain(BASES["rkl" if kind == "f-irl" else kind].settings)
    assert not repeated(mine, under, plain(Config))
    whole = config.merged(under, mine)
    for room, defaults in rooms.items():
        assert not repeated(mine.get(room, {}), under.get(room, {}), defaults)
        for env, section in mine.get("env", {}).items():
            before = under.get("env", {}).get(env, {}).get(room, {})
            beside = {**whole.get(room, {}), **before}
            assert not repeated(section.get(room, {}), beside, defaults), env
