"""The carriers' webhooks: documents, status callbacks, inbound calls. Signatures authenticate them instead of
credentials."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated, Final, NamedTuple

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BeforeValidator

from offhook.kit.http.path_ids import Id, LongId, require_digits
from offhook.kit.http.routing import Router
from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.telephony.accounts.public_urls import read_webhook
from offhook.telephony.carrier_kit.callback_kinds import TRANSFER_RESULT
from offhook.telephony.ports import CarrierDocument, CarrierRegistry
from offhook.telephony.services import Services
from offhook.telephony.webhooks.resumed_calls import MAX_ATTEMPTS
from offhook.telephony.webhooks.status_callbacks import CallbackRequest, CallbackResult

# Carriers send a few kilobytes; a larger body is not theirs.
MAX_BODY_BYTES: Final = 256 * 1024

Attempt = Annotated[int, Path(ge=1, le=MAX_ATTEMPTS + 1), BeforeValidator(require_digits)]
TransferId = Annotated[str, Path(max_length=64)]
CallbackEndpoint = Callable[..., Awaitable["CallbackResponse"]]

router = Router(prefix="/telephony", tags=["carriers"])


class CallbackResponse(Schema):
    """``duplicate``: the callback was received before or reports nothing new. ``ignored``: it changes nothing."""

    status: CallbackResult


async def read_callback(request: Request) -> CallbackRequest:
    return CallbackRequest(
        read_webhook(request, request.method, await request.body()), request.query_params.get("token")
    )


CallbackRequestDep = Annotated[CallbackRequest, Depends(read_callback)]


def _render_document(document: CarrierDocument) -> Response:
    return Response(document.body, document.status, media_type=document.content_type)


@router.api_route(
    "/answer/{provider}/{workflow_run_id}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def answer_document(
    provider: str, workflow_run_id: LongId, request: CallbackRequestDep, services: Services
) -> Response:
    """Returns the document that connects an answered call, in the carrier's format. Repeating the request is harmless."""
    return _render_document(await services.documents.build_document(provider, workflow_run_id, request))


@router.api_route(
    "/resume/{provider}/{workflow_run_id}/{attempt}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def resume_document(
    provider: str, workflow_run_id: LongId, attempt: Attempt, request: CallbackRequestDep, services: Services
) -> Response:
    """Returns what a carrier does with a call whose media has ended: it connects it again, or hangs up."""
    return _render_document(await services.resumed.build_document(provider, workflow_run_id, attempt, request))


