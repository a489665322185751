"""A sweep's results without its runs: the same report from a few small files."""

import json
import shutil
import sys

import fake_sweep as fake
import pytest

from soar_il import cli
from soar_il.errors import SoarError
from soar_il.report import packed, reader
from soar_il.report.write import write


def swept(tmp_path):
    """Two arms on two environments, with seconds, a failed run, one begun and one not begun."""
    jobs = []
    for env in ("Own-v0", "Hopper-v5"):
        for seed in range(5):
            for critics in (1, 4):
                name = f"{env}/ml-irl-L{critics}-seed{seed}"
                options = {"env": env, "base": "ml-irl", "critics": critics, "seed": seed}
                curve = fake.rising(3000.0 + 300 * critics + 7.3 * seed)
                own = {"learner": {"alpha": 0.1 if env == "Own-v0" else 0.2}, "cost": {}}
                settings = {"env": env, "base": "ml-irl", "seed": seed, **fake.SETTINGS}
                settings |= {"learner": {"critics": critics, "sigma": 1.0, "alpha": 0.2}}
                gone = (seed, critics) == (4, 1)
                more = {"settings": settings} if gone else own
                jobs.append((name, options, None if gone else curve, more))
    out = fake.sweep(tmp_path / "s", jobs)
    for n, place in enumerate(out.glob("*/*")):
        with fake.log.Log(place / "times.jsonl") as times:
            for k in range(11):
                times.append({"k": k, "steps": 5000 * k, "wall": 0.0, "process": k * 1.001 + n})
    failed = out / "Own-v0/ml-irl-L1-seed4"
    failed.mkdir()
    (failed / "failed.json").write_text(json.dumps({"problem": "Error: /home/me/x.toml is bad"}))
    return out


def tables(study, out):
    """Every table of the report, as text; what only says where a run lies is another matter."""
    write(study, out, "Made up")
    return {path.name: path.read_text() for path in sorted((out / "tables").glob("*.csv"))}


def test_a_packed_sweep_gives_the_same_report(tmp_path):
    out, small = swept(tmp_path), tmp_path / "small"
    assert packed.write(out, small) == (18, 2)
    raw = tables(reader.read([out], {"Own-v0": 4000.0}), tmp_path / "a")
    shutil.rmtree(out)
    same = tables(reader.read([small], {"Own-v0": 4000.0}), tmp_path / "b")
    assert {"returns.csv", "comparisons.csv", "optimism.csv", "missing.csv"} <= raw.keys()
    missing = raw.pop("missing.csv"), same.pop("missing.csv")
    assert missing[0].replace("/home/me/", "") == missing[1]
    assert raw == same
    assert (tmp_path / "a/figures").is_dir()
    for path in sorted((tmp_path / "a/figures").glob("*.svg")):
        assert path.read_bytes() == (tmp_path / "b/figures" / path.name).read_bytes(), path


def test_a_packed_sweep_is_small_and_names_no_folder_of_the_machine(tmp_path):
    out, small = swept(tmp_path), tmp_path / "small"
    said = {"command": "soar train --demos /home/me/own.demos --out /home/me/r/x --seed 0"}
    (out / "Own-v0/ml-irl-L1-seed0/provenance.json").write_text(json.dumps(said))
    packed.write(out, small)
    text = "".join(path.read_text() for path in small.iterdir())
    assert "soar train --demos own.demos --out x --seed 0" in text
    assert "/home/me" not in text
    assert str(tmp_path) not in text
    assert text.count('"termination"') == 1  # what all settings share is written once


def test_a_packed_file_that_was_changed_is_refused(tmp_path):
    small = tmp_path / "small"
    packed.write(swept(tmp_path), small)
    path = small / packed.EVALUATIONS
    path.write_text(path.read_text().replace("3000", "9000"))
    with pytest.raises(SoarError, match=r"evaluations.csv: is not what was packed"):
        reader.read([small])


def test_the_command_packs_one_figure_of_a_folder_that_several_share(tmp_path, monkeypatch, capsys):
    out = swept(tmp_path)
    said = json.loads((out / "x.sweep.json").read_text())
    said["jobs"] = [job for job in said["jobs"] if job["options"]["critics"] == 4]
    (out / "four.sweep.json").write_text(json.dumps(said))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["soar", "pack", str(out / "four.sweep.json")])
    cli.main()
    assert "10 runs, 0 missing" in capsys.readouterr().out
    study = reader.read([tmp_path / "docs/results/four"])
    assert {r.critics for r in study.results} == {4}


def test_what_is_no_sweep_is_not_packed(tmp_path):
    with pytest.raises(SoarError, match="is no sweep"):
        packed.write(tmp_path, tmp_path / "small")
