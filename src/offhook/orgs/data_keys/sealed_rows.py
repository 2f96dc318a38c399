"""Encrypts columns of rows with the newest key of their organization, like the transcripts of calls."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import structlog
from sqlalchemy import LargeBinary
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from offhook.kit.crypto import DataKey, FileCipher, SecretUnreadable
from offhook.kit.database.database import Base
from offhook.nodes.queries import FIRST_SEALED_LEVEL
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.orgs.errors import WordsUnreadable

_WHOLE: Final = 0
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SealedPart:
    """Columns of a table of organizations that can be encrypted. Their values are encrypted together in ``sealed_column``; of
    objects, the parts that ``plain_parts`` names also stay in their own columns, for statements that need them.
    ``name_column`` binds the values to their row: it is known before they are stored and never changes. ``level``: what a
    process says in its beat when it can read them."""

    table: str
    columns: tuple[str, ...]
    name_column: str
    plain_parts: frozenset[str] = frozenset()
    key_column: str = "key_number"
    sealed_column: str = "sealed"
    level: int = FIRST_SEALED_LEVEL

    @property
    def label(self) -> str:
        """Names it beside other parts of its table."""
        return self.table if self.sealed_column == "sealed" else f"{self.table} {self.sealed_column}"

    @property
    def own_columns(self) -> tuple[str, ...]:
        """Returns the columns that there are for encryption only."""
        return (self.key_column, self.sealed_column)


class SealedRow:
    """Mixin of tables with one such part."""

    sealed_parts: ClassVar[tuple[SealedPart, ...]]

    key_number: Mapped[int | None]
    sealed: Mapped[bytes | None] = mapped_column(LargeBinary)


def list_sealed_parts() -> list[SealedPart]:
    """Returns the parts of all tables, by their names."""
    found = [part for mapper in Base.registry.mappers for part in getattr(mapper.class_, "sealed_parts", ())]
    return sorted(found, key=lambda part: part.label)


async def seal_values(
    session: AsyncSession,
    part: SealedPart,
    organization_id: int,
    rows: Sequence[tuple[object, Mapping[str, Any]]],
    *,
    is_strict: bool = False,
) -> list[dict[str, Any]]:
    """Returns the columns to store for rows that are given by name and values: encrypted, or as they are where nothing is
    encrypted. Where the key cannot be opened, only the plain parts are stored; ``is_strict`` raises WordsUnreadable (409)
    instead."""
    plain = [{**values, part.key_column: None, part.sealed_column: None} for _, values in rows]
    keys = word_keys_of(session)
    if not any(has_words(part, values) for _, values in rows) or keys is None:
        return plain
    # The session may hold words that are to be encrypted: nothing that it holds is stored for these statements.
    with session.no_autoflush:
        if not await keys.is_sealing(session, part.level):
            return plain
        try:
            key = await keys.keys.get_newest(session, organization_id, is_kept=True)
        except SecretUnreadable:
            log.error("words_not_encrypted", organization_id=organization_id, table=part.label)
            if is_strict:
                raise WordsUnreadable from None
            return [{**values, **_keep_plain(part, values)} for values in plain]
    return [seal_with(key, part, organization_id, name, values) for name, values in rows]


def seal_with(
    key: DataKey, part: SealedPart, organization_id: int, name: object, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the columns to store for one row, encrypted with this key."""
    content = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    sealed = _derive_cipher(key, part, organization_id, name).encrypt(_WHOLE, content)
    return {**_keep_plain(part, values), part.key_column: key.number, part.sealed_column: sealed}


async def seal_row(session: AsyncSession, row: Any, part: SealedPart | None = None, *, is_strict: bool = False) -> None:
    """Encrypts the columns of an object that the session is about to store; ``part``: where its table has several."""
    sealed = part or _only_part(row)
    values = {column: getattr(row, column) for column in sealed.columns}
    named = [(getattr(row, sealed.name_column), values)]
    (stored,) = await seal_values(session, sealed, row.organization_id, named, is_strict=is_strict)
    for column, value in stored.items():
        setattr(row, column, value)


async def open_row(
    session: AsyncSession, row: Any, part: SealedPart | None = None, *, is_lenient: bool = False
) -> dict[str, Any]:
    """Returns the values of the columns of an object, decrypted where they are encrypted. Raises WordsUnreadable (409)
    without the key, unless ``is_lenient``."""
    sealed = part or _only_part(row)
    columns = (*sealed.columns, sealed.name_column, "organization_id", *sealed.own_columns)
    return await open_values(
        session, sealed, {column: getattr(row, column) for column in columns}, is_lenient=is_lenient
    )


async def open_values(
    session: AsyncSession, part: SealedPart, row: Mapping[str, Any], *, is_lenient: bool = False
) -> dict[str, Any]:
    """Returns the values of the columns of a row. ``is_lenient``: with the plain parts only, where there is no key."""
    values = {column: row[column] for column in part.columns}
    number, sealed = row[part.key_column], row[part.sealed_column]
    # A process that cannot read what is encrypted has written words since, after a return to its version.
    if number is None or sealed is None or has_words(part, values):
        return values
    keys, organization_id = word_keys_of(session), row["organization_id"]
    try:
        if keys is None:
            raise SecretUnreadable("this process has no keys")
        key = await keys.find_key(session, organization_id, number)
        cipher = _derive_cipher(key, part, organization_id, row[part.name_column])
        opened: dict[str, Any] = json.loads(cipher.decrypt(_WHOLE, sealed))
    except SecretUnreadable:
        log.warning("words_unreadable", table=part.label, key=number)
        if is_lenient:
            return values
        raise WordsUnreadable from None
    return {**values, **opened}


def has_words(part: SealedPart, values: Mapping[str, Any]) -> bool:
    """Returns whether the values have more than what stays plain."""
    return _keep_plain(part, values) != {column: values[column] for column in part.columns}


def _only_part(row: Any) -> SealedPart:
    parts: tuple[SealedPart, ...] = type(row).sealed_parts
    (part,) = parts
    return part


def _keep_plain(part: SealedPart, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what stays in the columns themselves. An object or a list stays one, so that a column that must have a value
    has one."""
    kept: dict[str, Any] = {}
    for column in part.columns:
        value = values[column]
        if isinstance(value, Mapping):
            kept[column] = {name: item for name, item in value.items() if name in part.plain_parts}
        else:
            kept[column] = [] if isinstance(value, list) else None
    return kept


def _derive_cipher(key: DataKey, part: SealedPart, organization_id: int, name: object) -> FileCipher:
    return key.derive_cipher(f"{part.label} {name} of organization {organization_id}".encode())
