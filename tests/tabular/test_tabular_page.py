"""The tables of docs/tabular.md are those of the runs in docs/results."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from soar_il.report import tabular
from soar_il.statistics.intervals import shown, slope_interval
from soar_il.tabular import mdps

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "tabular.md").read_text()
RELEASED = ("tabular-paper-on-released-mdp", "tabular-as-released")
VALUES = ("tabular-paper", *RELEASED, "tabular-as-released-on-paper-mdp")
SOLVED = ("tabular-paper", "tabular-rule-min", "tabular-without-bonus", "tabular-without-plus-two")


def read(name):
    with (DOCS / "results" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def table(name):
    """The command's own table, made from the stored runs."""
    made = "hard-exploration" + ("-as-released" if name in RELEASED else "")
    mdp, curves = mdps.make(made), {}
    for row in read(name):
        run = {"steps": [int(row["MDP samples"])]}
        run |= {field: [float(row[column])] for field, column in tabular.POLICIES.items()}
        curves.setdefault(int(row["L"]), []).append(run)
    content = {
        "task": {"mdp": made},
        "expert_value": float(mdp.initial_value(mdp.optimal_policy())),
        "uniform_value": float(mdp.initial_value(mdp.uniform_policy())),
        "curves": [{"critics": critics, "runs": runs} for critics, runs in curves.items()],
    }
    return tabular.table(content).rows


def section(name):
    """What stands between the heading that links the runs and the next heading."""
    (found,) = [
        part for part in re.split(r"^###? ", PAGE, flags=re.M)
        if f"uns](results/{name}.csv)" in part
    ]  # fmt: skip
    return found


def test_every_file_of_runs_is_named_by_the_page_and_by_its_readme():
    readme = (DOCS / "results" / "README.md").read_text()
    files = {path.name for path in (DOCS / "results").glob("*.csv")}
    assert files == set(re.findall(r"results/([\w-]+\.csv)", PAGE))
    assert files == set(re.findall(r"`([\w-]+\.csv)` \| `soar", readme))


@pytest.mark.parametrize("name", VALUES)
def test_the_values_are_those_of_the_runs(name):
    rows = [f"| {' | '.join(row)} |" for row in table(name)]
    assert re.findall(r"^\| \d.*$", section(name), re.M) == rows


@pytest.mark.parametrize("name", SOLVED)
def test_the_seeds_solved_are_those_of_the_runs(name):
    (line,) = [line for line in PAGE.splitlines() if f"[csv](results/{name}.csv)" in line]
    counts = [row[-1].removesuffix("/20") for row in table(name)]
    assert f"| {', '.join(counts)} |" in line


@pytest.mark.parametrize("name", ["regret-practical", "regret-theory"])
def test_the_regret_is_that_of_the_runs(name):
    by_mdp = {}
    for row in read(name):
        k = int(row["K"])
        by_mdp.setdefault(row["MDP"], {}).setdefault(k, []).append(float(row["regret"]) / k)
    rows = []
    for mdp, by_k in by_mdp.items():
        each = np.stack([np.array(runs) for runs in by_k.values()], axis=1)
        means = [f"{mean:.3g}" for mean in each.mean(axis=0)]
        rows.append(f"| {' | '.join([mdp, *means, shown(slope_interval(list(by_k), each))])} |")
    assert re.findall(r"^\| (?:hard|garnet).*$", section(name), re.M) == rows


def test_how_often_optimism_failed():
    def failed(name, mdp):
        told = [row["optimism failed"] for row in read(name) if row["MDP"].startswith(mdp)]
        return told.count("yes"), len(told)

    hard, random = failed("regret-practical", "hard"), failed("regret-practical", "garnet")
    said = re.sub(r"\s+", " ", section("regret-practical"))
    assert (
        f"{hard[0]} of {hard[1]} runs on the hard MDP and in {random[0]} of {random[1]} on" in said
    )
    assert failed("regret-theory", "") == (0, 840)
    for row in read("regret-theory"):
        assert float(row["regret"]) <= float(row["bound"])
