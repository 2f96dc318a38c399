"""Creates runs and moves them through their states; every status report about a run comes here."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TypedDict, Unpack, cast

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.kit.json_values import JsonObject
from offhook.kit.phone_numbers import is_e164
from offhook.orgs import Caller, write_audit_entry
from offhook.orgs import service as orgs
from offhook.orgs.data_keys.sealed_rows import open_row, seal_row
from offhook.orgs.do_not_call import do_not_call_list
from offhook.root import is_draining
from offhook.runs import repository
from offhook.runs.call_limits import take_call_slot
from offhook.runs.cluster_room import cluster_room_of
from offhook.runs.errors import RunNotFound, ServerDraining, WorkflowHasNoStart
from offhook.runs.finishing import finalization
from offhook.runs.records import event_queries
from offhook.runs.records import repository as records
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.placement import CallPlacement
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.sealed_columns import NOTE
from offhook.runs.states import ALL_STATES, FINAL_STATES, TEXT_CHAT, StatusChange
from offhook.runs.tables import Run
from offhook.usage import service as usage
from offhook.workflows.canaries import choice
from offhook.workflows.graph import parse_graph

STATUS_CHANGED = "status_changed"  # {status, outcome?, end_reason?, call_id?}
STATUS_IGNORED = "status_ignored"  # the same, and {current}: it came too late, twice or in the wrong order


class RunDetails(TypedDict, total=False):
    """Optional facts known when a run is created. Numbers are E.164; ``name`` replaces the generated one."""

    name: str | None
    phone_number: str | None
    caller_number: str | None
    called_number: str | None
    call_id: str | None
    campaign_id: int | None
    initial_context: Mapping[str, object] | None
    created_by: int | None
    placement: CallPlacement | None


async def create_run(
    session: AsyncSession,
    *,
    organization_id: int,
    workflow_id: int,
    mode: str,
    direction: str,
    use_draft: bool,
    name_prefix: str = "WR-TEL-OUT",
    **details: Unpack[RunDetails],
) -> Run:
    """Creates a run in state ``initiated`` on the published version, or on an existing draft with ``use_draft``. A canary
    takes its share of the runs that are no tests.

    ``direction`` is ``inbound`` or ``outbound``. Raises what ``workflows.service.get_version_to_run`` raises for a workflow
    that cannot run, WorkflowHasNoStart (409) for an unfinished draft, OrganizationClosed (409), OutOfCredit and DailySpendLimitReached (402) and
    ConcurrentCallLimit (429), ClusterFull and ServerDraining (503). What the conversation may cost at first is set aside with it.
    """
    if is_draining(session) and not (direction == "inbound" and _has_room_elsewhere(session, mode)):
        raise ServerDraining
    await orgs.require_open(session, organization_id)
    far_end = details.get("caller_number") if direction == "inbound" else details.get("called_number")
    number = far_end or details.get("phone_number")
    version, draw = await choice.choose_version(session, organization_id, workflow_id, number, use_draft=use_draft)
    if parse_graph(version.definition).start_id is None:
        raise WorkflowHasNoStart
    if mode == TEXT_CHAT:
        if (room := cluster_room_of(session)) is not None:
            room.require_accepting()
        held = await usage.reserve_chat(session, organization_id)
    else:
        await take_call_slot(session, organization_id, mode)
        held = await usage.reserve_call(session, organization_id)
    run = Run(
        organization_id=organization_id,
        workflow_id=version.workflow_id,
        version_id=version.version_id,
        version_number=version.version_number,
        name=details.get("name") or run_name(name_prefix),
        mode=mode,
        direction=direction,
        phone_number=details.get("phone_number"),
        caller_number=details.get("caller_number"),
        called_number=details.get("called_number"),
        call_id=details.get("call_id"),
        campaign_id=details.get("campaign_id"),
        initial_context=cast(JsonObject, details.get("initial_context") or {}),
        created_by=details.get("created_by"),
    )
    if placement := details.get("placement"):
        run.placement = placement.to_json()
    session.add(run)
    await session.flush()
    await session.refresh(run)
    await usage.hold_for_runs(session, organization_id, [run.id], held)
    if draw is not None:
        await choice.record_draws(session, organization_id, {run.id: draw})
    return run


def _has_room_elsewhere(session: AsyncSession, mode: str) -> bool:
    """Returns whether another process takes the audio of a carrier's call. A balancer sends requests to a process for
    some seconds after it began to drain."""
    room = cluster_room_of(session)
    if room is None or mode == TEXT_CHAT or room.is_test_mode(mode):
        return False
    return room.has_room_elsewhere()


def run_name(prefix: str) -> str:
    """Returns a name such as ``WR-TEL-OUT-########``; for display only, so it need not be unique."""
    return f"{prefix}-{secrets.randbelow(10**8):08d}"


async def get_run(session: AsyncSession, organization_id: int, run_id: int, *, workflow_id: int | None = None) -> Run:
    """Returns the run. Raises RunNotFound (404) for another organization's run or, if given, another workflow's."""
    run = await repository.by_id(session, organization_id, run_id)
    if run is None or (workflow_id is not None and run.workflow_id != workflow_id):
        raise RunNotFound
    return run


async def get_any_run(session: AsyncSession, run_id: int) -> Run:
    """Returns a run of any organization, for commands. Raises RunNotFound (404)."""
    run = await repository.find_any_run(session, run_id)
    if run is None:
        raise RunNotFound
    return run


