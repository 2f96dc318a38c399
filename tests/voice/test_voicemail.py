"""A machine answers: how it is noticed, and what is done then."""

from typing import Any

import pytest

from offhook.voice import events
from tests.fakes.scripted import ScriptedLlm, says
from tests.fakes.voice import KeptSounds
from tests.voice.phone import Call, simple_agent

GREETING = "You have reached Ann, please leave a message after the tone"
MESSAGE: dict[str, Any] = {"action": "message", "message": "This is {{ company }}. Please call us back."}


def outbound(*, llm: ScriptedLlm | None = None, sounds: KeptSounds | None = None, **detection: Any) -> Call:
    call = Call(
        simple_agent(),
        [says("Is this Ann?")],
        {"voicemail_detection": detection},
        {"direction": "outbound", "company": "Acme"},
        llms=[llm] if llm else (),
    )
    call.sounds = sounds or call.sounds
    return call


def found(call: Call) -> list[str]:
    return [data["by"] for data in call.sink.of(events.VOICEMAIL_DETECTED)]


def how_it_ended(call: Call) -> tuple[str, str]:
    assert call.result is not None
    return call.result.outcome, call.result.end_reason


class TestNoticing:
    def test_by_what_is_said(self) -> None:
        call = outbound().says(GREETING, at=1).run()

        assert found(call) == ["transcript"]
        assert how_it_ended(call) == ("voicemail", "voicemail")

    def test_by_how_long_it_talks(self) -> None:
        call = outbound(long_speech_timeout=5).says("Hi we are all at the beach today", at=1, for_s=9).run()

        assert found(call) == ["greeting_length"]
        assert call.sink.at(events.VOICEMAIL_DETECTED)[0] == pytest.approx(6.1, abs=0.2)

    def test_by_its_beep(self) -> None:
        call = outbound().says("Sorry we are closed", at=1, for_s=2).beeps(at=3.3).run()

        assert found(call) == ["beep"]

    @pytest.mark.parametrize("hz", [440, 850, 1400])
    def test_by_other_machines_beeps(self, hz: float) -> None:
        assert found(outbound().says("Sorry we are closed", at=1, for_s=2).beeps(at=3.3, hz=hz).run()) == ["beep"]

    def test_a_long_tone_is_no_beep(self) -> None:
        call = outbound().says("Sorry we are closed", at=1, for_s=2).beeps(at=3.3, for_s=4).hangs_up(at=12).run()

        assert found(call) == []

    def test_by_the_model_where_that_is_wanted(self) -> None:
        llm = ScriptedLlm([says("Is this Ann?")], extracts='{"is_voicemail": true}')
        call = outbound(llm=llm, use_workflow_llm=True).says("The Millers are on holiday until Monday", at=1).run()

        assert found(call) == ["model"]

    def test_the_model_may_say_that_it_is_a_person(self) -> None:
        llm = ScriptedLlm([says("Great.")], extracts='{"is_voicemail": false}')
        call = outbound(llm=llm, use_workflow_llm=True).says("Hello this is Ann who is calling", at=1).hangs_up(at=9)
        call.run()

        assert found(call) == []
        assert call.agent_said[-1] == "Great."

    def test_a_person_who_says_hello_is_a_person(self) -> None:
        call = outbound().says("Hello Ann speaking", at=1).says("Yes it is me", at=5).hangs_up(at=10).run()

        assert found(call) == []
        assert how_it_ended(call) == ("answered", "caller_hung_up")

    def test_a_person_who_talks_at_length_later_is_a_person(self) -> None:
        call = outbound(long_speech_timeout=4).says("Hello", at=1).says("Well you see it is like this", at=6, for_s=9)
        call.hangs_up(at=20).run()

        assert found(call) == []

    def test_nobody_who_calls_us_is_a_machine(self) -> None:
        call = outbound().says(GREETING, at=1).hangs_up(at=8)
        call.context["direction"] = "inbound"
        call.run()

        assert found(call) == []

    def test_it_can_be_switched_off(self) -> None:
        call = outbound(enabled=False).says(GREETING, at=1, for_s=9).beeps(at=10.3).hangs_up(at=14).run()

        assert found(call) == []


class TestWhatIsDone:
    def test_a_message_is_left_after_the_beep(self) -> None:
        call = outbound(**MESSAGE).says(GREETING, at=1, for_s=3).says("or press one", at=5.5, for_s=2).beeps(at=8)
        call.run()

        assert call.agent_said[-1] == "This is Acme. Please call us back."
        assert not call.heard_within(5.5, 2.9)
        assert call.heard_within(8.4, 0.5)
        assert how_it_ended(call) == ("voicemail", "voicemail")

    def test_a_machine_that_never_beeps_gets_it_when_it_is_silent(self) -> None:
        call = outbound(**MESSAGE).says(GREETING, at=1, for_s=3).run()

        assert call.agent_said[-1] == "This is Acme. Please call us back."
        assert call.heard_within(6, 0.6)

    def test_the_agent_is_quiet_while_it_waits(self) -> None:
        call = outbound(**MESSAGE).says(GREETING, at=3, for_s=2).says("Record now", at=6.3, for_s=2).beeps(at=9).run()

        assert [text for who, text in call.transcript if who == "agent"][-1] == "This is Acme. Please call us back."
        assert not call.heard_within(6, 3)
        assert "Is this Ann?" not in call.agent_said

    def test_the_message_may_be_a_recording(self) -> None:
        sounds = KeptSounds(callback="Please call Acme.")
        call = outbound(sounds=sounds, action="message", message_recording_id="callback")
        call.says(GREETING, at=1, for_s=3).beeps(at=4.2).run()

        assert call.agent_said[-1] == "Please call Acme."

    def test_a_message_recording_that_is_gone_falls_back_to_the_text(self) -> None:
        call = outbound(**MESSAGE, message_recording_id="gone").says(GREETING, at=1, for_s=3).beeps(at=4.2).run()

        assert call.agent_said[-1] == "This is Acme. Please call us back."
        assert call.sink.of(events.RECORDING_MISSING) == [{"recording_id": "gone", "instead": "text"}]

    def test_or_the_agent_talks_on(self) -> None:
        call = outbound(action="continue").says(GREETING, at=1, for_s=3).hangs_up(at=10).run()

        assert found(call) == ["transcript"]
        assert call.agent_said[-1] == "Is this Ann?"
        assert how_it_ended(call) == ("voicemail", "caller_hung_up")
