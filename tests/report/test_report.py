"""Reports as a user meets them: from folders to a page that a browser shows."""

import csv
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import study as made_up

from soar_il import cli
from soar_il.errors import SoarError
from soar_il.report import arm_tables, reader, table
from soar_il.report.results import checked
from soar_il.report.write import write
from soar_il.runs import log

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def stored(folder, seed, critics, steps=3000, level=1000.0, scored=True):
    """A finished run as far as a report looks at it."""
    folder.mkdir(parents=True)
    settings = {"env": "Point-v0", "base": "ml-irl", "seed": seed, "termination": "absorbing"}
    settings |= {"demonstrations": 4, "learner": {"critics": critics, "sigma": 10.0}}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "plan.json").write_text(json.dumps({"steps": 3000}))
    (folder / "provenance.json").write_text(json.dumps({"command": f"soar train --seed {seed}"}))
    with log.Log(folder / "metrics.jsonl") as metrics, log.Log(folder / "scores.jsonl") as scores:
        for k in range(1, steps // 1000 + 1):
            metrics.append({"k": k, "steps": 1000 * k, "cost_gap": 1 / k})
            if scored:
                score = {"return": level * k / 3, "return_std": k, "stochastic_return": 7 * k}
                scores.append({"k": k, "steps": 1000 * k, **score})


def swept(out, seeds=(0, 1, 2, 3, 4), purpose="report"):
    """A sweep's folder with all its jobs done."""
    jobs = []
    for seed in seeds:
        for critics in (1, 4):
            name = f"Point-v0/ml-irl-L{critics}-seed{seed}"
            options = {"env": "Point-v0", "base": "ml-irl", "critics": critics, "seed": seed}
            stored(out / name, seed, critics, level=1000.0 + 500 * (critics == 4) + seed)
            (out / name / "done.json").write_text('{"seconds": 1, "since": 0, "steps": 3000}')
            settings = json.loads((out / name / "config.json").read_text())
            jobs.append({"name": name, "options": options, "settings": settings})
    said = {"title": "Points", "command": "train", "purpose": purpose, "trained": True}
    (out / "x.sweep.json").write_text(json.dumps({**said, "demos": {}, "jobs": jobs}))
    return out


def test_a_sweep_is_read_whole(tmp_path):
    study = reader.read([swept(tmp_path / "s")])
    assert len(study.results) == 10
    assert not study.missing
    one = study.results[5]
    assert (one.critics, one.seed, one.label) == (4, 0, "ml-irl + SOAR, L = 4")
    np.testing.assert_allclose(one.returns, [500, 1000, 1500])
    assert one.normal is None  # nobody knows the expert of the point mass


def test_each_run_has_a_row_with_its_start_its_lowest_and_its_end(tmp_path):
    (row,) = (
        r
        for r in arm_tables.runs(reader.read([swept(tmp_path)]), []).rows
        if r[:2] == ("ml-irl", "3")
    )
    assert row[2:] == ("1,003 ± 3", "334 ± 1", "669 ± 2 (2,000)", "21", "3,000")


def test_what_is_not_done_is_missing_and_said_so(tmp_path):
    out = swept(tmp_path / "s")
    (out / "Point-v0/ml-irl-L4-seed1/done.json").unlink()
    shutil.rmtree(out / "Point-v0/ml-irl-L1-seed2")
    (out / "Point-v0/ml-irl-L1-seed3/scores.jsonl").write_bytes(b"")
    study = reader.read([out])
    assert {m.name[-8:]: m.why for m in study.missing} == {
        "L4-seed1": "begun, not done",
        "L1-seed2": "not begun",
        "L1-seed3": "its last policy was not evaluated",
    }
    page = write(study, tmp_path / "r", "Points").read_text()
    assert "Runs that are missing" in page
    assert "3 (2 missing)" in page
    assert "4 (1 missing)" in page
    assert 'verdict">supported' not in page
    assert (tmp_path / "r/tables/missing.md").exists()
    write(reader.read([swept(tmp_path / "all")]), tmp_path / "r", "Points")
    assert not list((tmp_path / "r").rglob("missing.*"))


def test_runs_without_a_sweep_are_found_and_unfinished_ones_counted(tmp_path):
    stored(tmp_path / "a" / "one", 0, 1)
    stored(tmp_path / "a" / "two", 1, 1, steps=2000)
    study = reader.read([tmp_path / "a"])
    assert [r.seed for r in study.results] == [0]
    assert [m.why for m in study.missing] == ["begun, not done"]


def test_the_same_run_in_two_folders_is_refused(tmp_path):
    first = swept(tmp_path / "s")
    shutil.copytree(first, tmp_path / "t")
    with pytest.raises(SoarError, match="is there twice"):
        reader.read([first, tmp_path / "t"])


def test_selection_and_report_on_the_same_seeds_are_refused(tmp_path):
    folders = [swept(tmp_path / "s"), swept(tmp_path / "t", (4, 5), "selection")]
    with pytest.raises(SoarError, match="seed 4 of ml-irl on Point-v0 both chose"):
        reader.read(folders)


def test_sweeps_that_share_a_folder_share_their_runs(tmp_path):
    out = swept(tmp_path / "s")
    said = json.loads((out / "x.sweep.json").read_text())
    half = [job for job in said["jobs"] if job["options"]["critics"] == 4]
    (out / "half.sweep.json").write_text(json.dumps({**said, "title": "Half", "jobs": half}))
    assert len(reader.read([out]).results) == 10
    assert len(reader.read([out / "half.sweep.json"]).results) == 5


def test_an_empty_folder_is_explained(tmp_path):
    with pytest.raises(SoarError, match="there is no run here"):
        reader.read([tmp_path])
    with pytest.raises(SoarError, match="is neither a folder nor"):
        reader.read([tmp_path / "nothing"])


def test_the_command_writes_page_figures_and_tables(tmp_path, monkeypatch, capsys):
    out = swept(tmp_path / "s")
    arguments = ["soar", "report", str(out), "--out", str(tmp_path / "r")]
    monkeypatch.setattr(sys, "argv", arguments)
    cli.main()
    assert "10 runs, 0 missing" in capsys.readouterr().out
    page = (tmp_path / "r" / "index.html").read_text()
    assert f"soar report {out}" in page
    assert "soar train --seed 3" in page
    names = {path.stem for path in (tmp_path / "r" / "figures").iterdir()}
    assert names == {"learning-Point-v0-4-report"}
    for name in names:
        assert f'<figure id="{name}">' in page
        assert (tmp_path / "r" / "figures" / f"{name}.png").stat().st_size > 5000
    text = (tmp_path / "r" / "tables" / "comparisons.csv").read_text()
    (row,) = csv.DictReader(text.splitlines())
    assert row["arms"] == "ml-irl + SOAR, L = 4 minus ml-irl"
    assert row["difference"] == "500 [500, 500]"
    assert row["P(higher)"] == "1.00 [1.00, 1.00]"
    assert "| 500 [500, 500] |" in (tmp_path / "r" / "report.md").read_text()


def test_the_same_runs_give_the_same_page_whatever_their_order(tmp_path):
    study = made_up.study(seeds=5, envs=("Hopper-v5",))
    mixed = study._replace(results=study.results[::-1])
    first = write(checked(study), tmp_path / "a", "x").read_text()
    assert write(checked(mixed), tmp_path / "b", "x").read_text() == first


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """The page of a study that has every figure."""
    study = made_up.study(missing={("Ant-v5", 4, 2)})
    more = made_up.clips(purpose="selection", first=100)
    ten = tuple(made_up.result("Hopper-v5", 10, seed, 0.7) for seed in range(6))
    study = study._replace(results=(*study.results, *more, *ten), studies=(made_up.exploration(),))
    return write(checked(study), tmp_path_factory.mktemp("everything"), "x")


def test_the_page_needs_no_network(everything):
    page = everything.read_text()
    for address in re.findall(r'(?:src|href)="([^"]*)"', page):
        assert address.startswith(("data:", "#")), address
    assert "@import" not in page
    assert "<script" not in page
    assert set(re.findall(r"https?://[\w.]+", page)) <= {"http://www.w3.org"}


def test_text_in_tables_is_text():
    made = table.Table("t", "t", ("a|b",), (("<script>",),))
    assert "&lt;script&gt;" in table.as_html(made)
    assert "a\\|b" in table.markdown(made)


MEASURE = """<script>addEventListener("load", () => {
  const box = e => e.getBoundingClientRect();
  const figures = [...document.querySelectorAll("figure")].map(f => ({
    id: f.id, width: box(f.querySelector("svg")).width, height: box(f.querySelector("svg")).height,
    paths: f.querySelectorAll("svg path").length, left: box(f).left, right: box(f).right}));
  const said = {figures, room: innerWidth, wide: document.documentElement.scrollWidth,
    ink: getComputedStyle(document.querySelector("figure svg text")).fill,
    paper: getComputedStyle(document.body).backgroundColor};
  document.title = "measured:" + JSON.stringify(said);
});</script></head>"""


def opened(page, width, *flags):
    """What a browser makes of the page, and what it complains of."""
    place = page.with_name(f"measured-{width}.html")
    place.write_text(page.read_text().replace("</head>", MEASURE, 1))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += [f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},900", *flags]
    done = subprocess.run(
        [*command, "--dump-dom", place.as_uri()], capture_output=True, text=True, timeout=120
    )
    (said,) = re.findall(r"<title>measured:(.*?)</title>", done.stdout)
    return json.loads(said), re.findall(r".*CONSOLE.*", done.stderr)


def brightness(colour):
    return np.mean([int(part) for part in re.findall(r"\d+", colour)[:3]])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
def test_a_browser_shows_every_figure(everything):
    wanted = {path.stem for path in (everything.parent / "figures").glob("*.svg")}
    assert len(wanted) >= 8
    papers = set()
    for width, flags in ((1280, ()), (500, ("--blink-settings=preferredColorScheme=0",))):
        said, complaints = opened(everything, width, *flags)
        assert not complaints
        assert {figure["id"] for figure in said["figures"]} == wanted
        for figure in said["figures"]:
            assert figure["width"] > 250, figure
            assert figure["height"] > 100, figure
            assert figure["paths"] > 5, figure
            assert 0 <= figure["left"] < figure["right"] <= said["room"], figure
        assert said["wide"] <= said["room"]  # nothing but tables scrolls sideways
        assert abs(brightness(said["ink"]) - brightness(said["paper"])) > 120
        papers.add(said["paper"])
    assert len(papers) == 2  # light and dark
