"""``soar doctor`` finds what is wrong, and says what to do."""

import tempfile

import pytest

from soar_il.commands import doctor
from soar_il.errors import ConfigError


def test_a_sound_machine_is_told_so(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_trained", lambda: True)
    doctor.doctor()
    out = capsys.readouterr().out
    assert "self-test" in out
    assert "all is as it should be" in out
    for name in ("Python", "jax", "mujoco", "devices", "threads of a run", "drawing (GL)"):
        assert name in out


def test_the_self_test_stops_and_resumes_a_run():
    line = doctor.self_test()
    assert line.fine, line
    assert "trained, stopped and resumed exactly" in line.found


def test_what_is_wrong_is_named_and_ends_with_an_error(monkeypatch, capsys):
    def full(**more):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(doctor, "_trained", lambda: False)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(ConfigError, match="not as it should be: this folder, self-test"):
        doctor.doctor()
    assert "go to a folder" in capsys.readouterr().out


def test_a_missing_extra_is_no_fault_and_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(doctor.EXTRAS, "onnx", ("no_such_module", "soar export --onnx"))
    (line,) = [x for x in doctor.extras() if x.what == "extra onnx"]
    assert line.fine
    assert "pip install 'soar-il[onnx]'" in line.do
