"""The do-not-call list: numbers that an organization must not dial, regardless of the request's origin."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.errors import UnprocessableRequest
from offhook.kit.phone_numbers import PhoneNumberInvalid, normalize_e164
from offhook.orgs.do_not_call import repository
from offhook.orgs.errors import DoNotCallEntryNotFound
from offhook.orgs.tables import DoNotCallEntry

SOURCE_MANUAL: Final = "manual"
SOURCE_IMPORT: Final = "import"
SOURCE_CALL: Final = "call"
# Enough to see a pattern in an invalid list, as for contact files.
_MAX_SHOWN_PROBLEMS: Final = 20
_INSERT_BATCH: Final = 1000


class NumbersInvalid(UnprocessableRequest):
    """Some of the phone numbers are invalid."""

    code = "phone_numbers_invalid"


class _NumberProblem(TypedDict):
    loc: list[str | int]
    msg: str
    type: str


@dataclass(frozen=True, slots=True)
class DoNotCallOrigin:
    """The reason for a listing and its author. ``run_id`` is the call on which the caller asked for it."""

    source: str = SOURCE_MANUAL
    reason: str | None = None
    run_id: int | None = None
    user_id: int | None = None


async def listed_numbers(session: AsyncSession, organization_id: int, numbers: Collection[str]) -> set[str]:
    """Returns the ``numbers`` (E.164) that must not be dialed, with one indexed read for any count."""
    return await repository.find_listed(session, organization_id, numbers) if numbers else set()


async def entries_of_run(session: AsyncSession, organization_id: int, run_id: int) -> Sequence[DoNotCallEntry]:
    """Returns the entries that a caller asked for on this call."""
    return await repository.find_entries_of_run(session, organization_id, run_id)


async def add_numbers(
    session: AsyncSession, organization_id: int, numbers: Iterable[str], origin: DoNotCallOrigin
) -> Sequence[DoNotCallEntry]:
    """Lists ``numbers`` (E.164) and returns the new entries. A listed number keeps its first entry."""
    # Sorted, so that two requests with the same numbers wait for each other instead of deadlocking.
    rows = [
        {
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
        added += await repository.insert_entries(session, organization_id, rows[start : start + _INSERT_BATCH])
    return added


async def remove_entry(
    session: AsyncSession, organization_id: int, *, entry_id: int | None = None, number: str | None = None
) -> DoNotCallEntry:
    """Removes a number by its entry or by itself (E.164); raises :class:`DoNotCallEntryNotFound` (404)."""
    removed = await repository.delete_entry(session, organization_id, entry_id=entry_id, number=number)
    if removed is None:
        raise DoNotCallEntryNotFound
    return removed


def normalize_numbers(texts: Sequence[str]) -> list[str]:
    """Converts numbers as people write them (with a country code) to E.164, in order and without duplicates.

    Raises :class:`NumbersInvalid` (422) with the first invalid ones; then none of them is usable. Call it in a thread:
    at 16 µs each, a long list would delay this process's audio.
    """
    numbers: dict[str, None] = {}
    problems: list[_NumberProblem] = []
    count = 0
    for index, text in enumerate(texts):
        try:
            numbers[normalize_e164(text)] = None
        except PhoneNumberInvalid as error:
            count += 1
            if len(problems) < _MAX_SHOWN_PROBLEMS:
                problems.append({"loc": ["body", "phone_numbers", index], "msg": error.message, "type": error.code})
    if problems:
        raise NumbersInvalid(f"{count} of {len(texts)} phone numbers are invalid.", detail=problems)
    return list(numbers)
