"""The call strip of a play: loudness of both sides, steps and marks, as for the calls of the telephone."""

from typing import Final, cast

from offhook.kit.json_values import JsonObject
from offhook.runs.strips.loudness import measure_loudness, reduce_bars
from offhook.runs.strips.timeline import EVENT_TYPES, build_timeline
from offhook.scenarios.engine.player import PlayedScenario

# As many as a dialog draws.
BARS: Final = 360


def describe_strip(played: PlayedScenario) -> JsonObject | None:
    """Returns ``{seconds, caller, agent, steps, marks}``; None without a recording. Raises OSError."""
    if played.sound is None or not played.sound.recording.exists():
        return None
    with played.sound.recording.open("rb") as file:
        loudness = measure_loudness(file)
    if loudness is None:
        return None
    shown = [
        (event.type, round(event.at_s * 1000), cast(JsonObject, event.data))
        for event in played.journal
        if event.type in EVENT_TYPES
    ]
    timeline = build_timeline(shown, loudness.seconds)
    return {
        "seconds": loudness.seconds,
        "caller": list(reduce_bars(loudness.caller, BARS)),
        "agent": list(reduce_bars(loudness.agent, BARS)),
        "steps": list(timeline.steps),
        "marks": list(timeline.marks),
    }
