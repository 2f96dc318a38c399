"""Requests and responses of saved views."""

import json
from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, StringConstraints

from offhook.kit.schema import Schema

MAX_SEARCH_BYTES: Final = 8 * 1024


def _check_search(search: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(search)) > MAX_SEARCH_BYTES:
        raise ValueError(f"search is limited to {MAX_SEARCH_BYTES} bytes")
    if "\\u0000" in json.dumps(search):
        raise ValueError("search contains a NUL character")
    return search


ViewName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00]*$")]
ViewSearch = Annotated[
    dict[str, JsonValue],
    AfterValidator(_check_search),
    Field(description="The query string of the *Runs* page: filters, search words, and order, without the page number"),
]


class CreateViewRequest(Schema):
    """A new view. Only members and up share views; an API key has no person, so its views are shared."""

    name: ViewName
    search: ViewSearch
    is_shared: bool = False


class UpdateViewRequest(Schema):
    """What is left out stays as it is."""

    name: ViewName | None = None
    search: ViewSearch | None = None
    is_shared: bool | None = None


class ViewRecord(Schema):
    model_config = ConfigDict(from_attributes=True)

    id: int
    name: str
    search: dict[str, JsonValue]
    is_shared: bool = Field(description="Whether everyone in the organization sees it")
    is_own: bool = Field(description="Whether the caller saved it")
    can_edit: bool = Field(description="Whether the caller may change and delete it")
    created_at: datetime
    updated_at: datetime


class ViewDeleted(Schema):
    id: int
