"""The processes of an installation: who they are, how many calls they carry, and whether they fit together."""

from functools import partial
from typing import Final

from offhook.nodes import tasks
from offhook.root import Root

__all__ = ["register"]

FORGET_EVERY_S: Final = 600.0


def register(root: Root) -> None:
    """Registers the job that forgets lost processes. A process's own beat begins with the process."""
    root.jobs.add("nodes.forget", partial(tasks.forget_lost_nodes, root.db), every_s=FORGET_EVERY_S)
