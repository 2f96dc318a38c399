"""Where the data of a person can be: every table of the schema, by what happens to its rows.

A table that is not named here is searched in all of its columns that hold text, and the number is erased in them. A new table is
therefore covered without anyone having to think of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR
from sqlalchemy.types import String

from offhook.kit.database.database import Base

# Calls and conversations; they are deleted with their events, transcript, reviews, costs and recording.
RUNS: Final = "runs"
RUN_ENDS: Final = ("phone_number", "caller_number", "called_number")
# Rows that are about one number: deleted.
DELETED_ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    "campaign_contacts": ("phone_number",),
    "refused_calls": ("caller_number", "called_number"),
    "pending_transfers": ("to_number",),
    "blocked_callers": ("phone_number",),
    "sandbox_calls": ("to_number",),
    "sandbox_numbers": ("phone_number",),
}
# A number that must not be called has to be known, or it would be called again.
KEPT: Final = frozenset({"do_not_call_entries", "person_data_requests", "organization_deletions"})
# Columns that hold a number or nothing: emptied, because a text in its place would not be a number.
EMPTIED: Final = frozenset({("organizations", "test_phone_number"), ("phone_numbers", "existing_number")})


@dataclass(frozen=True, slots=True)
class SearchedTable:
    """A table with the columns that can hold the number. ``words`` are its search indexes."""

    table: Table
    columns: tuple[Column[Any], ...]
    words: tuple[Column[Any], ...]

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def organization(self) -> Column[Any]:
        return self.table.c.id if self.name == "organizations" else self.table.c.organization_id

    @property
    def is_of_runs(self) -> bool:
        """Returns whether each row belongs to a run that exists."""
        run_id = self.table.columns.get("run_id")
        return run_id is not None and not run_id.nullable and bool(run_id.foreign_keys)


def list_searched_tables() -> list[SearchedTable]:
    """Returns the tables of organizations that are searched for mentions, a table after those that it refers to."""
    found = []
    for table in Base.metadata.sorted_tables:
        if table.name in KEPT or not (table.name == "organizations" or "organization_id" in table.columns):
            continue
        plain = [column for column in table.columns if column.computed is None]
        columns = tuple(column for column in plain if isinstance(column.type, String | Text | JSONB | ARRAY))
        words = tuple(column for column in plain if isinstance(column.type, TSVECTOR))
        if columns or words:
            found.append(SearchedTable(table, columns, words))
    return found
