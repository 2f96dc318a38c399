"""Recordings instead of a voice: played, interrupted, remembered, and replaced when they are gone."""

from typing import Any

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec
from offhook.voice import events
from tests.fakes.scripted import ScriptedLlm, ScriptedTts, says, takes
from tests.fakes.voice import RECORDED_HZ, KeptLeg, KeptSounds
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

WELCOME = "Welcome to Acme, how may I help you today?"
RECORDED = {"greeting_type": "audio", "greeting_recording_id": "welcome"}


def call_with(*replies: Any, **start: Any) -> Call:
    call = Call(simple_agent(**start), replies, llms=[ScriptedLlm(replies)], ttss=[ScriptedTts()])
    call.sounds = KeptSounds(welcome=WELCOME, moving="One moment, I put you through.", bye="Bye from Acme.")
    return call


def synthesized(call: Call) -> list[str]:
    tts = call.ttss[0]
    assert isinstance(tts, ScriptedTts)
    return tts.spoken


def asked(call: Call) -> list[tuple[str, str]]:
    """What the model was shown of the conversation in its last turn."""
    llm = call.llms[0]
    assert isinstance(llm, ScriptedLlm)
    return [(message.role, message.content) for message in llm.requests[-1].messages[1:]]


@pytest.mark.parametrize("codec", [MULAW_8K, PCM16_16K], ids=["mulaw_8k", "pcm_16k"])
def test_a_recorded_greeting_is_played_and_not_synthesised(codec: Codec) -> None:
    call = call_with(says("Sure."), **RECORDED)
    call.leg = KeptLeg(codec=codec)
    call.says("A table", at=4).hangs_up(at=8).run()

    assert call.agent_said == [WELCOME, "Sure."]
    assert WELCOME not in synthesized(call)
    played = codec.decode(b"".join(frame for at, frame in call.leg.frames if at < call.started_at + 1.9))
    spectrum = np.abs(np.fft.rfft(played))
    assert spectrum.argmax() * codec.sample_rate / played.size == pytest.approx(RECORDED_HZ, abs=2)
    assert asked(call)[0] == ("assistant", WELCOME)


def test_it_is_interrupted_like_speech() -> None:
    call = call_with(says("Sure."), **RECORDED).says("A table", at=0.9).hangs_up(at=6).run()

    (barged,) = call.sink.of(events.BARGED_IN)
    assert 0 < len(barged["heard"]) < len(WELCOME)
    assert WELCOME.startswith(barged["heard"])
    assert asked(call)[0] == ("assistant", barged["heard"])


def test_a_recording_that_is_gone_is_spoken_from_its_text() -> None:
    call = call_with(**{**RECORDED, "greeting_recording_id": "gone"}).hangs_up(at=5).run()

    assert call.agent_said == ["Hello, how can I help?"]
    assert call.sink.of(events.RECORDING_MISSING) == [{"recording_id": "gone", "instead": "text"}]


def test_without_a_text_the_model_speaks() -> None:
    start = {"greeting_type": "audio", "greeting_recording_id": "gone", "greeting": None}
    call = call_with(says("Hello there."), **start).hangs_up(at=5).run()

    assert call.agent_said == ["Hello there."]
    assert call.sink.of(events.RECORDING_MISSING) == [{"recording_id": "gone", "instead": "model"}]


def test_a_recording_on_the_way_and_one_at_a_node() -> None:
    graph = agent_graph(
        node("start", "startCall", prompt="Ask.", greeting="Sales or support?"),
        node("end", "endCall", say_type="audio", say_recording_id="bye"),
        edge("start", "end", "Sales", transition_speech_type="audio", transition_speech_recording_id="moving"),
    )
    call = call_with(takes("sales"))
    call.definition = graph
    call.says("Sales please", at=3).run()

    assert call.agent_said == ["Sales or support?", "One moment, I put you through. Bye from Acme."]
    assert synthesized(call)[-1] != "Bye from Acme."
    assert call.result is not None
    assert call.result.end_reason == "agent_ended"
    last_frame = call.leg.frames[-1][0]
    assert call.leg.hung_up_at is not None
    assert call.leg.hung_up_at >= last_frame


def test_a_missing_one_on_the_way_is_no_hole() -> None:
    graph = agent_graph(
        node("start", "startCall", prompt="Ask.", greeting="Sales or support?"),
        node("end", "endCall", say="Goodbye."),
        edge("start", "end", "Sales", transition_speech_type="audio", transition_speech_recording_id="gone"),
    )
    call = call_with(takes("sales"))
    call.definition = graph
    call.says("Sales please", at=3).run()

    assert call.agent_said == ["Sales or support?", "Goodbye."]
    assert call.longest_silence_after(4.6) < 1


def test_one_call_may_be_greeted_with_another_recording() -> None:
    call = call_with()
    call.context["greeting_override"] = {"type": "audio", "recording_id": "welcome"}
    call.hangs_up(at=4).run()

    assert call.agent_said == [WELCOME]
