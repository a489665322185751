"""A job's process: on its own core, and gone when the sweep is gone.

    python -m soar_il.sweep.child PARENT CORE COMMAND ...

It becomes the command; what is set here survives that.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, core: int, command: list[str]) -> None:
    """CORE -1 leaves the choice to the system."""
    if sys.platform == "linux":
        # SIGTERM, so that the last finished iteration is kept.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            sys.exit(143)
        if core >= 0:
            os.sched_setaffinity(0, {core})
    os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
