"""Where carriers call us: documents, news of calls, inbound calls. They are proven by signatures, not by credentials."""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel

from offhook.kit.http.path_ids import Id, LongId
from offhook.root import use_service
from offhook.telephony.accounts.public_urls import read_webhook
from offhook.telephony.carrier_kit.callback_kinds import TRANSFER_RESULT
from offhook.telephony.ports import CarrierDocument, CarrierRegistry
from offhook.telephony.transfers.callbacks import TransferResults
from offhook.telephony.webhooks.inbound_calls import AnswerDocuments, InboundCalls
from offhook.telephony.webhooks.status_callbacks import CallbackRequest, CarrierCallbacks

# Carriers send a few kilobytes; more is not theirs.
MAX_BODY_BYTES: Final = 256 * 1024

CallbacksDep = Annotated[CarrierCallbacks, Depends(use_service(CarrierCallbacks))]
InboundCallsDep = Annotated[InboundCalls, Depends(use_service(InboundCalls))]
AnswerDocumentsDep = Annotated[AnswerDocuments, Depends(use_service(AnswerDocuments))]
TransferResultsDep = Annotated[TransferResults, Depends(use_service(TransferResults))]
TransferId = Annotated[str, Path(max_length=64)]

router = APIRouter(prefix="/telephony", tags=["carriers"])


class CallbackResponse(BaseModel):
    """``duplicate``: it came before, or said what was known. ``ignored``: it changes nothing."""

    status: Literal["ok", "duplicate", "ignored"]


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
    provider: str, workflow_run_id: LongId, request: CallbackRequestDep, documents: AnswerDocumentsDep
) -> Response:
    """The carrier's own format; asking again gives the same."""
    return _render_document(await documents.build_document(provider, workflow_run_id, request))


@router.api_route(
    "/transfer-answer/{transfer_id}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def transfer_answer(
    transfer_id: TransferId, request: CallbackRequestDep, transfers: TransferResultsDep
) -> Response:
    """The room in which the destination of a transfer waits for the caller."""
    return _render_document(await transfers.conference_document(transfer_id, request))


@router.api_route(
    "/forward/{provider}/{token}",
    methods=["GET", "POST"],
    response_class=Response,
    include_in_schema=False,
    max_body_size=MAX_BODY_BYTES,
)
async def forward_document(provider: str, token: str, transfers: TransferResultsDep) -> Response:
    """What sends a caller on to another number; the address is signed by us and says whereto."""
    return _render_document(transfers.forward_document(provider, token))


@router.post(
    "/transfer-result/{transfer_id}",
    response_model=CallbackResponse,
    operation_id="transfer_result",
    max_body_size=MAX_BODY_BYTES,
)
async def transfer_result(
    transfer_id: TransferId, request: CallbackRequestDep, transfers: TransferResultsDep
) -> dict[str, str]:
    """News of a transfer's destination: completes the tool call that waits for it."""
    return {"status": await transfers.handle_result(transfer_id, request)}


@router.post("/inbound/run", response_class=Response, operation_id="inbound_run", max_body_size=MAX_BODY_BYTES)
async def inbound_run(request: CallbackRequestDep, inbound: InboundCallsDep) -> Response:
    """Brings a call to the agent of the called number: the organization is found by the carrier's account, the agent by
    the number. Answers in the carrier's own format, also when it refuses the call."""
    return _render_document(await inbound.answer_call(request.webhook))


@router.post(
    "/inbound/fallback", response_class=Response, operation_id="inbound_fallback", max_body_size=MAX_BODY_BYTES
)
async def inbound_fallback(request: CallbackRequestDep, inbound: InboundCallsDep) -> Response:
    """A spoken sentence, when a call could not be processed; works without the database."""
    return _render_document(await inbound.unavailable_document(request.webhook))


@router.post(
    "/inbound/{workflow_id}",
    response_class=Response,
    operation_id="inbound_workflow",
    deprecated=True,
    max_body_size=MAX_BODY_BYTES,
)
async def inbound_workflow(workflow_id: Id, request: CallbackRequestDep, inbound: InboundCallsDep) -> Response:
    """Deprecated: point the number at `inbound/run` and choose its agent here."""
    return _render_document(await inbound.answer_call(request.webhook, workflow_id))


class _CallbackFacts(NamedTuple):
    """What of a carrier its routes are made of."""

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


# Built once a process: it takes as long as everything else that a process is made of.
@cache
def _build_routes(specs: tuple[_CallbackFacts, ...]) -> APIRouter:
    routes = APIRouter(prefix="/telephony", tags=["carriers"])
    for spec in specs:
        name = spec.name
        for kind in spec.workflow_callbacks:
            _add_route(routes, spec, f"{kind}/workflow/{{workflow_id}}", kind, _workflow_endpoint(name, kind))
        for kind in spec.callbacks:
            if kind == TRANSFER_RESULT:
                _add_route(routes, spec, f"{kind}/{{transfer_id}}", kind, _transfer_endpoint(name))
            else:
                _add_route(routes, spec, f"{kind}/{{workflow_run_id}}", kind, _run_endpoint(name, kind))
        for kind in spec.account_callbacks:
            _add_route(routes, spec, kind, kind, _account_endpoint(name, kind))
    return routes


def _add_route(
    routes: APIRouter, spec: _CallbackFacts, path: str, kind: str, endpoint: Callable[..., Awaitable[dict[str, str]]]
) -> None:
    by = "_of_workflow" if "{workflow_id}" in path else ""
    if "{" not in path and kind in spec.callbacks:
        by = "_of_account"
    routes.add_api_route(
        f"/{spec.name}/{path}",
        endpoint,
        methods=["POST"],
        response_model=CallbackResponse,
        operation_id=f"{spec.name}_{kind.replace('-', '_')}{by}",
        summary=f"News of {spec.name} about a call: {kind}",
        openapi_extra=_header_parameters(spec.signature_headers),
        max_body_size=MAX_BODY_BYTES,
    )


def _header_parameters(names: Sequence[str]) -> dict[str, Any] | None:
    if not names:
        return None
    schema = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {"parameters": [{"name": name, "in": "header", "required": False, "schema": schema} for name in names]}


def _run_endpoint(provider: str, kind: str) -> Callable[..., Awaitable[dict[str, str]]]:
    async def run_callback(workflow_run_id: LongId, request: CallbackRequestDep, news: CallbacksDep) -> dict[str, str]:
        return {"status": await news.handle_for_run(provider, kind, workflow_run_id, request)}

    return run_callback


def _transfer_endpoint(provider: str) -> Callable[..., Awaitable[dict[str, str]]]:
    async def transfer_callback(
        transfer_id: TransferId, request: CallbackRequestDep, transfers: TransferResultsDep
    ) -> dict[str, str]:
        return {"status": await transfers.handle_result(transfer_id, request, provider)}

    return transfer_callback


def _workflow_endpoint(provider: str, kind: str) -> Callable[..., Awaitable[dict[str, str]]]:
    async def workflow_callback(workflow_id: Id, request: CallbackRequestDep, news: CallbacksDep) -> dict[str, str]:
        return {"status": await news.handle_for_workflow(provider, kind, workflow_id, request)}

    return workflow_callback


def _account_endpoint(provider: str, kind: str) -> Callable[..., Awaitable[dict[str, str]]]:
    async def account_callback(request: CallbackRequestDep, news: CallbacksDep) -> dict[str, str]:
        return {"status": await news.handle_for_account(provider, kind, request)}

    return account_callback
