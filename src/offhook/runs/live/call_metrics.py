"""What a process counts about its calls, for monitors."""

from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from offhook.runs.recording_files.recorders import RECORDING_FAILED
from offhook.voice.events import FAILED_OVER, MODEL_FAILED, WATCHDOG_ACTED

CALLS_ENDED = Counter("offhook_calls_ended", "Calls that this process carried to their end.", ("channel", "outcome"))
ANSWER_TIMES = Histogram(
    "offhook_answer_seconds",
    "From the caller's last word to the first sound of the agent's answer.",
    buckets=(0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10),
)
FIRST_SOUNDS = Histogram(
    "offhook_first_sound_seconds",
    "From the start of a call's media to the agent's first sound.",
    buckets=(0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10),
)
TROUBLES = Counter(
    "offhook_call_troubles", "Failed models, failovers, acts of the watchdog, lost recordings.", ("event", "kind")
)
EVENTS_WAITING = Gauge("offhook_events_waiting", "Events of calls that are not in the database yet.")
LEASE_AGE = Gauge("offhook_lease_age_seconds", "Since the leases of this process's calls were renewed.")
# Of these events, the field that says more.
_TROUBLES: Final = {MODEL_FAILED: "kind", FAILED_OVER: "kind", WATCHDOG_ACTED: "step", RECORDING_FAILED: "kind"}


def count_call(channel: str, outcome: str, responses_ms: Iterable[float], first_sound_s: float | None) -> None:
    CALLS_ENDED.labels(channel, outcome).inc()
    if first_sound_s is not None:
        FIRST_SOUNDS.observe(first_sound_s)
    for response_ms in responses_ms:
        ANSWER_TIMES.observe(response_ms / 1000)


def count_trouble(event: str, data: Mapping[str, object]) -> None:
    """Counts an event if it is a trouble of a call."""
    if event in _TROUBLES:
        TROUBLES.labels(event, str(data.get(_TROUBLES[event], ""))).inc()
