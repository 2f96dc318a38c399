"""Requests and responses of contact files."""

from typing import Annotated

from pydantic import Field, StringConstraints

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema


class PresignedUploadRequest(Schema):
    """An upload. ``file_size`` is in bytes, at most 50 MB; ``file_name`` ends in .csv."""

    file_name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
    file_size: WholeNumber = Field(ge=1, le=2**53)
    content_type: str = Field(default="text/csv", max_length=100)


class PresignedUploadResponse(Schema):
    """Where to ``PUT`` the file. Create the campaign with ``file_key`` afterwards."""

    upload_url: str
    file_key: str
    expires_in: int


class UploadedFileResponse(Schema):
    file_key: str
    file_size: int
