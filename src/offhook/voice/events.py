"""Every event that a conversation can report, in the order they occur.

All have one shape: a ``type`` (past tense), ``at_s`` on the run's audio clock (0 = media connected) and plain JSON
``data``. Transcript, latency, cost and progress are projections of this list; nothing else is stored of a call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import JsonObject, ReadableJsonObject


@dataclass(frozen=True, slots=True)
class VoiceEvent:
    type: str
    at_s: float
    data: ReadableJsonObject = field(default_factory=dict)


Emit = Callable[[str, ReadableJsonObject], None]

# type                    data
CALL_STARTED: Final = "call_started"  # {codec, sample_rate} or {channel: "text"}
CALL_RESUMED: Final = (
    "call_resumed"  # {node_id, gap_s} another media connection, in this process or another one, goes on
)
NODE_ENTERED: Final = "node_entered"  # {node_id, name, kind}
EDGE_TAKEN: Final = "edge_taken"  # {edge_id, label, from, to, by: "model"|"dtmf"|"auto"}
CALLER_STARTED: Final = "caller_started"  # {} speech began; live only: not stored
CALLER_STOPPED: Final = "caller_stopped"  # {} speech ended; live only: not stored
CALLER_PARTIAL: Final = "caller_partial"  # {text} live only: not stored
CALLER_SAID: Final = (
    "caller_said"  # {text, start_s, end_s, confidence?, ignored?: why it is not answered}   -> transcript
)
HELD_TURNS_ANSWERED: Final = "held_turns_answered"  # {turns} nothing came after them: the last so many turns that were ignored as turned_away are answered as one
EARLY_ANSWER: Final = "early_answer"  # {used: true, ahead_ms} or {used: false, reason}: what came of a request that was made before the turn was over
PAUSE_JUDGED: Final = "pause_judged"  # {says: "complete"|"incomplete"|"unsure", probability, cpu_ms, then: "turn_ended"|"caller_went_on", after_ms, changed?: "sooner"|"later"} or {says: "late"|"failed"}: what the turn detector made of a pause
CALLER_NOT_UNDERSTOOD: Final = "caller_not_understood"  # {start_s, end_s} words without a transcript  -> transcript
AGENT_SAID: Final = "agent_said"  # {text, start_s, end_s, interrupted, node_id, timing?: of an answer}  -> transcript; text = what was heard
AGENT_SPEAKING: Final = "agent_speaking"  # {text} live only: a sentence begins to play
AGENT_PAUSED: Final = "agent_paused"  # {} the caller makes a sound: the agent pauses and listens
INTERRUPTION_JUDGED: Final = (
    "interruption_judged"  # {decision: "yielded"|"talked_on"|"resumed", reason, words, after_ms}
)
AGENT_RESUMED: Final = "agent_resumed"  # {} it was not an interruption
RECORDING_STARTED: Final = "recording_started"  # {because: "call_connected"|"disclosure_played"}
RECORDING_PAUSED: Final = "recording_paused"  # {} a tool; what is said now is not in the recording
RECORDING_RESUMED: Final = "recording_resumed"  # {}
RECORDING_DISCARDED: Final = "recording_discarded"  # {} a tool: nothing of the call is recorded
DISCLOSURE_PLAYED: Final = "disclosure_played"  # {start_s, end_s, proof: "mark"|"clock"} all of it; its words are the agent_said of the same start
DISCLOSURE_MISSED: Final = "disclosure_missed"  # {reason: "cut_off"|"not_confirmed"|"recording_missing"}
CALLER_AUDIO_UNCLEANED: Final = "caller_audio_uncleaned"  # {reason: "failed"|"missing"|"behind"} the caller is heard as the line has it, although the agent suppresses noise; each reason once
RECORDING_MISSING: Final = "recording_missing"  # {recording_id, instead: "text"|"model"|"hang_up"}
KNOWLEDGE_FOUND: Final = "knowledge_found"  # {node_id, question, while_speaking, waited_ms, sources: [{document_id, name, page, score, whole}]}
CONTEXT_COMPACTED: Final = "context_compacted"  # {messages, summary}
BARGED_IN: Final = "barged_in"  # {heard, dropped_ms}
DIGITS_PRESSED: Final = "digits_pressed"  # {digits}
TURN_TIMED: Final = (
    "turn_timed"  # see TurnTiming.as_dict: the latency record of one turn, live only unless {unheard: true}
)
TOOL_CALLED: Final = "tool_called"  # {id, name, arguments}
TOOL_ANSWERED: Final = "tool_answered"  # {id, name, ok, result?, error?, ms}
MODEL_FAILED: Final = "model_failed"  # {kind, provider, model, code, message, retryable}
LANGUAGE_CHANGED: Final = "language_changed"  # {from, to, because: "reported"|"words", turns} the caller speaks another of the agent's languages
FAILED_OVER: Final = "failed_over"  # {kind, from, to}
SESSION_REPLACED: Final = "session_replaced"  # {provider, model} a speech-to-speech model goes on in a new session
WATCHDOG_ACTED: Final = "watchdog_acted"  # {step: "filler"|"retry"|"apology"|"end", reason, silent_ms}
CALLER_IDLE: Final = "caller_idle"  # {prompts, idle_s}
DURATION_WARNED: Final = "duration_warned"  # {left_s}
VARIABLES_EXTRACTED: Final = "variables_extracted"  # {node_id, values}
VALUES_LEFT_OUT: Final = "values_left_out"  # {node_id, names} extracted, but too long to be kept
VOICEMAIL_DETECTED: Final = "voicemail_detected"  # {by}
USAGE_COUNTED: Final = "usage_counted"  # {llm: [{provider, model, prompt_tokens, completion_tokens, calls}], tts: [...characters], stt: [...seconds]}
CALL_ENDED: Final = "call_ended"  # {end_reason, outcome}

# For those who follow the call now. Stored, the sounds of the caller alone were two rows in five; what was said has its times.
LIVE_ONLY: Final = frozenset({CALLER_STARTED, CALLER_STOPPED, CALLER_PARTIAL, AGENT_SPEAKING, TURN_TIMED})
# The stamps of a turn, in order.
TURN_STAMPS: Final = ("caller_stopped", "turn_decided", "first_token", "first_sentence", "first_byte", "first_frame")
_TIMING_PARTS: Final = frozenset({*TURN_STAMPS, "response_ms"})


def is_live_only(kind: str, data: Mapping[str, Any]) -> bool:
    """Returns whether an event is not stored. The times of a turn are stored with the words of its answer, and alone
    only if none of them was heard."""
    return kind in LIVE_ONLY and not (kind == TURN_TIMED and data.get("unheard") is True)


def find_timing(kind: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the latency record that an event has; None for one without. Earlier versions stored each in a row."""
    found = data if kind == TURN_TIMED else data.get("timing") if kind == AGENT_SAID else None
    return found if isinstance(found, Mapping) else None


