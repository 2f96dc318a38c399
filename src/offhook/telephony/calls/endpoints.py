"""Placing calls over HTTP, and the media socket of every carrier."""

from functools import partial

from fastapi import WebSocket

from offhook.errors import DomainError
from offhook.kit.http.openapi import error_responses, sdk_method
from offhook.kit.http.path_ids import LongId, read_id
from offhook.kit.http.routing import Router
from offhook.kit.media_sockets.sockets import open_socket, refuse_socket
from offhook.orgs import RequireMember
from offhook.orgs.idempotency import IdempotencyHeader
from offhook.runs.errors import MediaTokenRefused
from offhook.telephony.calls.schemas import (
    HangUpResponse,
    InitiateCallRequest,
    InitiateCallResponse,
    PublicTriggerRequest,
    PublicTriggerResponse,
)
from offhook.telephony.services import Services
from offhook.voice.socket_leg import REFUSED

telephony = Router(prefix="/telephony", tags=["telephony"])
public = Router(prefix="/public", tags=["public"])


@telephony.post(
    "/initiate-call",
    response_model=InitiateCallResponse,
    operation_id="test_phone_call",
    openapi_extra=sdk_method("test_phone_call", "Place a test call from a workflow to a phone number."),
    responses=error_responses(402, 502),
)
async def initiate_call(
    body: InitiateCallRequest, org: RequireMember, services: Services, key: IdempotencyHeader = None
) -> InitiateCallResponse:
    """Places a test call. Runs the agent's draft if there is one."""
    return await services.call_requests.place_test_call(org, body, key)


@telephony.post(
    "/hang-up/{workflow_run_id}",
    response_model=HangUpResponse,
    operation_id="hang_up_call",
    responses=error_responses(502),
)
async def hang_up(workflow_run_id: LongId, org: RequireMember, services: Services) -> HangUpResponse:
    """Hangs up a call that this platform placed. A call that has already ended is not changed."""
    await services.outbound.hang_up(org.organization_id, workflow_run_id)
    return HangUpResponse(workflow_run_id=workflow_run_id, status="ok")


@public.post(
    "/agent/{uuid}",
    response_model=PublicTriggerResponse,
    operation_id="trigger_agent",
    responses=error_responses(402, 502),
)
async def trigger_agent(
    uuid: str, body: PublicTriggerRequest, org: RequireMember, services: Services, key: IdempotencyHeader = None
) -> PublicTriggerResponse:
    """Calls a phone number with the published version of the agent behind this trigger."""
    return await services.call_requests.trigger_agent(org, uuid, body, key)


@telephony.websocket("/media/{provider}/{run_id}/{token}", name="telephony_media")
async def telephony_media(websocket: WebSocket, provider: str, run_id: str, token: str, services: Services) -> None:
    """Carries the audio of one call in the carrier's format. The token is spent before anything else happens; a wrong or
    used one is refused with HTTP 401 (or close code 4401 where the server cannot answer a handshake). A process without
    a place refuses with 503 and leaves the token for another one."""
    number = read_id(run_id)
    try:
        if number is None:
            raise MediaTokenRefused
        session = await services.admission.admit_call(number, token, provider)
    except DomainError as error:
        await refuse_socket(websocket, error, close_code=REFUSED)
        return
    await session.run(partial(open_socket, websocket, max_message_bytes=services.max_message_bytes))
