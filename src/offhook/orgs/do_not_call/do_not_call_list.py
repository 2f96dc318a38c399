"""The do-not-call list: numbers that an organization must not dial, whoever asks for it."""

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import UnprocessableRequest
from offhook.kit.filters.criteria import like_pattern
from offhook.kit.phone_numbers import PhoneNumberInvalid, normalize_e164
from offhook.orgs.errors import DoNotCallEntryNotFound
from offhook.orgs.tables import DoNotCallEntry

SOURCE_MANUAL: Final = "manual"
SOURCE_IMPORT: Final = "import"
SOURCE_CALL: Final = "call"
# Enough to see the pattern of what is wrong with a list, as for contact files.
_MAX_SHOWN_PROBLEMS: Final = 20
_INSERT_BATCH: Final = 1000


class NumbersInvalid(UnprocessableRequest):
    """Some of the numbers cannot be used."""

    code = "phone_numbers_invalid"


@dataclass(frozen=True, slots=True)
class DoNotCallOrigin:
    """Why and by whom numbers are listed. ``run_id`` is the call on which the caller asked for it."""

    source: str = SOURCE_MANUAL
    reason: str | None = None
    run_id: int | None = None
    user_id: int | None = None


async def listed_numbers(session: AsyncSession, organization_id: int, numbers: Collection[str]) -> set[str]:
    """Those of ``numbers`` (E.164) that must not be dialled. One indexed read, whatever their count."""
    if not numbers:
        return set()
    found = await session.scalars(
        select(DoNotCallEntry.phone_number).where(
            DoNotCallEntry.organization_id == organization_id, DoNotCallEntry.phone_number.in_(set(numbers))
        )
    )
    return set(found)


async def add_numbers(
    session: AsyncSession, organization_id: int, numbers: Iterable[str], origin: DoNotCallOrigin
) -> Sequence[DoNotCallEntry]:
    """List ``numbers`` (E.164); the entries that are new. A number that is listed keeps its first entry."""
    # Sorted, so that two requests with the same numbers wait for each other and never lock each other out.
    rows: list[dict[str, Any]] = [
        {
            "organization_id": organization_id,
            "phone_number": number,
            "source": origin.source,
            "reason": origin.reason,
            "run_id": origin.run_id,
            "created_by": origin.user_id,
        }
        for number in sorted(set(numbers))
    ]
    added: list[DoNotCallEntry] = []
    for start in range(0, len(rows), _INSERT_BATCH):
        statement = insert(DoNotCallEntry).values(rows[start : start + _INSERT_BATCH]).on_conflict_do_nothing()
        added += await session.scalars(statement.returning(DoNotCallEntry))
    return added


async def list_entries(
    session: AsyncSession, organization_id: int, *, search: str | None, limit: int, offset: int
) -> tuple[Sequence[DoNotCallEntry], int]:
    """The newest entries first, and how many there are in all; ``search`` is a part of the number."""
    conditions = [DoNotCallEntry.organization_id == organization_id]
    if search:
        conditions.append(DoNotCallEntry.phone_number.like(like_pattern(search)))
    total = await session.scalar(select(func.count()).select_from(DoNotCallEntry).where(*conditions))
    entries = await session.scalars(
        select(DoNotCallEntry).where(*conditions).order_by(DoNotCallEntry.id.desc()).limit(limit).offset(offset)
    )
    return entries.all(), total or 0


async def remove_entry(
    session: AsyncSession, organization_id: int, *, entry_id: int | None = None, number: str | None = None
) -> DoNotCallEntry:
    """Take a number off the list, by its entry or by itself (E.164); :class:`DoNotCallEntryNotFound` (404)."""
    which = DoNotCallEntry.id == entry_id if entry_id is not None else DoNotCallEntry.phone_number == number
    removed: DoNotCallEntry | None = await session.scalar(
        delete(DoNotCallEntry).where(DoNotCallEntry.organization_id == organization_id, which).returning(DoNotCallEntry)
    )
    if removed is None:
        raise DoNotCallEntryNotFound
    return removed


async def normalize_numbers(texts: Sequence[str]) -> list[str]:
    """Numbers as people write them (with a country code) in E.164 form, in order and each once.

    Raises :class:`NumbersInvalid` (422), which names the first ones that are wrong; then none is to be used.
    """
    # 16 µs each: a long list would hold up the voices of this process.
    return await asyncio.to_thread(_normalize_numbers, texts)


def _normalize_numbers(texts: Sequence[str]) -> list[str]:
    numbers: dict[str, None] = {}
    problems: list[dict[str, Any]] = []
    count = 0
    for index, text in enumerate(texts):
        try:
            numbers[normalize_e164(text)] = None
        except PhoneNumberInvalid as error:
            count += 1
            if len(problems) < _MAX_SHOWN_PROBLEMS:
                problems.append({"loc": ["body", "phone_numbers", index], "msg": error.message, "type": error.code})
    if problems:
        raise NumbersInvalid(f"{count} of {len(texts)} numbers are not phone numbers.", detail=problems)
    return list(numbers)
