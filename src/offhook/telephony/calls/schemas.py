"""Request and response models of the telephony endpoints."""

import json
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.phone_numbers import E164
from offhook.kit.schema import Schema

MAX_CONTEXT_BYTES: Final = 64 * 1024
RowId = Annotated[WholeNumber, Field(ge=1, le=2**31 - 1)]
RunId = Annotated[WholeNumber, Field(ge=1, le=2**63 - 1)]


def _check_storable(context: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(context, ensure_ascii=True)
    if len(text) > MAX_CONTEXT_BYTES:
        raise ValueError(f"initial_context is limited to {MAX_CONTEXT_BYTES} bytes")
    # PostgreSQL's jsonb accepts neither the NUL character nor half a surrogate pair
    if "\\u0000" in text or any("\ud800" <= char <= "\udfff" for char in json.dumps(context, ensure_ascii=False)):
        raise ValueError("initial_context contains characters that cannot be stored")
    return context


Context = Annotated[dict[str, Any], AfterValidator(_check_storable)]


class InitiateCallRequest(Schema):
    """A test call. Without ``phone_number`` it dials the number of the run that ``workflow_run_id`` names, else the test
    phone number of the organization's preferences."""

    workflow_id: RowId
    phone_number: E164 | None = None
    workflow_run_id: RunId | None = None
    telephony_configuration_id: RowId | None = None
    from_phone_number_id: RowId | None = None
    initial_context: Context = Field(default_factory=dict)


class InitiateCallResponse(Schema):
    message: str
    workflow_run_id: int
    workflow_run_name: str
    status: str
    call_id: str | None = Field(description="null while the carrier has not said whether it took the call")


class HangUpResponse(Schema):
    workflow_run_id: int
    status: str


class PublicTriggerRequest(Schema):
    """``initial_context`` fills the agent's template variables; names that the platform sets are dropped."""

    phone_number: E164
    initial_context: Context = Field(default_factory=dict)
    telephony_configuration_id: RowId | None = None
    from_phone_number_id: RowId | None = None


class PublicTriggerResponse(Schema):
    status: str
    workflow_run_id: int
    workflow_run_name: str
