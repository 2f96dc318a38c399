"""The audit log as a download, in the order of its chain."""

from collections.abc import AsyncIterator
from datetime import UTC

from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.orgs.audit_trail import repository
from offhook.orgs.audit_trail.exported_entries import ExportedEntry
from offhook.orgs.audit_trail.repository import ExportBounds


class AuditExports:
    """Opens exports. A slow client may take an hour, so that pages are read in transactions of their own; what is
    written or sealed after the beginning is not part of the export."""

    def __init__(self, db: Database, *, page: int = 1000) -> None:
        self._db = db
        self._page = page

    async def open_export(self, organization_id: int, filters: str | None) -> AsyncIterator[bytes]:
        """Returns the lines in pieces of a page: sealed entries by position, then the others by number. Raises
        ``FilterInvalid`` (422)."""
        repository.parse_audit_filters(filters)
        async with self._db.transaction() as session:
            bounds = await repository.find_export_bounds(session, organization_id)
        return self._stream_pieces(organization_id, filters, bounds)

    async def _stream_pieces(
        self, organization_id: int, filters: str | None, bounds: ExportBounds
    ) -> AsyncIterator[bytes]:
        for is_sealed in (True, False):
            after, is_last = 0, False
            while not is_last:
                async with self._db.transaction() as session:
                    page = await repository.list_export_page(
                        session, organization_id, filters, bounds, is_sealed=is_sealed, after=after, limit=self._page
                    )
                is_last = len(page) < self._page
                if page:
                    after = page[-1]["position" if is_sealed else "id"]
                    yield b"".join(_to_exported(row, is_sealed=is_sealed).to_line() for row in page)


async def read_entries_of_run(
    session: AsyncSession, organization_id: int, run_id: int, limit: int
) -> list[ExportedEntry]:
    """Returns the first entries about a run, as an export has them."""
    rows = await repository.list_entries_of_run(session, organization_id, run_id, limit)
    return [_to_exported(row, is_sealed=row["position"] is not None) for row in rows]


def _to_exported(row: RowMapping, *, is_sealed: bool) -> ExportedEntry:
    place: dict[str, object] = {"position": None, "previous_seal": None, "seal": None}
    if is_sealed:
        place = {
            "position": row["position"],
            "previous_seal": row["previous_seal"].hex(),
            "seal": row["seal"].hex(),
        }
    return ExportedEntry.model_validate({**row, **place, "created_at": row["created_at"].astimezone(UTC)})
