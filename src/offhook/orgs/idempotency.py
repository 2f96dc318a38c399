"""A request that may be sent twice acts once: the ``Idempotency-Key`` header of POSTs that dial or cost money.

A phone must never ring twice for one request, so a key is taken in a transaction of its own before anything happens,
and only an action that *raised* gives it back. When the process died in between, nobody knows whether the phone rang:
such a key never runs again, the client is told to look for the run, and to take a new key if there is none.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Annotated, Any

from fastapi import Header
from sqlalchemy import Interval, delete, func, select, type_coerce, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.orgs.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    IdempotencyKeyInvalid,
    IdempotencyOutcomeUnknown,
)
from offhook.orgs.tables import IdempotencyKey

KEY_LIFETIME = timedelta(hours=24)
# No action takes this long: carriers are given far less time to answer.
MAX_IN_PROGRESS = timedelta(seconds=60)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_PLAIN_SCOPE = re.compile(r"[\x21-\x7e]{1,100}")

IdempotencyHeader = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="The same key and body within 24 h act once and get the same answer"),
]
Answer = dict[str, Any]


async def run_idempotent(
    db: Database,
    *,
    organization_id: int,
    scope: str,
    key: str | None,
    body: bytes | dict[str, Any],
    action: Callable[[], Awaitable[Answer]],
) -> Answer:
    """The answer of ``action``, or the answer it gave when this key was first used in this scope.

    ``action`` opens its own transactions and answers plain JSON. Without a key it simply runs. It may raise only while
    it is sure that it has not acted (a refused dial); the key is then free again.

    Raises 409: ``IdempotencyConflict`` for another body, ``IdempotencyInProgress`` while the first request runs,
    ``IdempotencyOutcomeUnknown`` when it was interrupted. 422: ``IdempotencyKeyInvalid``.
    """
    if key is None:
        return await action()
    if not _KEY.fullmatch(key):
        raise IdempotencyKeyInvalid
    taken = await _claim_key(db, organization_id, _shorten_scope(scope), key, _hash_body(body))
    if isinstance(taken, dict):
        return taken
    async with _ReleaseOnError(db, taken):
        answer = await action()
    async with db.transaction() as session:
        await session.execute(update(IdempotencyKey).where(IdempotencyKey.id == taken).values(response=answer))
    return answer


async def delete_expired_keys(db: Database) -> int:
    """Remove keys that have served their 24 hours; how many there were."""
    async with db.transaction() as session:
        gone = await session.scalars(
            delete(IdempotencyKey)
            .where(IdempotencyKey.created_at < func.now() - KEY_LIFETIME)
            .returning(IdempotencyKey.id)
        )
        return len(gone.all())


def _shorten_scope(scope: str) -> str:
    """The scope as its column takes it: one that is too long or strange, as parts of paths may be, by its checksum."""
    if _PLAIN_SCOPE.fullmatch(scope):
        return scope
    return f"sha256:{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _hash_body(body: bytes | dict[str, Any]) -> bytes:
    if isinstance(body, dict):
        body = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str).encode()
    return hashlib.sha256(body).digest()


async def _claim_key(db: Database, organization_id: int, scope: str, key: str, fingerprint: bytes) -> int | Answer:
    """The id of the row that now belongs to this request, or the first request's answer."""
    async with db.transaction() as session:
        mine = (
            insert(IdempotencyKey)
            .values(organization_id=organization_id, scope=scope, key=key, body_sha256=fingerprint)
            .on_conflict_do_nothing()
            .returning(IdempotencyKey.id)
        )
        inserted = await session.scalar(mine)
        if inserted is not None:
            return inserted
        return await _resolve_existing(session, organization_id, scope, key, fingerprint)


async def _resolve_existing(
    session: AsyncSession, organization_id: int, scope: str, key: str, fingerprint: bytes
) -> int | Answer:
    statement = (
        select(IdempotencyKey, type_coerce(func.now() - IdempotencyKey.created_at, Interval))
        .where(
            IdempotencyKey.organization_id == organization_id,
            IdempotencyKey.scope == scope,
            IdempotencyKey.key == key,
        )
        .with_for_update(of=IdempotencyKey)
    )
    row = (await session.execute(statement)).first()
    if row is None:  # freed between our INSERT and our SELECT: the client may simply try again
        raise IdempotencyInProgress(headers={"Retry-After": "1"})
    record, age = row
    if age >= KEY_LIFETIME:
        record.body_sha256, record.response, record.created_at = fingerprint, None, func.now()
        await session.flush()
        return int(record.id)
    if record.body_sha256 != fingerprint:
        raise IdempotencyConflict
    if record.response is not None:
        return dict(record.response)
    if age >= MAX_IN_PROGRESS:
        raise IdempotencyOutcomeUnknown
    raise IdempotencyInProgress(headers={"Retry-After": "1"})


@dataclass
class _ReleaseOnError:
    """Gives the key back when the action raised; a cancelled action may have acted, so its key stays taken."""

    db: Database
    row_id: int

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            async with self.db.transaction() as session:
                await session.execute(delete(IdempotencyKey).where(IdempotencyKey.id == self.row_id))
