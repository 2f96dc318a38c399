"""Encrypts columns of rows with the newest key of their organization, as what is said in calls is."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import structlog
from sqlalchemy import LargeBinary
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.crypto import DataKey, FileCipher, SecretUnreadable
from offhook.kit.database.database import Base
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.orgs.errors import WordsUnreadable

_WHOLE: Final = 0
log = structlog.get_logger(__name__)


class SealedRow:
    """Mixin of tables of organizations with columns that can be encrypted. The values of ``sealed_columns`` are encrypted
    together in ``sealed``; of objects, the parts that ``plain_parts`` names also stay in their own columns, for statements
    that need them. ``sealed_name`` is the column that binds the values to their row: it is known before they are stored and
    never changes."""

    sealed_columns: ClassVar[tuple[str, ...]]
    sealed_name: ClassVar[str]
    plain_parts: ClassVar[frozenset[str]] = frozenset()

    key_number: Mapped[int | None]
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)


SealedModel = type[SealedRow]


def list_sealed_models() -> list[SealedModel]:
    """Returns the classes of all tables with such columns, by the name of the table."""
    found = [mapper.class_ for mapper in Base.registry.mappers if issubclass(mapper.class_, SealedRow)]
    return sorted(found, key=table_name)


def table_name(model: SealedModel) -> str:
    return str(model.__dict__["__tablename__"])


async def seal_values(
    session: AsyncSession, model: SealedModel, organization_id: int, rows: Sequence[tuple[object, Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Returns the columns to store for rows that are given by name and values: encrypted, or as they are where nothing is
    encrypted. Where the key cannot be opened, only the plain parts are stored."""
    plain = [{**values, "key_number": None, "sealed": None} for _, values in rows]
    has_words = any(_keep_plain(model, values) != dict(values) for _, values in rows)
    keys = word_keys_of(session)
    if not has_words or keys is None:
        return plain
    # The session may hold words that are to be encrypted: nothing that it holds is stored for these statements.
    with session.no_autoflush:
        if not await keys.is_sealing_rows(session):
            return plain
        try:
            key = await keys.keys.get_newest(session, organization_id, is_kept=True)
        except SecretUnreadable:
            log.error("words_not_encrypted", organization_id=organization_id, table=table_name(model))
            return [{**_keep_plain(model, values), "key_number": None, "sealed": None} for _, values in rows]
    return [seal_with(key, model, organization_id, name, values) for name, values in rows]


def seal_with(
    key: DataKey, model: SealedModel, organization_id: int, name: object, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the columns to store for one row, encrypted with this key."""
    content = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    sealed = _derive_cipher(key, model, organization_id, name).encrypt(_WHOLE, content)
    return {**_keep_plain(model, values), "key_number": key.number, "sealed": sealed}


async def seal_row(session: AsyncSession, row: Any) -> None:
    """Encrypts the columns of an object that the session is about to store."""
    model: SealedModel = type(row)
    values = {column: getattr(row, column) for column in model.sealed_columns}
    name = getattr(row, model.sealed_name)
    (stored,) = await seal_values(session, model, row.organization_id, [(name, values)])
    for column, value in stored.items():
        setattr(row, column, value)


async def open_row(session: AsyncSession, row: Any, *, is_lenient: bool = False) -> dict[str, Any]:
    """Returns the values of the columns of an object, decrypted where they are encrypted. Raises WordsUnreadable (409)
    without the key, unless ``is_lenient``."""
    model: SealedModel = type(row)
    columns = (*model.sealed_columns, model.sealed_name, "organization_id", "key_number", "sealed")
    return await open_values(
        session, model, {column: getattr(row, column) for column in columns}, is_lenient=is_lenient
    )


async def open_values(
    session: AsyncSession, model: SealedModel, row: Mapping[str, Any], *, is_lenient: bool = False
) -> dict[str, Any]:
    """Returns the values of the columns of a row. ``is_lenient``: with the plain parts only, where there is no key."""
    values = {column: row[column] for column in model.sealed_columns}
    if row["key_number"] is None or row["sealed"] is None:
        return values
    keys, organization_id = word_keys_of(session), row["organization_id"]
    try:
        if keys is None:
            raise SecretUnreadable("this process has no keys")
        key = await keys.find_key(session, organization_id, row["key_number"])
        cipher = _derive_cipher(key, model, organization_id, row[model.sealed_name])
        opened: dict[str, Any] = json.loads(cipher.decrypt(_WHOLE, row["sealed"]))
    except SecretUnreadable:
        log.warning("words_unreadable", table=table_name(model), key=row["key_number"])
        if is_lenient:
            return values
        raise WordsUnreadable from None
    return {**values, **opened}


def _keep_plain(model: SealedModel, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what stays in the columns themselves. An object or a list stays one, so that a column that must have a value
    has one."""
    kept: dict[str, Any] = {}
    for column, value in values.items():
        if isinstance(value, Mapping):
            kept[column] = {name: part for name, part in value.items() if name in model.plain_parts}
        else:
            kept[column] = [] if isinstance(value, list) else None
    return kept


def _derive_cipher(key: DataKey, model: SealedModel, organization_id: int, name: object) -> FileCipher:
    return key.derive_cipher(f"{table_name(model)} {name} of organization {organization_id}".encode())