@router.api_route(
    "/transfer-answer/{transfer_id}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def transfer_answer(transfer_id: TransferId, request: CallbackRequestDep, services: Services) -> Response:
    """Returns the document of the conference in which the destination of a transfer waits for the caller."""
    return _render_document(await services.transfer_results.conference_document(transfer_id, request))


@router.api_route(
    "/forward/{provider}/{token}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def forward_document(provider: str, token: str, services: Services) -> Response:
    """Returns the document that sends a caller to another number, which the signed address names."""
    return _render_document(services.transfer_results.forward_document(provider, token))


@router.post(
    "/transfer-result/{transfer_id}",
    response_model=CallbackResponse,
    operation_id="transfer_result",
    max_body_size=MAX_BODY_BYTES,
)
async def transfer_result(transfer_id: TransferId, request: CallbackRequestDep, services: Services) -> CallbackResponse:
    """Reports on the destination of a transfer. Completes the tool call that waits for it."""
    return CallbackResponse(status=await services.transfer_results.handle_result(transfer_id, request))


@router.post("/inbound/run", response_class=Response, operation_id="inbound_run", max_body_size=MAX_BODY_BYTES)
async def inbound_run(request: CallbackRequestDep, services: Services) -> Response:
    """Connects an inbound call to the agent of the called number. The carrier's account identifies the organization.
    Responds in the carrier's own format, also when the call is refused."""
    return _render_document(await services.inbound.answer_call(request.webhook))


@router.post(
    "/inbound/fallback", response_class=Response, operation_id="inbound_fallback", max_body_size=MAX_BODY_BYTES
)
async def inbound_fallback(request: CallbackRequestDep, services: Services) -> Response:
    """Returns a spoken message for a call that could not be processed. Works without the database."""
    return _render_document(await services.inbound.unavailable_document(request.webhook))


@router.post(
    "/inbound/{workflow_id}",
    response_class=Response,
    operation_id="inbound_workflow",
    deprecated=True,
    max_body_size=MAX_BODY_BYTES,
)
async def inbound_workflow(workflow_id: Id, request: CallbackRequestDep, services: Services) -> Response:
    """Deprecated: point the number at `inbound/run` and assign its agent here."""
    return _render_document(await services.inbound.answer_call(request.webhook, workflow_id))


class _CallbackFacts(NamedTuple):
    """The facts of a carrier that its routes are made of."""

    name: str
    callbacks: tuple[str, ...]
    workflow_callbacks: tuple[str, ...]
    account_callbacks: tuple[str, ...]
    signature_headers: tuple[str, ...]


def carrier_routes(carriers: CarrierRegistry) -> APIRouter:
    """Returns a route for each kind of callback that each carrier has; the same router for the same carriers."""
    return _build_routes(
        tuple(
            _CallbackFacts(
                spec.name,
                tuple(spec.webhooks.callbacks),
                tuple(spec.webhooks.workflow_callbacks),
                tuple(spec.webhooks.account_callbacks),
                tuple(spec.webhooks.signature_headers),
            )
            for spec in carriers.specs
        )
    )


# Built once per process, because it takes as long as all other parts of a process together.
@cache
def _build_routes(specs: tuple[_CallbackFacts, ...]) -> APIRouter:
    routes = Router(prefix="/telephony", tags=["carriers"])
    for spec in specs:
        name = spec.name
        for kind in spec.workflow_callbacks:
            endpoint = _build_endpoints(name, kind)["workflow"]
            _add_route(routes, spec, f"{kind}/workflow/{{workflow_id}}", kind, endpoint)
        for kind in spec.callbacks:
            if kind == TRANSFER_RESULT:
                _add_route(routes, spec, f"{kind}/{{transfer_id}}", kind, _build_endpoints(name, kind)["transfer"])
            else:
                _add_route(routes, spec, f"{kind}/{{workflow_run_id}}", kind, _build_endpoints(name, kind)["run"])
        for kind in spec.account_callbacks:
            _add_route(routes, spec, kind, kind, _build_endpoints(name, kind)["account"])
    return routes


def _add_route(routes: APIRouter, spec: _CallbackFacts, path: str, kind: str, endpoint: CallbackEndpoint) -> None:
    by = "_of_workflow" if "{workflow_id}" in path else ""
    if "{" not in path and kind in spec.callbacks:
        by = "_of_account"
    header: JsonObject = {
        "in": "header",
        "required": False,
        "schema": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    headers = [{"name": name, **header} for name in spec.signature_headers]
    routes.add_api_route(
        f"/{spec.name}/{path}",
        endpoint,
        methods=["POST"],
        response_model=CallbackResponse,
        operation_id=f"{spec.name}_{kind.replace('-', '_')}{by}",
        summary=f"{spec.name.capitalize()} {kind.replace('-', ' ')}",
        openapi_extra={"parameters": headers} if headers else None,
        max_body_size=MAX_BODY_BYTES,
    )


def _build_endpoints(provider: str, kind: str) -> dict[str, CallbackEndpoint]:
    """Returns the endpoints of a kind of callback, by what the path names besides the kind."""

    async def run_callback(
        workflow_run_id: LongId, request: CallbackRequestDep, services: Services
    ) -> CallbackResponse:
        status = await services.callbacks.handle_for_run(provider, kind, workflow_run_id, request)
        return CallbackResponse(status=status)

    async def transfer_callback(
        transfer_id: TransferId, request: CallbackRequestDep, services: Services
    ) -> CallbackResponse:
        return CallbackResponse(status=await services.transfer_results.handle_result(transfer_id, request, provider))

    async def workflow_callback(workflow_id: Id, request: CallbackRequestDep, services: Services) -> CallbackResponse:
        status = await services.callbacks.handle_for_account(provider, kind, request, workflow_id)
        return CallbackResponse(status=status)

    async def account_callback(request: CallbackRequestDep, services: Services) -> CallbackResponse:
        return CallbackResponse(status=await services.callbacks.handle_for_account(provider, kind, request))

    return {
        "run": run_callback,
        "transfer": transfer_callback,
        "workflow": workflow_callback,
        "account": account_callback,
    }