def with_timing(said: ReadableJsonObject, times: ReadableJsonObject | None) -> ReadableJsonObject:
    """Returns the data of ``agent_said`` with the times of the answer, if it has some."""
    return said if times is None else {**said, "timing": times}


def unheard_timing(times: ReadableJsonObject) -> ReadableJsonObject:
    """Returns the data of a ``turn_timed`` that is stored."""
    return {**times, "unheard": True}


def is_timing(part: object) -> bool:
    """Returns whether this is a latency record and nothing else."""
    return isinstance(part, Mapping) and all(
        name in _TIMING_PARTS and isinstance(value, int | float) for name, value in part.items()
    )


@dataclass(slots=True)
class TurnTiming:
    """One turn on the audio clock, in seconds since the call began; None = did not happen.

    ``caller_stopped`` → ``turn_decided`` → ``first_token`` → ``first_sentence`` → ``first_byte`` (of TTS) →
    ``first_frame`` (sent to the caller). ``response_ms`` is caller_stopped → first_frame.
    """

    caller_stopped: float | None = None
    turn_decided: float | None = None
    first_token: float | None = None
    first_sentence: float | None = None
    first_byte: float | None = None
    first_frame: float | None = None

    def as_dict(self) -> JsonObject:
        stamps = {name: round(value, 3) for name in TURN_STAMPS if (value := getattr(self, name)) is not None}
        if self.caller_stopped is not None and self.first_frame is not None:
            stamps["response_ms"] = round((self.first_frame - self.caller_stopped) * 1000)
        return stamps
