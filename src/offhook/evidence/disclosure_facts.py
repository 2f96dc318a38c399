"""What the events of a run say about its disclosure."""

from collections.abc import Sequence
from typing import Final

from offhook.evidence.schemas import ConsentFacts, DisclosureFacts
from offhook.runs.records.event_queries import StoredEvent
from offhook.voice.events import (
    AGENT_SAID,
    CALL_ENDED,
    DISCLOSURE_MISSED,
    DISCLOSURE_PLAYED,
    RECORDING_DISCARDED,
    RECORDING_STARTED,
)

_NO_DISCLOSURE: Final = "The agent has no disclosure sentence, or the call ended before it. first_words has what was heard at the beginning."
_NO_CONSENT: Final = (
    "Without a disclosure that was played whole, Offhook knows nothing about consent. Columns of the contact's list are "
    "in campaign.contact_variables."
)
_MISSED: Final = {
    "cut_off": "The disclosure was cut off, so the call was not recorded.",
    "not_confirmed": "The carrier did not report that the disclosure was played whole, so the call was not recorded.",
    "recording_missing": "The disclosure could not be played, so the call was not recorded.",
}


def read_disclosure(events: Sequence[StoredEvent]) -> DisclosureFacts | None:
    """Returns the disclosure that was played whole."""
    played = _find(events, DISCLOSURE_PLAYED)
    if played is None:
        return None
    started = _find(events, RECORDING_STARTED)
    data = played["data"]
    start, end = data.get("start_s"), data.get("end_s")
    sentences = [event["data"] for event in events if event["type"] == AGENT_SAID]
    return DisclosureFacts(
        text=next((str(data["text"]) for data in sentences if data.get("text") and data.get("start_s") == start), None),
        start_s=float(start) if isinstance(start, int | float) else None,
        end_s=float(end) if isinstance(end, int | float) else None,
        proof=str(data.get("proof") or ""),
        recording_began_s=started["at_ms"] / 1000 if started is not None else None,
    )


def read_consent(events: Sequence[StoredEvent], disclosure: DisclosureFacts | None) -> ConsentFacts | None:
    """Returns what is known of consent; without a disclosure that was heard, nothing."""
    if disclosure is None or disclosure.end_s is None:
        return None
    discarded = _find(events, RECORDING_DISCARDED)
    ended = _find(events, CALL_ENDED)
    last_ms = ended["at_ms"] if ended is not None else max(event["at_ms"] for event in events)
    return ConsentFacts(
        stayed_s=round(max(0.0, last_ms / 1000 - disclosure.end_s), 3),
        objected_s=discarded["at_ms"] / 1000 if discarded is not None else None,
    )


def explain_missing_disclosure(events: Sequence[StoredEvent]) -> dict[str, str]:
    """Returns why there is no consent and no disclosure."""
    missed = _find(events, DISCLOSURE_MISSED)
    reason = str(missed["data"].get("reason")) if missed is not None else ""
    return {"consent": _NO_CONSENT, "disclosure": _MISSED.get(reason, _NO_DISCLOSURE)}


def _find(events: Sequence[StoredEvent], kind: str) -> StoredEvent | None:
    return next((event for event in events if event["type"] == kind), None)
