"""`soar sweep NAME` anywhere: the experiment files come with the package."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from soar_il import cli
from soar_il.errors import SoarError
from soar_il.sweep import shipped

ROOT = next(p for p in Path(__file__).parents if (p / "pyproject.toml").exists())


def soar(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["soar", *map(str, arguments)])
    cli.main()


def test_the_wheel_holds_the_experiments(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "experiments").glob("*.toml"):
        assert f"soar_il/experiments/{path.name}" in names


def test_a_shipped_file_is_found_by_its_name_elsewhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for asked in ("first", "first.toml", "experiments/first.toml"):
        soar(monkeypatch, "sweep", asked, "--dry-run")
        assert "Hopper-v5/ml-irl-L4-seed0: new" in capsys.readouterr().out


def test_one_s_own_file_comes_before_a_shipped_one_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.toml").write_text("")
    assert shipped.find(Path("first.toml")) == Path("first.toml")
    assert shipped.find(Path("first")).parent == shipped.folder()


def test_the_list_names_every_file(monkeypatch, capsys):
    soar(monkeypatch, "sweep", "--list")
    said = capsys.readouterr().out
    for name in shipped.names():
        assert name in said
    assert "run one: soar sweep NAME" in said


def test_a_name_that_is_not_shipped_is_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SoarError, match="did you mean 'first'"):
        shipped.find(Path("frist.toml"))
    with pytest.raises(SoarError, match="there is no such file"):
        shipped.find(Path("elsewhere/first.toml"))
