"""Encrypts what is said in calls, event by event, with the key of their organization, and reads it again."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey, FileCipher, SecretUnreadable
from offhook.kit.json_values import JsonObject
from offhook.orgs.data_keys.word_keys import word_keys_of
from offhook.orgs.errors import WordsUnreadable
from offhook.runs.records.retention_queries import FACTS
from offhook.voice.events import is_timing

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
log = structlog.get_logger(__name__)


class SealedData(NamedTuple):
    """The data of an event as it is stored: plain, or its facts and the whole of it encrypted."""

    data_json: str
    key_number: int | None = None
    sealed: bytes | None = None


class EventRow(Protocol):
    """The columns of an event that :func:`open_events` reads."""

    @property
    def run_id(self) -> int: ...

    @property
    def data(self) -> JsonObject: ...

    @property
    def created_at(self) -> datetime: ...

    @property
    def key_number(self) -> int | None: ...

    @property
    def sealed(self) -> bytes | None: ...


def is_fact(name: str, part: object) -> bool:
    """Returns whether a part of an event's data has no words in it."""
    if name == "timing":
        return is_timing(part)
    return name == "node_id" or isinstance(part, bool | float) or (isinstance(part, int) and name != "digits")


class RunCipher:
    """Encrypts the events of one run. An event is bound to its run and its time, so that it does not pass for another."""

    def __init__(self, key: DataKey, organization_id: int, run_id: int) -> None:
        self._number = key.number
        self._cipher: FileCipher = key.derive_cipher(
            f"events of run {run_id} of organization {organization_id}".encode()
        )

    def seal(self, data_json: str, created_at: datetime) -> SealedData:
        data: Mapping[str, Any] = json.loads(data_json)
        facts = {name: part for name, part in data.items() if is_fact(name, part)}
        sealed = self._cipher.encrypt(_place(created_at), data_json.encode())
        return SealedData(json.dumps(facts), self._number, sealed)

    def open(self, sealed: bytes, created_at: datetime) -> JsonObject:
        """Raises SecretUnreadable."""
        data: JsonObject = json.loads(self._cipher.decrypt(_place(created_at), sealed))
        return data


def drop_words(data_json: str) -> SealedData:
    """Returns only the facts: for words that cannot be encrypted, and must not be stored plain."""
    data: Mapping[str, Any] = json.loads(data_json)
    return SealedData(json.dumps({name: part for name, part in data.items() if is_fact(name, part)}))


def has_words(event_type: str) -> bool:
    return event_type not in FACTS


async def open_events(
    session: AsyncSession, organization_id: int, rows: Sequence[EventRow], *, is_lenient: bool = False
) -> list[JsonObject]:
    """Returns the data of events, decrypted where they are encrypted.

    Raises WordsUnreadable (409) without the key; ``is_lenient`` leaves such events with their facts.
    """
    keys = word_keys_of(session)
    ciphers: dict[tuple[int, int], RunCipher | None] = {}
    opened: list[JsonObject] = []
    for row in rows:
        data = row.data
        if row.key_number is not None and row.sealed is not None:
            place = (row.key_number, row.run_id)
            try:
                if place not in ciphers:
                    ciphers[place] = None
                    if keys is None:
                        raise SecretUnreadable("this process has no keys")
                    key = await keys.find_key(session, organization_id, row.key_number)
                    ciphers[place] = RunCipher(key, organization_id, row.run_id)
                cipher = ciphers[place]
                if cipher is not None:
                    data = cipher.open(row.sealed, row.created_at)
                elif not is_lenient:
                    raise WordsUnreadable
            except SecretUnreadable:
                log.warning("words_unreadable", run_id=row.run_id, key=row.key_number)
                if not is_lenient:
                    raise WordsUnreadable from None
        opened.append(data)
    return opened


def _place(created_at: datetime) -> int:
    return (created_at - _EPOCH) // _MICROSECOND
