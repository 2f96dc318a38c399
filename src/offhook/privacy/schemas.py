"""Requests and responses about a person's data."""

from datetime import datetime

from pydantic import ConfigDict, Field, field_validator

from offhook.kit.phone_numbers import E164
from offhook.kit.schema import Schema
from offhook.privacy.service import FILE_MARK, RequestKind


class DataRequestCreate(Schema):
    """``export`` makes an archive; ``erasure`` deletes, and cannot be undone."""

    model_config = ConfigDict(extra="forbid")

    kind: RequestKind
    phone_number: E164


class DataRequestResponse(Schema):
    """A request, and its receipt when ``state`` is ``done``.

    ``counts``: what was deleted or is in the archive, by kind; for an erasure, ``…_changed`` counts rows that were
    kept without the number.
    """

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: str
    state: str = Field(description="waiting, running or done")
    step: str | None = Field(description="What the job does now")
    number_hash: str = Field(description="A keyed hash of the number; it is the same in each request about it")
    counts: dict[str, int]
    archive_expires_at: datetime | None
    created_by: int | None
    created_by_key: int | None
    created_at: datetime
    finished_at: datetime | None

    @field_validator("step")
    @classmethod
    def _name_step(cls, step: str | None) -> str | None:
        return step and step.partition(FILE_MARK)[0]


class DataRequestList(Schema):
    requests: list[DataRequestResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int
