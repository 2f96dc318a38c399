"""One data key for each organization, sealed with the installation's key. Without its row nothing that it encrypted can be
read again, also not in backups of the files: that is how the files of a deleted organization are erased."""

from collections.abc import Collection, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey, Keyring, SecretUnreadable, new_data_key
from offhook.orgs.data_keys import repository
from offhook.orgs.data_keys.repository import SealedKey
from offhook.orgs.tables import StoredDataKey


class DataKeys:
    """Creates, finds and rotates data keys."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def get_newest(self, session: AsyncSession, organization_id: int, *, is_kept: bool = False) -> DataKey:
        """Returns the key for new files; the first call creates it. ``is_kept``: it is not deleted before the end of this
        transaction."""
        found = await repository.find_newest(session, organization_id, is_kept=is_kept)
        if found is None:
            await self._add(session, organization_id, 1)
            found = await repository.find_newest(session, organization_id, is_kept=is_kept)
        assert found is not None
        return self._unseal(found)

    async def get_newest_of(
        self, session: AsyncSession, organization_ids: Collection[int]
    ) -> dict[int, DataKey | None]:
        """Returns the newest key of each organization, kept until the end of this transaction; the first call creates it.
        None: the installation's key does not open it."""
        stored = {key.organization_id: key for key in await repository.find_newest_of(session, organization_ids)}
        for organization_id in sorted(set(organization_ids) - stored.keys()):
            await self._add(session, organization_id, 1)
        if len(stored) < len(set(organization_ids)):
            stored = {key.organization_id: key for key in await repository.find_newest_of(session, organization_ids)}
        return {organization_id: self._unseal_if_readable(key) for organization_id, key in stored.items()}

    async def list_numbers(self, session: AsyncSession, organization_id: int) -> Sequence[int]:
        """Returns the numbers of the organization's keys, the newest first."""
        return await repository.list_numbers(session, organization_id)

    async def find_key(self, session: AsyncSession, organization_id: int, number: int) -> DataKey:
        """Returns the key with this number. Raises SecretUnreadable when it was deleted."""
        found = await repository.find_key(session, organization_id, number)
        if found is None:
            raise SecretUnreadable(f"data key {number} of organization {organization_id} does not exist")
        return self._unseal(found)

    async def rotate(self, session: AsyncSession, organization_id: int) -> int:
        """Adds a new key for files from now on, seals all keys with the newest installation key, and returns its number."""
        stored = await repository.list_keys(session, organization_id)
        for key in stored:
            secret = self._unseal(key).secret
            sealed = self._keyring.seal(secret, _associated(organization_id, key.number))
            await repository.store_sealed(session, organization_id, key.number, sealed)
        number = stored[-1].number + 1 if stored else 1
        await self._add(session, organization_id, number)
        return number

    async def lock_all(self, session: AsyncSession, organization_id: int) -> None:
        """Waits for transactions that keep a key, and lets none begin before the end of this one."""
        await repository.list_keys(session, organization_id)

    async def delete_older(self, session: AsyncSession, organization_id: int, number: int) -> None:
        """Deletes the keys before this one: no file is encrypted with them any more."""
        await repository.delete_older(session, organization_id, number)

    async def _add(self, session: AsyncSession, organization_id: int, number: int) -> None:
        sealed = self._keyring.seal(new_data_key(), _associated(organization_id, number))
        await repository.add_key(session, organization_id, number, sealed)

    def _unseal_if_readable(self, stored: SealedKey) -> DataKey | None:
        try:
            return self._unseal(stored)
        except SecretUnreadable:
            return None

    def _unseal(self, stored: StoredDataKey | SealedKey) -> DataKey:
        secret = self._keyring.open(stored.sealed_key, _associated(stored.organization_id, stored.number))
        return DataKey(stored.number, secret)


def _associated(organization_id: int, number: int) -> bytes:
    return f"data-key:{organization_id}:{number}".encode()
