"""Endpoints for the recording, the transcript and the live event stream of a run."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Header, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from offhook.errors import Unauthorized
from offhook.kit.database.database import Session
from offhook.kit.files.byte_ranges import RangeResponse
from offhook.kit.http.path_ids import Id, LongId
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, OptionalOrg, end_with_credential, record_link_read
from offhook.runs import repository, service
from offhook.runs.artifacts.links import Artifact
from offhook.runs.errors import RunNotFound, RunRecordingNotFound
from offhook.runs.live.event_streams import RunStreams
from offhook.runs.records import event_queries
from offhook.runs.records.projections import build_transcript, format_transcript
from offhook.runs.schemas import TranscriptItem, TranscriptResponse
from offhook.runs.services import Links, Services
from offhook.runs.tables import Run
from offhook.voice.events import VoiceEvent

router = Router(prefix="/workflow/{workflow_id}/runs/{run_id}", tags=["runs"])

LinkParam = Annotated[str | None, Query(description="The token of a signed link, instead of a credential")]
MAX_EVENTS = 100_000
MAX_EVENT_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ArtifactReader:
    """Who asks for a recording or a transcript: a caller of the organization, or the holder of a signed link."""

    request: Request
    caller: OptionalOrg
    links: Links
    link: LinkParam = None

    async def get_run(self, session: Session, artifact: Artifact, workflow_id: int, run_id: int) -> Run:
        """Returns the run if its artifact may be read. Raises RunNotFound (404), Unauthorized (401)."""
        if self.link is not None:
            is_valid = self.links.is_valid_for(self.link, artifact, run_id)
            run = await repository.run_of_bearer(session, run_id) if is_valid else None
            if run is None or run.workflow_id != workflow_id:
                raise RunNotFound
            await record_link_read(session, self.request, run.organization_id, f"{artifact}.read", f"run:{run.id}")
            return run
        if self.caller is None:
            raise Unauthorized
        return await service.get_run(session, self.caller.organization_id, run_id, workflow_id=workflow_id)


Reader = Annotated[ArtifactReader, Depends()]


@router.get(
    "/recording",
    response_class=Response,
    responses={200: {"content": {"audio/wav": {}}}, 206: {"description": "A range of the file"}},
    operation_id="get_workflow_run_recording",
)
async def get_recording(
    workflow_id: Id,
    run_id: LongId,
    reader: Reader,
    session: Session,
    services: Services,
    range_header: Annotated[str | None, Header(alias="Range")] = None,
) -> Response:
    """Returns the stereo WAV file: caller left, agent right. During the call it lags by about one second."""
    run = await reader.get_run(session, "recording", workflow_id, run_id)
    if run.recording_key is None:
        raise RunRecordingNotFound
    key, name = run.recording_key, f"{run.name}.wav"
    return RangeResponse(services.vault, key, range_header, "audio/wav", name, missing=RunRecordingNotFound)


@router.get(
    "/transcript",
    response_model=TranscriptResponse,
    responses={200: {"content": {"text/plain": {}}}},
    operation_id="get_workflow_run_transcript",
)
async def get_transcript(
    workflow_id: Id,
    run_id: LongId,
    request: Request,
    reader: Reader,
    session: Session,
    format: Literal["text", "json"] | None = None,  # noqa: A002 - the parameter's name
) -> TranscriptResponse | Response:
    """Returns the transcript as plain text, or as JSON for ``?format=json`` or ``Accept: application/json``."""
    run = await reader.get_run(session, "transcript", workflow_id, run_id)
    events = await event_queries.read_events(session, run.organization_id, run_id, limit=MAX_EVENTS)
    lines = build_transcript(events)
    if format == "json" or (format is None and "application/json" in request.headers.get("accept", "")):
        shown = [TranscriptItem.model_validate(asdict(line)) for line in lines]
        return TranscriptResponse(workflow_run_id=run.id, status=run.status, lines=shown)
    return PlainTextResponse(format_transcript(lines), headers={"Cache-Control": "private, no-cache"})


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
    operation_id="stream_workflow_run_events",
)
async def stream_events(
    workflow_id: Id,
    run_id: LongId,
    request: Request,
    org: CurrentOrg,
    session: Session,
    services: Services,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
    after: Annotated[int, Query(ge=0, le=MAX_EVENT_ID)] = 0,
) -> StreamingResponse:
    """Streams server-sent events: past events first, then new ones until the run has ended (event ``ended``).

    The id of an event is its number; ``Last-Event-ID`` (or ``after``) resumes after it. Events without an id
    (``caller_started``, ``caller_stopped``, ``caller_partial``, ``agent_speaking``, ``turn_timed``) are sent live only.
    What ``turn_timed`` says is stored as ``timing`` of the answer's ``agent_said``. A stream that stops without
    ``ended`` reached its 15 minutes, or its credential expired: resume it.
    """
    await service.get_run(session, org.organization_id, run_id, workflow_id=workflow_id)
    seen = last_event_id.strip() if last_event_id else ""
    start = min(int(seen), MAX_EVENT_ID) if seen.isascii() and seen.isdigit() and len(seen) < 12 else after
    body = end_with_credential(request, org, _stream_sse(services.streams, org.organization_id, run_id, start))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


async def _stream_sse(streams: RunStreams, organization_id: int, run_id: int, after: int) -> AsyncGenerator[str]:
    yield "retry: 1000\n\n"
    async for part in streams.follow_run(organization_id, run_id, after=after):
        if part is None:
            yield ": keep-alive\n\n"
        elif isinstance(part, VoiceEvent):
            yield _format_sse_message(
                part.type, {"type": part.type, "at_ms": round(part.at_s * 1000), "data": part.data}
            )
        else:
            yield "".join([_format_sse_message(event["type"], event, event["seq"]) for event in part])
    run = await streams.find_run(organization_id, run_id)
    if run is not None:
        yield _format_sse_message("ended", {"status": run.status, "outcome": run.outcome, "end_reason": run.end_reason})


def _format_sse_message(kind: str, data: Mapping[str, object], number: int | None = None) -> str:
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False, default=_json_default)}\n\n"


def _json_default(value: Any) -> str:
    return str(value.isoformat())
