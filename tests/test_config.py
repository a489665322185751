from dataclasses import dataclass, field
from typing import Literal

import pytest

from soar_il import config
from soar_il.errors import ConfigError
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
