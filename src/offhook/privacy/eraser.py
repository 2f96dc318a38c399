"""Erases everything about one number, in short transactions; each step can be repeated."""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.intake.contact_files import FOLDER as CONTACT_FILES
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, FileStore
from offhook.knowledge.uploads import STORAGE_FOLDER as DOCUMENTS
from offhook.orgs import Caller
from offhook.orgs.audit_trail.sealing import reopen_chain
from offhook.orgs.data_keys.row_sealer import rewrite_rows
from offhook.orgs.data_keys.sealed_rows import list_sealed_parts
from offhook.privacy import statements
from offhook.privacy.contact_rows import remove_rows
from offhook.privacy.errors import NumberInCall
from offhook.privacy.number_forms import NumberForms
from offhook.privacy.places import DELETED_ROWS, EMPTIED, SearchedTable, list_searched_tables
from offhook.runs.records import encrypted_words
from offhook.runs.records.deletion import BATCH, ErasedRuns, RunEraser
from offhook.scenarios.answers.store import AnswerStore

RUN_BATCH: Final = 1000
# PDF and Word files: compressed, so that the number does not stand in their bytes.
_BINARY_MARKS: Final = (b"%PDF", b"PK\x03\x04")


@dataclass(frozen=True, slots=True)
class ErasureProgress:
    """``counts``: what was erased so far, by kind. ``save_counts`` stores them with each part of it, in the same
    transaction: a worker that is killed leaves no gap in the receipt. ``begin_file`` notes the file that is rewritten next,
    and returns False when it was noted before."""

    counts: Counter[str]
    save_counts: Callable[[AsyncSession], Awaitable[None]]
    begin_file: Callable[[AsyncSession, str], Awaitable[bool]]


