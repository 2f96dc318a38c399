"""Who placed a call, and what was checked before: stored with the run, because lists and rules change afterwards."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict

from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema


class CallingWindowCheck(Schema):
    """Calling hours as they were when the call was placed; a call outside of them is not placed.

    ``schedule_zone`` is that of the campaign. ``callee_zones``, all possible zones of the number, count with
    ``in_callee_zone``. ``closes_at``: None when they do not close.
    """

    model_config = ConfigDict(frozen=True)

    is_open: bool
    schedule_zone: str
    in_callee_zone: bool
    callee_zones: tuple[str, ...]
    closes_at: datetime | None


class CallPlacement(Schema):
    """``placed_by``: a request over the API or from the page, an agent's trigger, or a campaign. ``calling_window`` is
    None where no calling hours apply. A refused call has no placement, because nothing was placed."""

    model_config = ConfigDict(frozen=True)

    placed_by: Literal["request", "trigger", "campaign"]
    user_id: int | None = None
    api_key_id: int | None = None
    impersonator_id: int | None = None
    trigger: str | None = None
    checked_at: datetime
    do_not_call: Literal["not_listed"] = "not_listed"
    destination: Literal["allowed"] = "allowed"
    calling_window: CallingWindowCheck | None = None

    def to_json(self) -> JsonObject:
        return self.model_dump(mode="json")
