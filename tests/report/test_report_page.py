"""The page: what comes first, what is folded, where it lies, and how it looks on a phone."""

import html
import json
import re
import shutil
import subprocess
import sys

import fake_sweep as fake
import pytest

from soar_il import cli
from soar_il.report import arm_tables, reader, settings
from soar_il.report.write import write
from soar_il.sweep import folder as job_folder

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def swept(out, seeds=range(5), env="Hopper-v5", bases=("ml-irl", "csil-plain"), **more):
    jobs = []
    for base in bases:
        for critics in (1, 4):
            for seed in seeds:
                level = 3000.0 + 100 * critics + 10 * seed + 50 * (base == "ml-irl")
                options = {"env": env, "base": base, "critics": critics, "seed": seed}
                name = f"{env}/{base}-L{critics}-seed{seed}"
                jobs.append((name, options, fake.rising(level), dict(more)))
    return fake.sweep(out, jobs)


def made(out):
    return write(reader.read([out]), out / "report", "Made up").read_text()


def test_the_answer_comes_before_everything_else(tmp_path):
    page = made(swept(tmp_path))
    order = ["class=\"lead\"", 'id="returns"', "<figure", 'id="comparisons"', 'id="optimism"',
             'id="claims"', 'id="runs"', 'id="settings"', 'id="method"']  # fmt: skip
    places = [page.index(part) for part in order]
    assert places == sorted(places)
    (head, *_) = re.findall(r"<thead>.*?</thead>", page)
    assert re.findall(r">([^<>]+)</th>", head)[:2] == ["method", "return"]


def test_claims_of_the_paper_that_were_not_measured_are_not_spoken_of(tmp_path):
    jobs = [
        (base, {"env": "Own-v0", "base": base, "seed": 0}, fake.rising(9.0), {})
        for base in ("a", "b")
    ]
    page = made(fake.sweep(tmp_path, jobs))
    assert "claim" not in page.split("<main>")[1]
    assert "Not measured" not in page


def test_settings_that_are_the_same_everywhere_are_folded(tmp_path):
    study = reader.read([swept(tmp_path, seeds=(0,), bases=("ml-irl",))])
    differ, same = settings.tables(study)
    assert differ.head == ("setting", "ml-irl", "ml-irl + SOAR, L = 4")
    assert differ.rows == (("learner.critics", "1", "4"),)
    assert ("learner.alpha", "0.2") in same.rows
    assert same.folded
    assert "<details><summary>The 7 settings" in made(tmp_path)


def test_what_the_critics_disagreed_on_is_on_the_page(tmp_path):
    """The spread is 0.5 k and the clipped share k / 10 over ten iterations."""
    out = swept(tmp_path, seeds=(0, 1), bases=("ml-irl",))
    (row,) = arm_tables.optimism(reader.read([out])).rows
    assert row[:5] == ("ml-irl + SOAR, L = 4", "2.75", "5.00", "55 %", "100 %")
    assert "near 100 % the critics are averaged and nothing is explored" in made(out)


def test_one_pair_of_critics_cannot_disagree(tmp_path):
    jobs = [("a", {"env": "Own-v0", "base": "a", "seed": 0}, fake.rising(9.0), {})]
    assert arm_tables.optimism(reader.read([fake.sweep(tmp_path, jobs)])) is None


def test_a_job_that_failed_is_missing_with_what_it_said(tmp_path):
    out = swept(tmp_path, bases=("ml-irl",))
    place = out / "Hopper-v5/ml-irl-L4-seed2"
    shutil.rmtree(place)
    job_folder.fail(place, "error\nno such luck")
    (gone,) = reader.read([out]).missing
    assert (gone.why, gone.seed) == ("failed: no such luck", 2)
    page = made(out)
    assert "1 run(s) are missing and counted nowhere: Hopper-v5/ml-irl-L4-seed2" in page


def test_a_video_is_inside_the_page_or_beside_it(tmp_path, monkeypatch):
    out = swept(tmp_path, seeds=(0,), bases=("ml-irl",))
    (out / "Hopper-v5/ml-irl-L4-seed0/video.gif").write_bytes(b"GIF89a")
    assert 'src="data:image/gif;base64,R0lGODlh"' in made(out)
    monkeypatch.setattr("soar_il.report.videos.LARGEST", 3)
    assert 'src="videos/0.gif"' in made(out)
    assert (out / "report/videos/0.gif").read_bytes() == b"GIF89a"


def report(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["soar", "report", *map(str, arguments)])
    cli.main()


def test_each_sweep_s_report_lies_beside_it(tmp_path, monkeypatch):
    one, two = swept(tmp_path / "one", (0,)), swept(tmp_path / "two", (0,))
    report(monkeypatch, one)
    report(monkeypatch, two / "x.sweep.json")
    assert (one / "report/index.html").exists()
    assert (two / "report/index.html").exists()
    said = json.loads((two / "x.sweep.json").read_text())
    (two / "half.sweep.json").write_text(json.dumps({**said, "jobs": said["jobs"][:2]}))
    report(monkeypatch, two / "half.sweep.json")
    assert (two / "report-half/index.html").exists()
    shutil.rmtree(two / "Hopper-v5")
    fake.run(tmp_path / "two/run", fake.rising(5.0), env="Hopper-v5", base="js")
    report(monkeypatch, one, tmp_path / "two/run")
    assert (tmp_path / "report-one-run/index.html").exists()


def test_a_report_takes_away_what_only_the_last_one_made(tmp_path):
    out = swept(tmp_path)
    made(out)
    kept = out / "report" / "tables" / "mine.csv"
    kept.write_text("mine")
    assert (out / "report/figures/differences.svg").exists()
    said = json.loads((out / "x.sweep.json").read_text())
    said["jobs"] = [job for job in said["jobs"] if job["options"]["base"] == "ml-irl"]
    (out / "x.sweep.json").write_text(json.dumps(said))
    made(out)
    assert not (out / "report/figures/differences.svg").exists()
    assert kept.exists()


MEASURE = """<script>addEventListener("load", () => {
  const far = [...document.querySelectorAll("body *")].filter(
    e => !e.closest("svg") && e.getBoundingClientRect().right > innerWidth + 1);
  const cell = document.querySelector("td[data-name=return]").getBoundingClientRect();
  parent.document.title = "measured:" + JSON.stringify({room: innerWidth, top: cell.top,
    wide: document.documentElement.scrollWidth, far: far.map(e => e.tagName)});
});</script></head>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
def test_on_a_phone_the_return_is_near_the_top_and_nothing_is_wider_than_the_screen(tmp_path):
    """A frame of 400 pixels, because a headless window is never that narrow."""
    page = made(swept(tmp_path)).replace("</head>", MEASURE, 1)
    page = page.replace("<details>", "<details open>")
    frame = tmp_path / "frame.html"
    shown = f'<iframe style="width:400px;height:800px;border:0" srcdoc="{html.escape(page)}">'
    frame.write_text(f"<!doctype html><title>waits</title><body>{shown}</iframe></body>")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=600,900"]
    done = subprocess.run(
        [*command, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    (said,) = re.findall(r"<title>measured:(.*?)</title>", done.stdout)
    said = json.loads(said)
    assert said["room"] == 400
    assert said["wide"] <= 400
    assert said["far"] == []
    assert said["top"] < 800  # on the first screen
