"""Recorded answers of an installation's agents, encrypted with their organizations' keys."""

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import DataKey, SecretUnreadable
from offhook.kit.database.database import Database
from offhook.models.ports import ToolCalled
from offhook.orgs.data_keys.keys import DataKeys
from offhook.scenarios.answers import queries
from offhook.scenarios.answers.files import AnswersFile
from offhook.scenarios.answers.questions import MODEL_FAILED
from offhook.scenarios.answers.recorded import MAX_ANSWER_BYTES, KeptAnswer, RecordedAnswer
from offhook.scenarios.engine.outside_models import AnswerRefused
from offhook.scenarios.tables import ScenarioAnswer

# Of one agent.
MAX_ANSWERS: Final = 10_000
MAX_BYTES: Final = 32 * 1024 * 1024
FULL: Final = "recording_full"
_SALT_BYTES: Final = 16
_BATCH: Final = 50
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """What is recorded of an agent."""

    count: int
    size_bytes: int
    recorded_at: datetime | None


class AnswerStore:
    """The recorded answers of an installation."""

    def __init__(self, db: Database, keys: DataKeys) -> None:
        self._db = db
        self._keys = keys

    def of_agent(self, organization_id: int, workflow_id: int) -> "AgentAnswers":
        return AgentAnswers(self._db, self._keys, organization_id, workflow_id)

    async def count_answers(self, session: AsyncSession, organization_id: int, workflow_id: int) -> AnswerCount:
        return AnswerCount(*await queries.count_answers(session, organization_id, workflow_id))

    async def export_answers(self, session: AsyncSession, organization_id: int, workflow_id: int) -> AnswersFile:
        """Returns an agent's answers as a file. One that cannot be decrypted is left out."""
        file = AnswersFile()
        for row in await queries.list_answers(session, organization_id, workflow_id):
            try:
                answer = await _open(session, self._keys, row)
            except SecretUnreadable:
                continue
            await file.keep_answer(KeptAnswer(row.request_hash, row.occurrence, answer, row.asked, row.model))
        return file

    async def delete_older(self, organization_id: int, workflow_id: int | None, before: datetime) -> int:
        """Deletes answers that were recorded before this time."""
        async with self._db.transaction() as session:
            return await queries.delete_answers(session, organization_id, workflow_id, before)

    async def delete_mentions(
        self,
        organization_id: int,
        is_mentioned: Callable[[Any], bool],
        on_deleted: Callable[[AsyncSession, int], Awaitable[None]],
    ) -> None:
        """Deletes the answers whose words or tool calls mention a person, and those that cannot be read. Calls
        ``on_deleted`` with their number in the same transaction."""
        last = 0
        while True:
            async with self._db.transaction() as session:
                rows = await queries.list_after(session, organization_id, last, limit=_BATCH)
                mentions = [row for row in rows if await self._is_mentioned(session, row, is_mentioned)]
                for row in mentions:
                    await queries.delete_answer(session, organization_id, row.id)
                if mentions:
                    await on_deleted(session, len(mentions))
            if len(rows) < _BATCH:
                return
            last = rows[-1].id

    async def _is_mentioned(
        self, session: AsyncSession, row: ScenarioAnswer, is_mentioned: Callable[[Any], bool]
    ) -> bool:
        try:
            answer = await _open(session, self._keys, row)
        except SecretUnreadable:
            return True
        called = [piece.event.call.arguments for piece in answer.pieces if isinstance(piece.event, ToolCalled)]
        return is_mentioned([answer.text, *called])

    async def seal_again(self, organization_id: int) -> None:
        """Encrypts answers with the organization's newest key."""
        while True:
            async with self._db.transaction() as session:
                if await self.seal_batch(session, organization_id) < _BATCH:
                    return

    async def seal_batch(self, session: AsyncSession, organization_id: int) -> int:
        """Encrypts some answers with the newest key, and returns how many had an older one."""
        newest = await self._keys.get_newest(session, organization_id)
        older = await queries.list_with_older_keys(session, organization_id, newest.number, limit=_BATCH)
        for row in older:
            try:
                answer = await _open(session, self._keys, row)
            except SecretUnreadable:
                # nobody can read it, now or later
                await queries.delete_answer(session, organization_id, row.id)
                continue
            sealed = _seal(newest, row, answer)
            await queries.replace_sealed(session, organization_id, row.id, newest.number, sealed)
        return len(older)


class AgentAnswers:
    """Implements RecordedAnswers for one agent. Each answer is a transaction of its own: what was paid for is kept."""

    def __init__(self, db: Database, keys: DataKeys, organization_id: int, workflow_id: int) -> None:
        self._db = db
        self._keys = keys
        self._organization_id = organization_id
        self._workflow_id = workflow_id

    async def find_answer(self, name: str, occurrence: int) -> RecordedAnswer | None:
        async with self._db.transaction() as session:
            row = await queries.find_answer(session, self._organization_id, self._workflow_id, name, occurrence)
            if row is None:
                return None
            try:
                return await _open(session, self._keys, row)
            except SecretUnreadable:
                log.warning("recorded_answer_unreadable", workflow_id=self._workflow_id)
                return None

    async def keep_answer(self, kept: KeptAnswer) -> RecordedAnswer:
        async with self._db.transaction() as session:
            count, size, _ = await queries.count_answers(session, self._organization_id, self._workflow_id)
            if count >= MAX_ANSWERS or size >= MAX_BYTES:
                raise AnswerRefused(
                    FULL, f"an agent keeps {MAX_ANSWERS} recorded answers, and at most 32 MB. Delete those that it has."
                )
            key = await self._keys.get_newest(session, self._organization_id, is_kept=True)
            row = ScenarioAnswer(
                organization_id=self._organization_id,
                workflow_id=self._workflow_id,
                request_hash=kept.name,
                occurrence=kept.occurrence,
                key_number=key.number,
                asked=kept.asked,
                model=kept.model,
            )
            row.sealed = _seal(key, row, kept.answer)
            if len(row.sealed) > MAX_ANSWER_BYTES:
                raise AnswerRefused(MODEL_FAILED, "the answer is too long to be recorded.")
            await queries.add_answer(session, row)
        # of two plays that asked at once, both go on with the answer that is kept
        return await self.find_answer(kept.name, kept.occurrence) or kept.answer


async def _open(session: AsyncSession, keys: DataKeys, row: ScenarioAnswer) -> RecordedAnswer:
    key = await keys.find_key(session, row.organization_id, row.key_number)
    plain = key.derive_cipher(_salt(row, row.sealed[:_SALT_BYTES])).decrypt(0, row.sealed[_SALT_BYTES:])
    return RecordedAnswer.from_json(json.loads(plain))


def _seal(key: DataKey, row: ScenarioAnswer, answer: RecordedAnswer) -> bytes:
    random = os.urandom(_SALT_BYTES)
    return random + key.derive_cipher(_salt(row, random)).encrypt(0, json.dumps(answer.as_json()).encode())


def _salt(row: ScenarioAnswer, random: bytes) -> bytes:
    # with what it answers: an answer to another request, or of another agent, does not pass for this one
    owner = f"of agent {row.workflow_id} of organization {row.organization_id}"
    return random + f"answer {row.occurrence} to {row.request_hash} {owner}".encode()
