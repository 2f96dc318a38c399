"""Bulk inserts of contacts: PostgreSQL's COPY in the session's transaction, read in batches."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.kit.json_values import ReadableJsonObject

COPY_BATCH: Final = 5000
_CHUNK_BYTES: Final = 256 * 1024
_LINE_COLUMNS: Final = ("campaign_id", "organization_id", "due_at", "row_number", "phone_number", "variables")
_RECORD_COLUMNS: Final = ("campaign_id", "organization_id", "row_number", "phone_number", "variables", "due_at")


@dataclass(frozen=True, slots=True)
class NewContact:
    """A contact: ``phone_number`` in E.164, ``variables`` the other columns, ``row_number`` the CSV's, from 1."""

    row_number: int
    phone_number: str
    variables: ReadableJsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckedContacts:
    """A file without errors: ``lines`` is in PostgreSQL's COPY format (``row, number, variables``)."""

    lines: Path
    columns: tuple[str, ...]
    contacts: int


async def insert_contacts(
    session: AsyncSession, organization_id: int, campaign_id: int, contacts: Iterable[NewContact], now: datetime
) -> int:
    """Inserts contacts and returns how many. ``contacts`` may be a generator: it is read in batches and never kept.

    Raises IntegrityError for a number that the campaign already has.
    """
    rows, total = iter(contacts), 0
    driver = await _driver_connection(session)
    while batch := list(islice(rows, COPY_BATCH)):
        records = [
            (campaign_id, organization_id, c.row_number, c.phone_number, json.dumps(c.variables), now) for c in batch
        ]
        await driver.copy_records_to_table("campaign_contacts", records=records, columns=_RECORD_COLUMNS)
        total += len(records)
    await repository.analyze_contacts(session, total)
    return total


async def insert_checked_file(
    session: AsyncSession, organization_id: int, campaign_id: int, checked: CheckedContacts, now: datetime
) -> None:
    """Inserts the contacts of a checked file."""
    prefix = f"{campaign_id}\t{organization_id}\t{now.isoformat()}\t".encode()
    driver = await _driver_connection(session)
    await driver.copy_to_table("campaign_contacts", source=_prefix_lines(checked.lines, prefix), columns=_LINE_COLUMNS)
    await repository.analyze_contacts(session, checked.contacts)


async def _driver_connection(session: AsyncSession) -> Any:
    return (await (await session.connection()).get_raw_connection()).driver_connection


async def _prefix_lines(path: Path, prefix: bytes) -> AsyncIterator[bytes]:
    """Yields the file with ``prefix`` before every line; a line break within a cell is written as two characters."""
    with path.open("rb") as file:
        is_at_start = True
        while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
            body = chunk[:-1].replace(b"\n", b"\n" + prefix) + chunk[-1:]
            yield prefix + body if is_at_start else body
            is_at_start = chunk.endswith(b"\n")
