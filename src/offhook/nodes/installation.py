"""What must be the same in every process of an installation, checked when one starts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.database.database_clock import DatabaseClock
from offhook.nodes import repository

MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=2)


class WrongSecretKey(Exception):
    """This process's secret key is not the installation's: one sentence."""


async def check_installation(db: Database, keyring: Keyring, clock: DatabaseClock, say: Callable[[str], None]) -> None:
    """Checks the process at its start; says what differs, and raises WrongSecretKey when it can do no work."""
    await check_secret_key(db, keyring)
    warning = describe_clock(await clock.synchronize(db))
    if warning is not None:
        say(warning)


async def check_secret_key(db: Database, keyring: Keyring) -> None:
    """Compares the key with the one that this database was first used with. Raises WrongSecretKey.

    A key that was put in front of the known one becomes the known one.
    """
    ours = keyring.fingerprints()
    async with db.transaction() as session:
        known = await repository.adopt_fingerprint(session, ours[0])
        if known not in ours:
            raise WrongSecretKey(
                "This process has a different secret key than its database, so it cannot read any "
                "stored credential. Set OFFHOOK_SECRET_KEY to the key that the other processes use. "
                "If that key is lost, run `offhook keys adopt` to use this one instead."
            )
        if known != ours[0]:
            await repository.replace_fingerprint(session, ours[0])


async def accept_secret_key(db: Database, keyring: Keyring) -> bool:
    """Makes this process's key the installation's; returns False if it is already."""
    ours = keyring.fingerprints()[0]
    async with db.transaction() as session:
        if await repository.adopt_fingerprint(session, ours) == ours:
            return False
        await repository.replace_fingerprint(session, ours)
    return True


def describe_clock(ahead_s: float) -> str | None:
    """Returns a sentence about a clock that differs too much from the database's."""
    if abs(ahead_s) <= MAX_CLOCK_DIFFERENCE.total_seconds():
        return None
    direction = "ahead of" if ahead_s > 0 else "behind"
    return (
        f"The clock of this machine is {abs(ahead_s):.1f} s {direction} the database's, which Offhook goes by: let NTP "
        "set it, because signatures of carriers and signed links are checked by time."
    )
