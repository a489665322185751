"""The table of learners: one file and one line each."""

from soar_il.learners import sac
from soar_il.learners.api import Algorithm

LEARNERS: dict[str, Algorithm] = {
    "sac": sac.SAC,
}
