"""A floor of free disk space, so that files never take what the database and live calls need."""

import shutil
from pathlib import Path

from offhook.errors import DomainError


class DiskAlmostFull(DomainError):
    """This server has too little free disk space to store files. Ask its operator, and try again later."""

    code = "disk_almost_full"
    status = 503


def has_free_space(folder: Path, min_free_bytes: int) -> bool:
    """Returns whether the disk of ``folder``, or of its nearest existing parent, has at least this much free space."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free >= min_free_bytes
