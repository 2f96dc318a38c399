"""The keys of what is said in calls, as a process knows them: every session of its database leads to them."""

import time
from collections.abc import Collection, Mapping
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.nodes import queries as nodes
from offhook.orgs.data_keys.keys import DataKeys

_INFO: Final = "offhook_word_keys"
# How long a key is used after its row was deleted.
KNOWN_S: Final = 60.0
MAX_KNOWN: Final = 1000
# How often is it asked whether an older process runs.
_RECHECK_S: Final = 5.0


class WordKeys:
    """``encrypts``: whether new words are encrypted. Those that are stored are read either way."""

    def __init__(self, keys: DataKeys, *, encrypts: bool) -> None:
        self.keys = keys
        self.encrypts = encrypts
        # Of runs, which never change theirs.
        self._owners: dict[int, int] = {}
        self._known: dict[tuple[int, int], tuple[float, DataKey]] = {}
        self._asked_at = float("-inf")
        self._is_any_older = False
        self._asked_for_level_at = float("-inf")
        self._level = 0

    async def is_encrypting(self, session: AsyncSession) -> bool:
        """Returns whether new words are encrypted now: not while a process runs that cannot read them."""
        if not self.encrypts:
            return False
        if time.monotonic() - self._asked_at > _RECHECK_S:
            self._is_any_older = await nodes.is_any_older(session)
            self._asked_at = time.monotonic()
        return not self._is_any_older

    async def is_sealing(self, session: AsyncSession, level: int) -> bool:
        """Returns whether columns of this level are encrypted now: not while a process runs that cannot read them."""
        if not self.encrypts:
            return False
        if time.monotonic() - self._asked_for_level_at > _RECHECK_S:
            self._level = await nodes.find_sealed_level(session)
            self._asked_for_level_at = time.monotonic()
        return level <= self._level

    def known_owners(self, run_ids: Collection[int]) -> dict[int, int]:
        """Returns the organizations of these runs, as far as they were noted."""
        return {run_id: self._owners[run_id] for run_id in run_ids if run_id in self._owners}

    def note_owners(self, owners: Mapping[int, int]) -> None:
        """Remembers the organizations of runs, by run."""
        if len(self._owners) >= MAX_KNOWN:
            self._owners.clear()
        self._owners.update(owners)

    async def find_key(self, session: AsyncSession, organization_id: int, number: int) -> DataKey:
        """Returns the key with this number. Raises SecretUnreadable when it was deleted, or cannot be opened."""
        known = self._known.get((organization_id, number))
        if known is not None and time.monotonic() - known[0] < KNOWN_S:
            return known[1]
        found = await self.keys.find_key(session, organization_id, number)
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[organization_id, number] = (time.monotonic(), found)
        return found

    async def list_readable(self, session: AsyncSession, organization_id: int) -> list[DataKey]:
        """Returns the keys of the organization that can be opened, the newest first."""
        found = []
        for number in await self.keys.list_numbers(session, organization_id):
            try:
                found.append(await self.find_key(session, organization_id, number))
            except SecretUnreadable:
                continue
        return found


def provide_word_keys(database: Database, keys: WordKeys) -> None:
    """Makes the keys those of all sessions of this database."""
    database.session_info[_INFO] = keys


def word_keys_of(session: AsyncSession) -> WordKeys | None:
    """Returns the keys of this session's process; None where it has none, encrypts nothing and reads nothing encrypted."""
    return session.info.get(_INFO)
