"""Collects the evidence of one run from the domains that have it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import service as campaigns
from offhook.evidence.disclosure_facts import explain_missing_disclosure, read_consent, read_disclosure
from offhook.evidence.recording_facts import measure_recording
from offhook.evidence.schemas import (
    CampaignFacts,
    CarrierFacts,
    EvidencedRun,
    EvidenceFile,
    HeardSentence,
    ListedNumber,
    OptOut,
    RecordingFacts,
    StatusReport,
)
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone
from offhook.orgs.audit_trail.export import read_entries_of_run
from offhook.orgs.do_not_call import do_not_call_list
from offhook.runs import Run
from offhook.runs import service as runs
from offhook.runs.errors import RunInProgress
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import StoredEvent
from offhook.runs.records.placement import CallPlacement
from offhook.runs.states import LIVE_STATES
from offhook.voice.events import AGENT_SAID

_MAX_EVENTS: Final = 100_000
_MAX_AUDIT_ENTRIES: Final = 1000
_STATUS_TYPES: Final = (runs.STATUS_CHANGED, runs.STATUS_IGNORED)


class EvidenceCollector:
    """Reads everything in one snapshot, and the recording afterwards."""

    def __init__(self, db: Database, vault: RecordingVault, clock: Clock) -> None:
        self._db = db
        self._vault = vault
        self._clock = clock

    async def collect_evidence(
        self, organization_id: int, run_id: int, *, workflow_id: int | None = None
    ) -> EvidenceFile:
        """Returns the file of a run that is over. Raises RunNotFound (404), RunInProgress (409)."""
        async with self._db.snapshot_transaction() as session:
            run = await runs.get_run(session, organization_id, run_id, workflow_id=workflow_id)
            if run.status in LIVE_STATES or run.is_leased:
                raise RunInProgress
            file = await _read_facts(session, run, self._clock.now())
        recording = await self._measure(run.recording_key)
        reasons = dict(file.not_recorded)
        if recording is None:
            is_gone = run.recording_key is not None
            reasons["recording"] = "The recording is not stored here." if is_gone else "The run was not recorded."
        return file.model_copy(update={"recording": recording, "not_recorded": reasons}).with_digest()

    async def _measure(self, key: str | None) -> RecordingFacts | None:
        if key is None:
            return None
        try:
            async with self._vault.open_file(key) as file:
                return await asyncio.to_thread(measure_recording, file)
        except FileGone:
            return None


async def _read_facts(session: AsyncSession, run: Run, now: datetime) -> EvidenceFile:
    events = await event_queries.read_events(session, run.organization_id, run.id, limit=_MAX_EVENTS)
    listed = await do_not_call_list.entries_of_run(session, run.organization_id, run.id)
    placement = CallPlacement.model_validate(run.placement) if run.placement else None
    first = next((event for event in events if event["type"] == AGENT_SAID), None)
    campaign = await _read_campaign(session, run)
    carrier = _read_carrier(run, events)
    disclosure = read_disclosure(events)
    reasons = {} if disclosure is not None else explain_missing_disclosure(events)
    return EvidenceFile(
        made_at=now,
        run=EvidencedRun.model_validate(run, from_attributes=True),
        placement=placement,
        campaign=campaign,
        consent=read_consent(events, disclosure),
        disclosure=disclosure,
        first_words=_to_utterance(first) if first else None,
        opt_out=OptOut(
            requests=[_to_utterance(event) for event in events if event["type"] == DO_NOT_CALL_REQUESTED],
            listed=[
                ListedNumber(entry_id=entry.id, phone_number=entry.phone_number, listed_at=entry.created_at)
                for entry in listed
            ],
        ),
        recording=None,
        carrier=carrier,
        audit_entries=await read_entries_of_run(session, run.organization_id, run.id, _MAX_AUDIT_ENTRIES),
        not_recorded=reasons
        | _explain_missing(
            run, placement, has_campaign=campaign is not None, has_words=first is not None, carrier=carrier
        ),
    )


def _explain_missing(
    run: Run, placement: CallPlacement | None, *, has_campaign: bool, has_words: bool, carrier: CarrierFacts | None
) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if placement is None:
        is_outbound_call = run.direction == "outbound" and run.called_number is not None
        reasons["placement"] = (
            "The call was placed by a version that kept no checks."
            if is_outbound_call
            else "Offhook did not place this conversation: do-not-call, destination and calling hours do not apply."
        )
    elif placement.calling_window is None:
        reasons["placement.calling_window"] = (
            "The campaign had no calling hours."
            if placement.placed_by == "campaign"
            else "Calling hours are rules of campaigns; a single call has none."
        )
    if not has_campaign:
        is_deleted = run.campaign_id is not None
        reasons["campaign"] = "The contact does not exist any more." if is_deleted else "The run is of no campaign."
    if not has_words:
        reasons["first_words"] = "The agent said nothing that was heard."
    if carrier is None:
        reasons["carrier"] = "No carrier carried this conversation."
    elif carrier.bill is None:
        reasons["carrier.bill"] = "The carrier reported no billed time."
    return reasons


async def _read_campaign(session: AsyncSession, run: Run) -> CampaignFacts | None:
    found = await campaigns.find_dial_of_run(session, run.organization_id, run.id)
    if found is None:
        return None
    campaign, contact, dial = found
    return CampaignFacts(
        id=campaign.id,
        name=campaign.name,
        created_by=campaign.created_by,
        contact_file=campaign.contacts_file_key,
        contact_id=contact.id,
        contact_row=contact.row_number,
        contact_variables=contact.variables,
        dial=dial.number,
        because=dial.because,
        reserved_at=dial.reserved_at,
        placed_at=dial.placed_at,
    )


def _read_carrier(run: Run, events: Sequence[StoredEvent]) -> CarrierFacts | None:
    if run.called_number is None and run.call_id is None:
        return None
    statuses = [
        StatusReport(type=event["type"], at=event["created_at"], data=event["data"])
        for event in events
        if event["type"] in _STATUS_TYPES
    ]
    return CarrierFacts(provider=run.mode, call_id=run.call_id, statuses=statuses, bill=run.carrier_bill)


def _to_utterance(event: StoredEvent) -> HeardSentence:
    data = event["data"]
    start, end, interrupted = data.get("start_s"), data.get("end_s"), data.get("interrupted")
    return HeardSentence(
        text=str(data.get("text") or ""),
        start_s=float(start) if isinstance(start, int | float) else event["at_ms"] / 1000,
        end_s=float(end) if isinstance(end, int | float) else None,
        interrupted=interrupted if isinstance(interrupted, bool) else None,
    )
