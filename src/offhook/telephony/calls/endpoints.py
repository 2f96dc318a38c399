"""Placing calls over HTTP, and the media socket of every carrier."""

from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, WebSocket, WebSocketDisconnect
from fastapi.responses import JSONResponse

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.http.openapi import error_responses, sdk_method
from offhook.kit.http.path_ids import LongId, read_id
from offhook.kit.media_sockets.sockets import open_socket
from offhook.orgs import RequireMember
from offhook.orgs.idempotency import IdempotencyHeader, run_idempotent
from offhook.root import Root, use_service
from offhook.runs.errors import MediaTokenRefused
from offhook.telephony.calls.outbound import CallOrder, OutboundCalls, PlacedCall
from offhook.telephony.calls.schemas import (
    HangUpResponse,
    InitiateCallRequest,
    InitiateCallResponse,
    PublicTriggerRequest,
    PublicTriggerResponse,
)
from offhook.telephony.media.admission import MediaAdmission
from offhook.voice.socket_leg import REFUSED
from offhook.workflows import service as workflows
from offhook.workflows.errors import TriggerNotFound, WorkflowNotPublished

OutboundCallsDep = Annotated[OutboundCalls, Depends(use_service(OutboundCalls))]

telephony = APIRouter(prefix="/telephony", tags=["telephony"])
public = APIRouter(prefix="/public", tags=["public"])


@telephony.post(
    "/initiate-call",
    response_model=InitiateCallResponse,
    operation_id="test_phone_call",
    openapi_extra=sdk_method("test_phone_call", "Place a test call from a workflow to a phone number."),
    responses=error_responses(402, 502),
)
async def initiate_call(
    body: InitiateCallRequest, org: RequireMember, calls: OutboundCallsDep, key: IdempotencyHeader = None
) -> dict[str, Any]:
    """Places a test call: runs the draft of the agent when there is one."""
    order = CallOrder(
        organization_id=org.organization_id,
        workflow_id=body.workflow_id,
        to_number=body.phone_number,
        use_draft=True,
        run_id=body.workflow_run_id,
        configuration_id=body.telephony_configuration_id,
        from_phone_number_id=body.from_phone_number_id,
        context=body.initial_context,
        user_id=org.user_id,
    )

    async def place_test_call() -> dict[str, Any]:
        placed = await calls.place_call(order)
        message = f"Call initiated successfully with run name {placed.run_name}"
        if placed.call_id is None:
            message = f"The carrier's answer was lost and the phone may ring: run {placed.run_name} will tell"
        return {"message": message, **_run_fields(placed), "status": placed.status, "call_id": placed.call_id}

    return await run_idempotent(
        calls.db,
        organization_id=org.organization_id,
        scope="initiate-call",
        key=key,
        body=body.model_dump(mode="json"),
        action=place_test_call,
    )


@telephony.post(
    "/hang-up/{workflow_run_id}",
    response_model=HangUpResponse,
    operation_id="hang_up_call",
    responses=error_responses(502),
)
async def hang_up(workflow_run_id: LongId, org: RequireMember, calls: OutboundCallsDep) -> dict[str, Any]:
    """Ends a call that this platform placed; a call that is over stays as it is."""
    await calls.hang_up(org.organization_id, workflow_run_id)
    return {"workflow_run_id": workflow_run_id, "status": "ok"}


@public.post(
    "/agent/{uuid}",
    response_model=PublicTriggerResponse,
    operation_id="trigger_agent",
    responses=error_responses(402, 502),
)
async def trigger_agent(
    uuid: str, body: PublicTriggerRequest, org: RequireMember, calls: OutboundCallsDep, key: IdempotencyHeader = None
) -> dict[str, Any]:
    """Calls a phone number with the published version of the agent behind this trigger."""

    async def place_triggered_call() -> dict[str, Any]:
        workflow_id = await _workflow_behind(calls.db, org.organization_id, uuid)
        order = CallOrder(
            organization_id=org.organization_id,
            workflow_id=workflow_id,
            to_number=body.phone_number,
            use_draft=False,
            configuration_id=body.telephony_configuration_id,
            from_phone_number_id=body.from_phone_number_id,
            context=body.initial_context,
            platform_context={"trigger_mode": "production", "agent_uuid": uuid, "api_key_id": org.key_id},
            user_id=org.user_id,
        )
        try:
            placed = await calls.place_call(order)
        except WorkflowNotPublished:
            raise TriggerNotFound from None
        return {"status": placed.status, **_run_fields(placed)}

    return await run_idempotent(
        calls.db,
        organization_id=org.organization_id,
        scope=f"public-agent:{uuid}",
        key=key,
        body=body.model_dump(mode="json"),
        action=place_triggered_call,
    )


async def _workflow_behind(db: Database, organization_id: int, path: str) -> int:
    """TriggerNotFound (404), also for another organization's: that one exists is nobody else's business."""
    async with db.transaction() as session:
        owner, workflow_id = await workflows.by_trigger(session, path)
    if owner != organization_id:
        raise TriggerNotFound
    return workflow_id


def _run_fields(placed: PlacedCall) -> dict[str, Any]:
    return {"workflow_run_id": placed.run_id, "workflow_run_name": placed.run_name}


@telephony.websocket("/media/{provider}/{run_id}/{token}", name="telephony_media")
async def telephony_media(websocket: WebSocket, provider: str, run_id: str, token: str) -> None:
    """The audio of one call in the carrier's format. The token is spent before anything else happens; a wrong, used
    or foreign one is refused with HTTP 401 (or close code 4401 where the server cannot answer a handshake)."""
    root: Root = websocket.app.state.root
    try:
        session = await root.get(MediaAdmission).admit_call(_parse_run_id(run_id), token, provider)
    except DomainError as error:
        await _refuse_socket(websocket, error)
        return
    limit = root.settings.max_socket_message_bytes
    await session.run(partial(open_socket, websocket, max_message_bytes=limit))


def _parse_run_id(text: str) -> int:
    run_id = read_id(text)
    if run_id is None:
        raise MediaTokenRefused
    return run_id


async def _refuse_socket(websocket: WebSocket, error: DomainError) -> None:
    with suppress(WebSocketDisconnect, OSError):  # who has gone needs no answer
        if "websocket.http.response" in websocket.scope.get("extensions", {}):
            answer = JSONResponse({"detail": error.message, "code": error.code}, error.status)
            await websocket.send_denial_response(answer)
        else:
            await websocket.close(REFUSED, error.code)
