"""The file of evidence about one run."""

import hashlib
import json
from datetime import datetime
from typing import Final, Literal, Self

from pydantic import AliasChoices, ConfigDict, Field

from offhook.kit.json_values import JsonObject
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.exported_entries import ExportedEntry
from offhook.runs.records.placement import CallPlacement

FORMAT: Final = "offhook.evidence.1"


class _Section(Schema):
    model_config = ConfigDict(frozen=True)


class EvidencedRun(_Section):
    id: int
    name: str
    organization_id: int
    workflow_id: int
    version_number: int
    mode: str
    direction: str
    status: str
    outcome: str | None
    end_reason: str | None
    caller_number: str | None
    called_number: str | None
    created_at: datetime
    started_at: datetime | None
    answered_at: datetime | None
    ended_at: datetime | None
    duration_seconds: float | None = Field(validation_alias=AliasChoices("duration_seconds", "duration"))


class CampaignFacts(_Section):
    """The campaign, and the contact as it was uploaded; ``contact_file`` is the uploaded list. ``because``: why this
    contact was called again."""

    id: int
    name: str
    created_by: int | None
    contact_file: str | None
    contact_id: int
    contact_row: int
    contact_variables: JsonObject
    dial: int
    because: str | None
    reserved_at: datetime
    placed_at: datetime | None


class HeardSentence(_Section):
    """``text`` is what was heard; times are seconds since the media connected."""

    text: str
    start_s: float | None
    end_s: float | None
    interrupted: bool | None


class DisclosureFacts(_Section):
    """The sentence that the call began with, if all of it was played. ``proof``: ``mark`` (the far end reported that it
    played it) or ``clock`` (it was sent completely, at the speed of speech). The recording begins after it, if at
    all."""

    text: str | None = Field(description="Null when the transcript was not kept or is deleted")
    start_s: float | None
    end_s: float | None
    proof: str
    recording_began_s: float | None


class ConsentFacts(_Section):
    """What Offhook knows about consent: the caller heard the whole disclosure and stayed for ``stayed_s`` seconds.
    ``objected_s``: when a tool deleted the recording, because the caller did not want it."""

    basis: Literal["stayed_after_disclosure"] = "stayed_after_disclosure"
    stayed_s: float
    objected_s: float | None


class ListedNumber(_Section):
    entry_id: int
    phone_number: str
    listed_at: datetime


class OptOut(_Section):
    """``requests``: the caller's sentences. ``listed``: do-not-call entries that this call made and that still exist."""

    requests: list[HeardSentence]
    listed: list[ListedNumber]


class RecordingFacts(_Section):
    sha256: str = Field(description="Of the file, 64 hex digits")
    size_bytes: int
    duration_seconds: float | None = Field(description="By the header of the file")


class StatusReport(_Section):
    """``type``: ``status_changed``, or ``status_ignored`` for a report that came too late."""

    type: str
    at: datetime
    data: JsonObject


class CarrierFacts(_Section):
    """``bill``: ``duration_s``, ``billed_s``, ``cost`` and ``currency``, as far as the carrier reported them."""

    provider: str
    call_id: str | None
    statuses: list[StatusReport]
    bill: JsonObject | None


class EvidenceFile(_Section):
    """For everything that is null or missing, ``not_recorded`` gives the reason, by section name."""

    format: Literal["offhook.evidence.1"] = FORMAT
    made_at: datetime
    run: EvidencedRun
    placement: CallPlacement | None = Field(description="Who placed the call, and what was checked before")
    campaign: CampaignFacts | None
    consent: ConsentFacts | None
    disclosure: DisclosureFacts | None
    first_words: HeardSentence | None = Field(description="What was heard of the agent's first utterance")
    opt_out: OptOut
    recording: RecordingFacts | None
    carrier: CarrierFacts | None
    audit_entries: list[ExportedEntry] = Field(description="Entries about the run, with their place in the chain")
    not_recorded: dict[str, str]
    sha256: str = Field(default="", description="Over the canonical JSON of everything else, 64 hex digits")

    def with_digest(self) -> Self:
        content = self.model_dump(mode="json", exclude={"sha256"})
        return self.model_copy(update={"sha256": compute_digest(content)})


def compute_digest(content: JsonObject) -> str:
    """Returns the SHA-256 of a file's content without its ``sha256``."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
