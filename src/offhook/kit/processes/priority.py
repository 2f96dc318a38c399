"""How much of a busy machine a process takes."""

import os


def lower_priority(niceness: int) -> None:
    """Lowers the priority of this process to ``niceness``, 0 to 19, unless it is that low already.

    A worker beside calls has lowered its own: counted on top of that, what it starts would get nothing for minutes.
    """
    os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))