async def update_notes(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    *,
    workflow_id: int,
    note: str | None,
    tags: Sequence[str] | None,
) -> Run:
    """Changes what people wrote about a run; None leaves it as it is. Raises RunNotFound (404), and WordsUnreadable (409) when
    the note cannot be encrypted."""
    run = await get_run(session, organization_id, run_id, workflow_id=workflow_id)
    if note is not None:
        run.note = note or None
        await seal_row(session, run, NOTE, is_strict=True)
    if tags is not None:
        run.tags = list(dict.fromkeys(tags))
    await session.flush()
    return run


async def read_note(session: AsyncSession, run: Run) -> str | None:
    """Returns what people wrote about a run. Raises WordsUnreadable (409)."""
    note: str | None = (await open_row(session, run, NOTE))["note"]
    return note


async def apply_status(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    status: str,
    *,
    outcome: str | None = None,
    end_reason: str | None = None,
    call_id: str | None = None,
    at: datetime | None = None,
) -> bool:
    """Applies a carrier's report to one run as :func:`apply_status_changes` does; returns whether it moved the run.
    Raises RunNotFound (404)."""
    change = StatusChange(organization_id, run_id, status, at or time_of(session), outcome, end_reason, call_id)
    (has_moved,) = await apply_status_changes(session, [change])
    if has_moved is None:
        raise RunNotFound
    return has_moved


async def apply_status_changes(session: AsyncSession, changes: Sequence[StatusChange]) -> list[bool | None]:
    """Applies carriers' reports and returns, for each, whether it moved its run; None if there is no such run.

    Uses compare-and-swap, so that two processes never lose each other's reports. A final state is final: a report
    that is late, repeated or out of order only goes to the event list. Reports on one run are applied in order.
    """
    for one in changes:
        if one.status not in ALL_STATES:
            raise ValueError(f"{one.status!r} is not a run status")
    results: list[bool | None] = [None] * len(changes)
    ended: list[Run] = []
    left = list(enumerate(changes))
    while left:
        # the first remaining report of each run: a statement moves a row once
        first: dict[int, int] = {}
        for index, one in left:
            first.setdefault(one.run_id, index)
        turn = sorted(first.values())
        left = [(index, one) for index, one in left if first[one.run_id] != index]
        for index, has_moved in zip(
            turn, await _apply_batch(session, [changes[index] for index in turn], ended), strict=True
        ):
            results[index] = has_moved
    if ended:
        await finalization.finalize_runs(session, ended)
    return results


async def _apply_batch(session: AsyncSession, changes: Sequence[StatusChange], ended: list[Run]) -> list[bool | None]:
    """Applies one report to each of some runs. Runs that it ended and that no worker carries are added to
    ``ended``: a worker that carries the call, or the sweeper after it, knows more and finalizes the run itself."""
    moved = await records.apply_status_changes(session, changes)
    others = [one for one in changes if one.run_id not in moved]
    known = await repository.by_ids(session, {(one.organization_id, one.run_id) for one in others}) if others else {}
    now, events = time_of(session), list[NewEvent]()
    results: list[bool | None] = []
    for one in changes:
        run = moved.get(one.run_id) or known.get((one.organization_id, one.run_id))
        if run is None:
            results.append(None)
            continue
        has_moved = one.run_id in moved
        fields = {"status": one.status, "outcome": one.outcome, "end_reason": one.end_reason, "call_id": one.call_id}
        data = {name: value for name, value in fields.items() if value is not None}
        if has_moved:
            events.append(_status_event(run, STATUS_CHANGED, one.at, data, now))
            if one.status in FINAL_STATES and run.worker_id is None:
                ended.append(run)
        else:
            events.append(_status_event(run, STATUS_IGNORED, one.at, {**data, "current": run.status}, now))
        results.append(has_moved)
    await event_queries.append_events(session, events)
    return results


def _status_event(run: Run, kind: str, at: datetime, data: Mapping[str, object], now: datetime) -> NewEvent:
    """Builds the event. Its time is on the run's audio clock as seen from outside: milliseconds since the answer."""
    since = (at - run.answered_at).total_seconds() if run.answered_at else 0
    at_ms = min(max(0, round(since * 1000)), 2**31 - 1)
    return NewEvent(run.id, kind, at_ms, encode_event_data(data), now)


async def take_for_dialing(
    session: AsyncSession,
    organization_id: int,
    run_id: int,
    *,
    to_number: str,
    from_number: str,
    context: JsonObject,
    placement: CallPlacement,
) -> Run | None:
    """Returns the run, which only this transaction may dial; None if it was already dialed or connected.

    Numbers are E.164; ``context`` replaces the run's.
    """
    known = {
        "phone_number": to_number,
        "called_number": to_number,
        "caller_number": from_number,
        "placement": placement.to_json(),
    }
    return await repository.take_for_dialing(
        session, organization_id, run_id, at=time_of(session), known={**known, "initial_context": context}
    )


async def set_call_ids(session: AsyncSession, calls: Collection[tuple[int, int, str]]) -> None:
    """Stores the carrier's ids of accepted calls, given as ``(organization, run, call id)``, in any state of the runs."""
    await repository.set_call_ids(session, calls)


async def put_on_do_not_call_list(session: AsyncSession, run: Run) -> None:
    """Puts this run's remote number on the do-not-call list. Does nothing without a phone number. Idempotent."""
    wanted = run.caller_number if run.direction == "inbound" else run.called_number
    number = wanted or run.phone_number
    if number is None or not is_e164(number):
        return
    origin = do_not_call_list.DoNotCallOrigin(
        do_not_call_list.SOURCE_CALL, "The caller asked for it on a call.", run_id=run.id
    )
    for entry in await do_not_call_list.add_numbers(session, run.organization_id, [number], origin):
        caller = Caller.system(run.organization_id)
        data = {"source": entry.source, "run_id": run.id}
        await write_audit_entry(session, caller, "do_not_call.added", f"do_not_call:{entry.id}", data)
