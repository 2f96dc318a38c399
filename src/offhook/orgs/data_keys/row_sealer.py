"""Encrypts the rows that an organization has with its newest key, and rewrites encrypted ones."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.orgs.data_keys import sealed_row_queries
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.sealed_rows import SealedPart, has_words, list_sealed_parts, open_values, seal_with
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.orgs.errors import WordsUnreadable

BATCH: Final = 200


async def seal_rows(db: Database, keys: DataKeys, organization_id: int, number: int) -> int:
    """Encrypts all rows that are plain, or have a key before this one, with it; returns how many. Each batch is one
    transaction. A row whose key was deleted stays as it is. Raises SecretUnreadable."""
    changed = 0
    for part in list_sealed_parts():
        last = 0
        while True:
            async with db.transaction() as session:
                key = await keys.find_key(session, organization_id, number)
                rows = await sealed_row_queries.list_without_key(
                    session, organization_id, part, number, after=last, limit=BATCH
                )
                for row in rows:
                    changed += await _seal_again(session, keys, part, row, key)
            if not rows:
                break
            last = rows[-1]["row_number"]
    return changed


async def _seal_again(
    session: AsyncSession, keys: DataKeys, part: SealedPart, row: Mapping[str, Any], key: DataKey
) -> bool:
    organization_id = row["organization_id"]
    if not has_words(part, row) and row[part.key_column] not in await keys.list_numbers(session, organization_id):
        return False
    values = await open_values(session, part, row)
    stored = seal_with(key, part, organization_id, row[part.name_column], values)
    await sealed_row_queries.update_row(session, organization_id, part, row["row_number"], stored)
    return True


async def rewrite_rows(
    db: Database,
    organization_id: int,
    part: SealedPart,
    rewrite: Callable[[dict[str, Any]], dict[str, Any]],
    on_changed: Callable[[AsyncSession, int], Awaitable[None]],
) -> None:
    """Rewrites the encrypted values in the rows of a table with the rows' own keys, and calls ``on_changed`` with the number
    of changed rows in the same transaction. Rows that cannot be decrypted stay unchanged: they are unreadable anyway."""
    last = 0
    while True:
        changed = 0
        async with db.transaction() as session:
            rows = await sealed_row_queries.list_encrypted(session, organization_id, part, after=last, limit=BATCH)
            for row in rows:
                key = await _find_key(session, organization_id, row[part.key_column])
                if key is None:
                    continue
                values = await open_values(session, part, row, is_lenient=True)
                rewritten = rewrite(values)
                if rewritten != values:
                    stored = seal_with(key, part, organization_id, row[part.name_column], rewritten)
                    await sealed_row_queries.update_row(session, organization_id, part, row["row_number"], stored)
                    changed += 1
            if changed:
                await on_changed(session, changed)
        if not rows:
            return
        last = rows[-1]["row_number"]


async def read_rows(
    session: AsyncSession, organization_id: int, part: SealedPart
) -> AsyncIterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yields the encrypted rows of a table with what is encrypted in them, or with their plain parts without the key."""
    last = 0
    while rows := await sealed_row_queries.list_encrypted(
        session, organization_id, part, after=last, limit=BATCH, is_locked=False
    ):
        for row in rows:
            yield row, await open_values(session, part, row, is_lenient=True)
        last = rows[-1]["row_number"]


async def _find_key(session: AsyncSession, organization_id: int, number: int) -> DataKey | None:
    keys = word_keys_of(session)
    try:
        return None if keys is None else await keys.find_key(session, organization_id, number)
    except (SecretUnreadable, WordsUnreadable):
        return None
