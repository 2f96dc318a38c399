"""Idempotency: the ``Idempotency-Key`` header makes a repeated POST that dials or costs money act once.

A phone must never ring twice for one request, so a key is claimed in its own transaction before anything happens, and
only an action that *raised* releases it. When the process dies in between, it is unknown if the phone rang: such a key
never runs again, and the client must look for the run and use a new key if there is none.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, TypeVar

from fastapi import Header
from pydantic import BaseModel

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import repository
from offhook.orgs.errors import (
    IdempotencyConflict,
    IdempotencyInProgress,
    IdempotencyKeyInvalid,
    IdempotencyOutcomeUnknown,
)

KEY_LIFETIME = timedelta(hours=24)
# No action takes this long: carriers have far less time to answer.
MAX_IN_PROGRESS = timedelta(seconds=60)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_PLAIN_SCOPE = re.compile(r"[\x21-\x7e]{1,100}")

IdempotencyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="Requests with the same key and body within 24 hours act once and return the same response",
    ),
]
Answer = JsonObject
AnswerModel = TypeVar("AnswerModel", bound=BaseModel)


async def run_idempotent(
    db: Database,
    *,
    organization_id: int,
    scope: str,
    key: str | None,
    body: bytes | JsonObject,
    action: Callable[[], Awaitable[Answer]],
) -> Answer:
    """Returns the answer of ``action``, or its answer when this key was first used in this scope.

    ``action`` opens its own transactions and returns plain JSON. Without a key it simply runs. It may raise only when
    it certainly has not acted (a refused dial); the key is then free again.

    Raises 409: ``IdempotencyConflict`` for another body, ``IdempotencyInProgress`` while the first request runs,
    ``IdempotencyOutcomeUnknown`` when it was interrupted. 422: ``IdempotencyKeyInvalid``.
    """
    if key is None:
        return await action()
    if not _KEY.fullmatch(key):
        raise IdempotencyKeyInvalid
    if not _PLAIN_SCOPE.fullmatch(scope):  # too long for its column, or not ASCII
        scope = f"sha256:{hashlib.sha256(scope.encode('utf-8', 'surrogatepass')).hexdigest()}"
    if isinstance(body, dict):
        body = json.dumps(body, sort_keys=True, separators=(",", ":"), default=str).encode()
    claimed = await _claim_key(db, organization_id, scope, key, hashlib.sha256(body).digest())
    if isinstance(claimed, dict):
        return claimed
    try:
        answer = await action()
    except Exception:
        # A canceled action may have acted, so its key stays taken.
        async with db.transaction() as session:
            await repository.delete_idempotency_key(session, organization_id, claimed)
        raise
    async with db.transaction() as session:
        await repository.store_idempotent_response(session, organization_id, claimed, answer)
    return answer


async def answer_idempotent(
    db: Database,
    answer_model: type[AnswerModel],
    *,
    organization_id: int,
    scope: str,
    key: str | None,
    body: BaseModel | None,
    action: Callable[[], Awaitable[AnswerModel]],
) -> AnswerModel:
    """``run_idempotent`` for a request and an answer that are models; raises what it raises."""

    async def act() -> JsonObject:
        return (await action()).model_dump(mode="json")

    answer = await run_idempotent(
        db,
        organization_id=organization_id,
        scope=scope,
        key=key,
        body={} if body is None else body.model_dump(mode="json"),
        action=act,
    )
    return answer_model.model_validate(answer)


async def _claim_key(db: Database, organization_id: int, scope: str, key: str, fingerprint: bytes) -> int | Answer:
    """Returns the id of the row that now belongs to this request, or the first request's answer."""
    async with db.transaction() as session:
        row_id = await repository.insert_idempotency_key(session, organization_id, scope, key, fingerprint)
        if row_id is not None:
            return row_id
        row = await repository.lock_idempotency_key(session, organization_id, scope, key)
        if row is None:  # released between our INSERT and our SELECT: the client may retry
            raise IdempotencyInProgress(headers={"Retry-After": "1"})
        record, age = row
        if age >= KEY_LIFETIME:
            await repository.restart_idempotency_key(session, record, fingerprint)
            return record.id
        if record.body_sha256 != fingerprint:
            raise IdempotencyConflict
        if record.response is not None:
            return record.response
        if age >= MAX_IN_PROGRESS:
            raise IdempotencyOutcomeUnknown
        raise IdempotencyInProgress(headers={"Retry-After": "1"})
