"""What a workflow may set of a call, with the defaults (``workflow_configurations``)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

TurnStart = Literal["default", "min_words", "never"]
TurnStop = Literal["default", "transcription", "silence"]


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the agent says when no model may be trusted to; cached as audio when the first call begins."""

    filler: str = "One moment, please."
    reprompt: str = "Sorry, I didn't catch that. Could you say it again?"
    apology: str = "I'm sorry, I am having technical trouble. Please call again later. Goodbye."
    idle: str = "Are you still there?"
    idle_goodbye: str = "I can't hear you, so I will end the call now. Goodbye."
    time_warning: str = "Just so you know, we are almost out of time."
    time_over: str = "I'm sorry, our time is up. Goodbye."
    goodbye: str = "Goodbye."


@dataclass(frozen=True, slots=True)
class CallConfig:
    """Times are seconds. ``from_configurations`` ignores what it does not know and what has a wrong type.

    The workflow domain refuses wrong values when they are saved; here they fall back to the default, because a call
    that is under way must not fail on a setting.
    """

    max_duration_s: float = 300.0
    duration_warning_s: float = 20.0
    idle_timeout_s: float = 10.0
    idle_prompts: int = 2
    turn_start: TurnStart = "default"
    turn_start_min_words: int = 3
    turn_stop: TurnStop = "default"
    # 0.7 s of silence: telephone pauses inside a sentence seldom pass 0.5 s
    turn_stop_silence_s: float = 0.7
    vad_start_probability: float = 0.5
    vad_stop_probability: float = 0.35
    # four windows of 32 ms: shorter bursts are clicks and breath
    interrupt_after_s: float = 0.12
    vad_stop_after_s: float = 0.3
    filler_after_s: float = 1.8
    retry_after_s: float = 4.5
    give_up_after_s: float = 9.0
    deaf_after_s: float = 1.6
    max_unheard_turns: int = 4
    voicemail_action: Literal["hang_up", "message"] = "hang_up"
    voicemail_message: str = ""
    is_voicemail_detection_on: bool = True
    phrases: Phrases = Phrases()

    @classmethod
    def from_configurations(cls, configurations: Mapping[str, Any]) -> "CallConfig":
        def number(key: str, default: float, low: float, high: float) -> float:
            value = configurations.get(key)
            if isinstance(value, bool) or not isinstance(value, int | float):
                return default
            return min(max(float(value), low), high)

        start = configurations.get("turn_start_strategy")
        stop = configurations.get("turn_stop_strategy")
        voicemail = configurations.get("voicemail_detection")
        voicemail = voicemail if isinstance(voicemail, Mapping) else {}
        action = voicemail.get("action")
        message = voicemail.get("message")
        return cls(
            max_duration_s=number("max_call_duration", 300, 1, 1200),
            idle_timeout_s=number("max_user_idle_timeout", 10, 1, 600),
            turn_start=cast(TurnStart, start) if start in get_args(TurnStart) else "default",
            turn_start_min_words=int(number("turn_start_min_words", 3, 1, 20)),
            turn_stop=cast(TurnStop, stop) if stop in get_args(TurnStop) else "default",
            turn_stop_silence_s=number("turn_stop_silence_secs", 0.7, 0.2, 5),
            voicemail_action="message" if action == "message" and isinstance(message, str) and message else "hang_up",
            voicemail_message=message if isinstance(message, str) else "",
            is_voicemail_detection_on=voicemail.get("enabled") is not False,
        )