class NumberEraser:
    """Erases one number of the caller's organization."""

    def __init__(
        self,
        db: Database,
        storage: FileStore,
        runs: RunEraser,
        answers: AnswerStore,
        *,
        caller: Caller,
        forms: NumberForms,
        progress: ErasureProgress,
    ) -> None:
        self._db = db
        self._storage = storage
        self._runs = runs
        self._answers = answers
        self._caller = caller
        self._organization_id = caller.organization_id
        self._forms = forms
        self._progress = progress
        self._counts = progress.counts

    async def erase_runs(self) -> None:
        """Deletes the runs about the number. Raises NumberInCall (409) when one of them is not over."""
        while True:
            async with self._db.transaction() as session:
                if await statements.has_live_call(session, self._organization_id, self._forms.exact_forms):
                    raise NumberInCall
                run_ids = await statements.find_runs(
                    session, self._organization_id, self._forms.exact_forms, limit=BATCH
                )
                if not run_ids:
                    return
                self._counts["webhook_events"] += await statements.empty_webhook_events(
                    session, self._organization_id, run_ids
                )
                await self._progress.save_counts(session)
            await self._runs.erase_runs(self._organization_id, run_ids, on_erased=self._count_runs)

    async def _count_runs(self, session: AsyncSession, erased: ErasedRuns) -> None:
        self._counts.update(runs=erased.runs, events=erased.events, recordings=erased.recordings)
        await self._progress.save_counts(session)

    async def erase_rows(self) -> None:
        """Deletes contacts, refused calls and other rows about the number, and jobs that name it."""
        async with self._db.transaction() as session:
            for name, columns in DELETED_ROWS.items():
                self._counts[name] += await statements.delete_rows(
                    session, self._organization_id, name, columns, self._forms.exact_forms
                )
            self._counts["jobs"] += await statements.delete_jobs(
                session, self._organization_id, self._forms.search_pattern
            )
            await self._progress.save_counts(session)

    async def erase_contact_file_rows(self) -> None:
        """Removes the number's rows from uploaded contact files."""
        await self._rewrite_files(CONTACT_FILES, remove_rows, "contact_file_rows")

    async def erase_in_documents(self) -> None:
        """Erases the number in documents that are plain text. Those of other kinds stay as they are."""
        await self._rewrite_files(DOCUMENTS, _erase_from_document, "documents")

    async def erase_mentions(self) -> None:
        """Erases the number in the texts of all rows that stay."""
        for searched in list_searched_tables():
            if searched.is_of_runs:
                await self._erase_in_runs(searched)
            else:
                async with self._db.transaction() as session:
                    await self._erase_in_table(session, searched, None)
            if searched.words:
                async with self._db.transaction() as session:
                    await statements.erase_words(
                        session, self._organization_id, searched, self._forms.word_core, self._forms.word_pattern
                    )
        await self._erase_in_encrypted_words()
        await self._answers.delete_mentions(
            self._organization_id,
            lambda value: self._forms.erase_from_value(value) != value,
            partial(self._count, "scenario_answers"),
        )
        for part in list_sealed_parts():
            count = partial(self._count, f"{part.table}_changed")
            await rewrite_rows(self._db, self._organization_id, part, self._forms.erase_from_value, count)

    async def _count(self, name: str, session: AsyncSession, count: int) -> None:
        self._counts[name] += count
        await self._progress.save_counts(session)

    async def _erase_in_encrypted_words(self) -> None:
        last, organization_id = 0, self._organization_id
        while True:
            async with self._db.transaction() as session:
                run_ids = await encrypted_words.list_run_ids(
                    session, organization_id, after=last, limit=encrypted_words.RUN_BATCH
                )
                if not run_ids:
                    return
                changed = await encrypted_words.rewrite_words(
                    session, organization_id, run_ids, self._forms.erase_from_value
                )
                if changed:
                    await self._count("run_events_changed", session, changed)
            last = run_ids[-1]

    async def _erase_in_runs(self, searched: SearchedTable) -> None:
        last = 0
        while True:
            async with self._db.transaction() as session:
                run_ids = await statements.list_run_ids(session, self._organization_id, after=last, limit=RUN_BATCH)
                if not run_ids:
                    return
                if searched.name == "run_events":
                    await encrypted_words.lock_words(session, self._organization_id)
                await self._erase_in_table(session, searched, run_ids)
            last = run_ids[-1]

    async def _erase_in_table(
        self, session: AsyncSession, searched: SearchedTable, run_ids: Sequence[int] | None
    ) -> None:
        rows = await statements.find_mentions(
            session, self._organization_id, searched, self._forms.search_pattern, run_ids
        )
        changes = [(row, values) for row in rows if (values := self._erase_from_row(searched, row))]
        if changes and searched.name == "audit_entries":
            await reopen_chain(session, self._caller, [row["id"] for row, _ in changes])
        for row, values in changes:
            await statements.update_row(session, self._organization_id, searched, row, values)
        if changes:
            await self._count(f"{searched.name}_changed", session, len(changes))

    def _erase_from_row(self, searched: SearchedTable, row: Any) -> dict[str, Any]:
        values = {}
        for column in searched.columns:
            erased = self._forms.erase_from_value(row[column.name])
            if erased != row[column.name]:
                values[column.name] = None if (searched.name, column.name) in EMPTIED else erased
        return values

    async def _rewrite_files(
        self, folder: str, rewrite: Callable[[bytes, NumberForms], tuple[bytes, int]], counted_as: str
    ) -> None:
        async for batch in self._storage.list_keys(f"{folder}/{self._organization_id}"):
            for key, _ in batch:
                try:
                    async with self._storage.open_file(key) as path:
                        content = await asyncio.to_thread(path.read_bytes)
                except FileGone:
                    continue
                rewritten, count = await asyncio.to_thread(rewrite, content, self._forms)
                if count:
                    draft = self._storage.path_for(f"uploads/{secrets.token_hex(8)}.csv")
                    await asyncio.to_thread(draft.write_bytes, rewritten)
                    # Counted before the file is stored, which has nothing left to count afterwards. If a worker was killed in
                    # between, this file is already counted.
                    async with self._db.transaction() as session:
                        if await self._progress.begin_file(session, key):
                            await self._count(counted_as, session, count)
                    await self._storage.keep(key, draft)


def _erase_from_document(content: bytes, forms: NumberForms) -> tuple[bytes, int]:
    if content.startswith(_BINARY_MARKS):
        return content, 0
    erased = forms.erase_from_text(content.decode("latin-1")).encode("latin-1")
    return erased, int(erased != content)
