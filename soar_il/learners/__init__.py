"""The table of learners: one file and one line each."""

from soar_il.learners import sac, td3
from soar_il.learners.api import Algorithm

LEARNERS: dict[str, Algorithm] = {
    "sac": sac.SAC,
    "td3": td3.TD3,
}
