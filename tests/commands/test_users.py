"""The trial in short form, in one process: what compiles once is there for the next command."""

import runpy
import sys

import gymnasium as gym
import pytest
import trial

from soar_il import cli


def run(command, monkeypatch):
    monkeypatch.setattr(sys, "argv", command)
    if command[0] == "python":
        gym.registry.pop("Reach2D-v0", None)
        runpy.run_path(command[1], run_name="__main__")
    else:
        cli.main()


@pytest.mark.filterwarnings("ignore:.*Overriding environment")
@pytest.mark.parametrize("user", trial.USERS)
def test_a_new_user_gets_there(user, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    trial.prepare(tmp_path, short=True)
    for command, words in trial.lines(user, short=True):
        run(command, monkeypatch)
        said = " ".join(capsys.readouterr().out.split())
        assert words in said, command
    for name in ("your_environment", "habits"):
        sys.modules.pop(name, None)
    gym.registry.pop("Reach2D-v0", None)
