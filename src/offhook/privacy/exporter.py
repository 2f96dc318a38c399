"""One archive with everything about one number."""

import asyncio
import json
import secrets
import shutil
import zipfile
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone, FileStore
from offhook.orgs.data_keys.row_sealer import read_rows
from offhook.orgs.data_keys.sealed_row_queries import number_column
from offhook.orgs.data_keys.sealed_rows import list_sealed_parts, open_values
from offhook.privacy import statements
from offhook.privacy.number_forms import NumberForms
from offhook.privacy.places import DELETED_ROWS, RUNS, list_searched_tables
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records import encrypted_words
from offhook.runs.records.deletion import BATCH

FOLDER: Final = "exports"
FORMAT: Final = "offhook.person.1"
_LISTED: Final[Mapping[str, tuple[str, ...]]] = {**DELETED_ROWS, "do_not_call_entries": ("phone_number",)}


class NumberExporter:
    """Reads what an erasure would delete. Conversations with others that mention the number are only named: what these
    people said is theirs."""

    def __init__(
        self, db: Database, storage: FileStore, vault: RecordingVault, organization_id: int, forms: NumberForms
    ) -> None:
        self._db = db
        self._storage = storage
        self._vault = vault
        self._organization_id = organization_id
        self._forms = forms
        self.counts: Counter[str] = Counter()

    async def write_archive(self, request_id: int, now: datetime) -> str:
        """Returns the key of the archive: ``person.json``, and ``recordings/RUN.wav`` for each recording.

        Each attempt has the same key: what a killed worker had stored is replaced.
        """
        content = await self._collect(now)
        draft = self._storage.path_for(f"uploads/{secrets.token_hex(8)}.zip")
        try:
            await asyncio.to_thread(_start_archive, draft, content)
            for run in content["runs"]:
                await self._add_recording(draft, run["id"], run["recording_key"])
            key = f"{FOLDER}/{self._organization_id}/{request_id}.zip"
            await self._storage.keep(key, draft)
        finally:
            draft.unlink(missing_ok=True)
        return key

    async def _collect(self, now: datetime) -> dict[str, Any]:
        forms, organization_id = self._forms.exact_forms, self._organization_id
        async with self._db.snapshot_transaction() as session:
            run_ids = await statements.find_runs(session, organization_id, forms, limit=BATCH * BATCH)
            tables = await statements.read_run_rows(session, organization_id, run_ids)
            for name, columns in _LISTED.items():
                rows = await statements.read_rows(session, organization_id, name, columns, forms)
                tables[name] = [dict(row) for row in rows]
            tables["run_events"] = await encrypted_words.decrypt_rows(session, organization_id, tables["run_events"])
            tables |= await self._decrypt_rows(session, tables)
            mentions = await self._find_mentions(session, frozenset(run_ids))
            sealed = await self._find_sealed_mentions(session, frozenset(run_ids))
            mentions += (mention for mention in sealed if mention not in mentions)
            mentions += await self._find_encrypted_mentions(session, frozenset(run_ids))
        self.counts.update({name: len(rows) for name, rows in tables.items()})
        self.counts["mentions"] = len(mentions)
        about = {"format": FORMAT, "phone_number": self._forms.e164, "made_at": now}
        return {**about, **tables, "mentions": mentions}

    async def _find_mentions(self, session: AsyncSession, run_ids: frozenset[int]) -> list[dict[str, Any]]:
        mentions: list[dict[str, Any]] = []
        for searched in list_searched_tables():
            if searched.name in _LISTED:
                continue
            rows = await statements.find_mentions(session, self._organization_id, searched, self._forms.search_pattern)
            keys = searched.table.primary_key.columns.keys()
            for row in rows:
                run_id = row["id"] if searched.name == RUNS else row.get("run_id")
                if run_id not in run_ids and self._forms.is_in_values(row[column.name] for column in searched.columns):
                    mentions.append({"table": searched.name, **{key: row[key] for key in keys}})
        return mentions

    async def _decrypt_rows(
        self, session: AsyncSession, tables: Mapping[str, list[dict[str, Any]]]
    ) -> dict[str, list[dict[str, Any]]]:
        """Returns the rows of tables with encrypted columns as if nothing was encrypted."""
        opened: dict[str, list[dict[str, Any]]] = {}
        for part in list_sealed_parts():
            if part.table not in tables:
                continue
            rows = []
            for row in opened.get(part.table, tables[part.table]):
                values = await open_values(session, part, row, is_lenient=True)
                rows.append({**{name: item for name, item in row.items() if name not in part.own_columns}, **values})
            opened[part.table] = rows
        return opened

    async def _find_sealed_mentions(self, session: AsyncSession, run_ids: frozenset[int]) -> list[dict[str, Any]]:
        mentions: list[dict[str, Any]] = []
        for part in list_sealed_parts():
            key = number_column(part).key
            async for row, values in read_rows(session, self._organization_id, part):
                run_id = row["row_number"] if part.table == RUNS else row.get("run_id")
                mention = {"table": part.table, str(key): row["row_number"]}
                if run_id not in run_ids and self._forms.is_in_values([values]) and mention not in mentions:
                    mentions.append(mention)
        return mentions

    async def _find_encrypted_mentions(self, session: AsyncSession, own: frozenset[int]) -> list[dict[str, Any]]:
        mentions: list[dict[str, Any]] = []
        last = 0
        while run_ids := await encrypted_words.list_run_ids(
            session, self._organization_id, after=last, limit=encrypted_words.RUN_BATCH
        ):
            last = run_ids[-1]
            others = [run_id for run_id in run_ids if run_id not in own]
            found = await encrypted_words.find_events_with(
                session, self._organization_id, others, lambda data: self._forms.is_in_values([data])
            )
            mentions += ({"table": "run_events", "run_id": run_id, "seq": seq} for run_id, seq in found)
        return mentions

    async def _add_recording(self, archive: Path, run_id: int, key: str | None) -> None:
        if key is None:
            return
        try:
            async with self._vault.open_file(key) as sound:
                await asyncio.to_thread(_add_file, archive, sound, f"recordings/{run_id}.wav")
        except FileGone:
            return
        self.counts["recordings"] += 1


def _start_archive(archive: Path, content: Mapping[str, Any]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("person.json", json.dumps(content, indent=1, ensure_ascii=False, default=_to_json))


def _add_file(archive: Path, source: BinaryIO, name: str) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as file, file.open(name, "w", force_zip64=True) as out:
        shutil.copyfileobj(source, out, 1 << 20)


def _to_json(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
