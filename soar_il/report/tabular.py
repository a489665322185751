"""The hard exploration task in a report: what ``soar tabular`` measured."""

from typing import Any

import numpy as np

from soar_il.report.results import Study
from soar_il.report.verdict import Finding, above
from soar_il.statistics import aggregate


def missing_lead(content: dict[str, Any]) -> dict[int, np.ndarray]:
    """By L, [runs, 1]: 0 for the expert's value, 1 for the uniform policy's."""
    best, chance = content["expert_value"], content["uniform_value"]
    return {
        curve["critics"]: np.array(
            [[(r["policy_value"][-1] - best) / (chance - best)] for r in curve["runs"]]
        )
        for curve in content["curves"]
    }


def hard_exploration(study: Study) -> list[Finding]:
    """One critic fails on some seeds where two or three do not."""
    found = []
    for content in study.studies:
        left = missing_lead(content)
        for few in (2, 3):
            if 1 not in left or few not in left:
                continue
            made = aggregate.bootstrap(aggregate.difference, left[1], left[few], paired=True)
            found.append(
                Finding(
                    f"in the hard exploration task L = {few} comes nearer to the expert than 1",
                    f"{content['task']['mdp']}",
                    "share of the expert's lead that is missing, L = 1 minus the other",
                    made,
                    above(made),
                    len(left[1]),
                )
            )
    return found
