"""soar-il: imitation learning with soft optimistic actor-critics, after the IL-SOAR paper."""

import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Demos", "Imitator", "Policy", "record"]

ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
if os.environ.get("SOAR_THREADS", "1") == "1":
    # Sums in a fixed order, so that runs repeat bit for bit; one run a core is fastest anyway.
    # The order depends on the size of XLA's pool too, which is else the cores that it may use.
    os.environ["PJRT_NPROC"] = "1"
    if ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD}".strip()

if TYPE_CHECKING:
    from soar_il.agent import Imitator
    from soar_il.demos import Demos
    from soar_il.experts.record import demonstrate as record
    from soar_il.policy import Policy


def __getattr__(name: str) -> Any:
    """The names that most programs need, imported when they are asked for."""
    if name == "Imitator":
        from soar_il.agent import Imitator

        return Imitator
    if name == "Demos":
        from soar_il.demos import Demos

        return Demos
    if name == "Policy":
        from soar_il.policy import Policy

        return Policy
    if name == "record":
        from soar_il.experts.record import demonstrate

        return demonstrate
    raise AttributeError(f"module 'soar_il' has no attribute {name!r}")
