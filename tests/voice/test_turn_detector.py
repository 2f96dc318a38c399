"""A caller pauses, and a detector that the operator brought judges by the sound whether that was all."""

from typing import Any

import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec
from offhook.models.ports import ModelError, SttEvent
from offhook.voice import events
from offhook.voice.config import CallConfig
from offhook.voice.input.turn_rules import choose_turn_rules
from tests.fakes.scripted import Reply, ScriptedStt, says
from tests.fakes.turn_detector import ScriptedDetector
from tests.fakes.voice import KeptLeg
from tests.voice.phone import Call, simple_agent
from tests.voice.recorded_phone import RecordedPhoneCall, replayed
from tests.voice.test_late_words import TimedStt

ON = {"turn_detector": True}
# Of the rules, where a recognizer has no endpoint: the silence that ends a turn, and the longest.
SILENCE_S, LONGEST_S = 0.7, 1.5
PHONE = "What is your phone number?"


def a_call(
    *probabilities: float | None, settings: dict[str, Any] | None = None, greeting: str = "Hello.", **given: Any
) -> RecordedPhoneCall:
    detector = ScriptedDetector(list(probabilities))
    replies: list[Reply] = given.pop("replies", [says("Sure."), says("Of course."), says("Right.")])
    return RecordedPhoneCall(
        simple_agent(greeting=greeting), replies, ON if settings is None else settings, turn_detector=detector, **given
    )


def with_vendor(call: RecordedPhoneCall, **given: Any) -> RecordedPhoneCall:
    """Listens with a vendor's recognizer, which reports an endpoint after half a second."""
    call.stts = [ScriptedStt(call.hearing, has_endpointing=True, **given)]
    return call


def turns(call: Call) -> list[str]:
    return [text for who, text in call.transcript if who == "caller"]


def decided_after(call: Call) -> float:
    timing = call.sink.of(events.TURN_TIMED)[0]
    return float(timing["turn_decided"] - timing["caller_stopped"])


def heard(call: Call) -> list[Any]:
    detector = call.turn_detector
    assert isinstance(detector, ScriptedDetector)
    return detector.heard


def judged(call: Call) -> list[dict[str, Any]]:
    return call.sink.of(events.PAUSE_JUDGED)


def assert_same_again(call: RecordedPhoneCall) -> None:
    again = call.play_again()
    assert replayed(again) == call.stored()
    assert (again.deviations, again.is_complete) == (0, True)


class TestACompleteTurn:
    def test_is_answered_sooner(self) -> None:
        call = a_call(0.93)
        call.says("A table for tonight", at=3).hangs_up(at=8).run()

        assert decided_after(call) == pytest.approx(0.42, abs=0.05)
        (pause,) = judged(call)
        assert pause == {
            "says": "complete",
            "probability": 0.93,
            "cpu_ms": 7,
            "then": "turn_ended",
            "after_ms": pytest.approx(420, abs=40),
            "changed": "sooner",
        }
        assert_same_again(call)

    @pytest.mark.parametrize(("way", "waits"), [("eager", 0.34), ("balanced", 0.42), ("patient", 0.62)])
    def test_is_waited_for_by_the_pace_of_the_agent(self, way: str, waits: float) -> None:
        call = a_call(0.93, settings={**ON, "turn_taking": way})
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert decided_after(call) == pytest.approx(waits, abs=0.05)

    def test_is_answered_before_a_vendor_reports_its_end(self) -> None:
        call = with_vendor(a_call(0.93), reports_end=False, endpoint_s=0.35)
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert decided_after(call) == pytest.approx(0.42, abs=0.05)

    def test_waits_for_the_words_that_are_not_final(self) -> None:
        call = with_vendor(a_call(0.93), partials=True, endpoint_s=0.9)
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert decided_after(call) == pytest.approx(0.92, abs=0.06)
        assert turns(call) == ["A table for tonight"]

    def test_waits_for_words_behind_a_final_within_the_speech(self) -> None:
        call = a_call(0.93)
        timeline = [(4.0, SttEvent("final", "A table")), (5.1, SttEvent("final", "for tonight"))]
        call.stts = [TimedStt(timeline)]
        call.says("A table for tonight", at=3, for_s=1.5).hangs_up(at=9).run()
        assert turns(call) == ["A table for tonight"]

    def test_has_the_answer_that_was_prepared_early(self) -> None:
        call = a_call(0.93, settings={**ON, "early_answers": True}, replies=[Reply("Sure.", first_token_s=0.6)])
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert [early["used"] for early in call.sink.of(events.EARLY_ANSWER)] == [True]
        assert decided_after(call) == pytest.approx(0.42, abs=0.05)


class TestAnIncompleteTurn:
    def test_is_waited_for_when_the_caller_pauses_in_a_sentence(self) -> None:
        without = a_call(settings={}).says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12)
        without.run()
        assert turns(without) == ["I would like a table", "by the window"]

        call = a_call(0.08, 0.95).says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12)
        call.run()
        assert turns(call) == ["I would like a table by the window"]
        first, second = judged(call)
        assert (first["says"], first["then"], first["changed"]) == ("incomplete", "caller_went_on", "later")
        assert (second["says"], second["then"], second["changed"]) == ("complete", "turn_ended", "sooner")
        assert_same_again(call)

    def test_is_waited_for_although_the_vendor_ends_it(self) -> None:
        call = with_vendor(a_call(0.08, 0.95))
        call.says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12).run()
        assert turns(call) == ["I would like a table by the window"]
        assert_same_again(call)

    def test_is_waited_for_no_longer_than_an_unfinished_sentence(self) -> None:
        call = a_call(0.08).says("I would like a table", at=3).hangs_up(at=9)
        call.run()
        assert decided_after(call) == pytest.approx(LONGEST_S, abs=0.06)

    @pytest.mark.parametrize(("way", "waits"), [("eager", 0.9), ("balanced", 1.5), ("patient", 2.2)])
    def test_ends_then_where_a_vendor_has_reported_its_end(self, way: str, waits: float) -> None:
        call = with_vendor(a_call(0.08, settings={**ON, "turn_taking": way}))
        call.says("I would like a table", at=3).hangs_up(at=9).run()
        assert decided_after(call) == pytest.approx(waits, abs=0.06)

    def test_is_waited_for_as_long_as_the_analyzer_would(self) -> None:
        settings = {**ON, "turn_stop_strategy": "turn_analyzer", "smart_turn_stop_secs": 2.5}
        call = a_call(0.08, settings=settings).says("I would like a table", at=3).hangs_up(at=9)
        call.run()
        assert decided_after(call) == pytest.approx(2.5, abs=0.06)

    def test_causes_no_early_request(self) -> None:
        call = a_call(0.08, 0.95, settings={**ON, "early_answers": True})
        call.says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12).run()
        assert [early["used"] for early in call.sink.of(events.EARLY_ANSWER)] == [True]


class TestTheRulesDecide:
    def test_where_the_detector_hangs(self) -> None:
        call = a_call(None).says("A table for tonight", at=3).hangs_up(at=8)
        call.run()
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)
        assert judged(call) == [{"says": "late"}]
        assert_same_again(call)

    def test_where_it_is_late(self) -> None:
        call = a_call(0.02)
        assert isinstance(call.turn_detector, ScriptedDetector)
        call.turn_detector.takes_s = 0.8
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)
        assert judged(call) == [{"says": "late"}]
        assert_same_again(call)

    def test_where_it_is_not_sure(self) -> None:
        call = a_call(0.55).says("A table for tonight", at=3).hangs_up(at=8)
        call.run()
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)
        (pause,) = judged(call)
        assert (pause["says"], "changed" in pause) == ("unsure", False)

    def test_where_the_words_are_unfinished(self) -> None:
        call = a_call(0.95, settings={**ON, "turn_stop_strategy": "turn_analyzer"})
        call.says("I would like to book a table for", at=3).hangs_up(at=9).run()
        assert decided_after(call) == pytest.approx(2.0, abs=0.06)

    def test_where_a_part_of_a_number_was_said(self) -> None:
        call = a_call(0.95, greeting=PHONE).says("five five five one two three", at=3).hangs_up(at=10)
        call.run()
        assert decided_after(call) == pytest.approx(1.8, abs=0.06)

    def test_where_all_of_a_number_was_said(self) -> None:
        number = "five five five one two three four five six seven"
        call = a_call(0.05, greeting=PHONE).says(number, at=3).hangs_up(at=12)
        call.run()
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)

    def test_where_a_key_is_pressed(self) -> None:
        call = a_call(0.05).says("I would like a table", at=3).presses("2", at=4.8).hangs_up(at=12)
        call.run()
        assert call.sink.of(events.DIGITS_PRESSED) == [{"digits": "2"}]
        assert call.agent_said[-1] != "Hello."


class TestItIsNotAsked:
    def test_with_a_recognizer_that_judges_turns_itself(self) -> None:
        call = with_vendor(a_call(), judges_turns=True).says("A table for tonight", at=3).hangs_up(at=8)
        call.run()
        assert (heard(call), judged(call)) == ([], [])
        assert decided_after(call) == pytest.approx(0.5, abs=0.06)

    def test_until_another_recognizer_takes_over(self) -> None:
        call = a_call(0.93)
        dead = ModelError("stt_dead", "The recognizer died.", retryable=False)
        call.stts = [
            ScriptedStt(call.hearing, has_endpointing=True, judges_turns=True, dies_at_s=5.5, error=dead),
            ScriptedStt(call.hearing, provider="second"),
        ]
        call.says("A table for tonight", at=3).says("by the window", at=7).hangs_up(at=12).run()
        assert len(heard(call)) == 1
        assert [pause["says"] for pause in judged(call)] == ["complete"]

    @pytest.mark.parametrize("settings", [{}, {"turn_detector": False}, {**ON, "turn_stop_strategy": "silence"}])
    def test_by_an_agent_that_does_not_want_it(self, settings: dict[str, Any]) -> None:
        call = a_call(settings=settings).says("A table for tonight", at=3).hangs_up(at=8)
        call.run()
        assert (heard(call), judged(call)) == ([], [])
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)

    def test_where_the_installation_has_none(self) -> None:
        call = a_call()
        call.turn_detector = None
        call.says("A table for tonight", at=3).hangs_up(at=8).run()
        assert decided_after(call) == pytest.approx(SILENCE_S, abs=0.05)

    def test_in_a_silence_without_a_turn(self) -> None:
        call = a_call(0.93).says("A table for tonight", at=3).hangs_up(at=30)
        call.run()
        assert len(heard(call)) == 1

    def test_about_words_too_quiet_to_be_speech(self) -> None:
        """It would hear half a second of silence."""
        call = a_call(0.02)
        call.stts = [TimedStt([(4.0, SttEvent("final", "A table", is_endpoint=True))])]
        call.hangs_up(at=9).run()
        assert turns(call) == ["A table"]
        assert heard(call) == []

    def test_again_while_its_answer_is_missing(self) -> None:
        call = a_call(None, 0.9)
        call.says("I would", at=3, for_s=0.6).says("like a", at=3.9, for_s=0.3).says("table", at=4.5, for_s=0.3)
        call.hangs_up(at=9).run()
        assert turns(call) == ["I would like a table"]
        # in the first pause and in the last one, when it had given up
        assert [round(samples.size / 8000, 1) for samples in heard(call)] == [1.4, 2.6]


class TestWhatItHears:
    @pytest.mark.parametrize("codec", [MULAW_8K, PCM16_16K], ids=["mulaw_8k", "pcm_16k"])
    def test_is_the_turn_from_half_a_second_before(self, codec: Codec) -> None:
        call = a_call(0.93, leg=KeptLeg(codec=codec)).says("A table for tonight", at=3).hangs_up(at=8)
        call.run()
        (samples,) = heard(call)
        seconds = samples.size / codec.sample_rate
        assert seconds == pytest.approx(0.5 + 1.2 + 0.2, abs=0.1)
        loud = abs(samples) > 1000
        assert loud.argmax() / codec.sample_rate == pytest.approx(0.5, abs=0.08)
        assert not loud[-int(0.17 * codec.sample_rate) :].any()

    def test_is_all_of_a_turn_with_pauses(self) -> None:
        call = a_call(0.08, 0.95).says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12)
        call.run()
        first, second = heard(call)
        assert second.size - first.size == pytest.approx(8000 * (5.4 + 0.9 - 4.5), abs=800)

    def test_is_the_end_of_a_long_one(self) -> None:
        call = a_call(0.95).says("and so on " * 4, at=3, for_s=11).hangs_up(at=18)
        call.run()
        (samples,) = heard(call)
        assert samples.size == 8 * 8000


def test_a_replay_with_an_agent_that_no_longer_wants_it_goes_by_the_rules() -> None:
    call = a_call(0.08, 0.95).says("I would like a table", at=3).says("by the window", at=5.4).hangs_up(at=12)
    call.run()
    again = call.play_again(configurations={})
    said = [seen.data["data"]["text"] for seen in again.events if seen.data["type"] == events.CALLER_SAID]
    assert said[0] == "I would like a table"
    assert not [seen for seen in again.events if seen.data["type"] == events.PAUSE_JUDGED]


def test_a_patient_agent_is_surer_before_it_answers() -> None:
    patient = CallConfig.from_configurations({**ON, "turn_taking": "patient"})
    rules = choose_turn_rules(patient, has_endpointing=True)
    assert (rules.complete_s, rules.incomplete_s) == (0.6, 2.2)
    call = a_call(0.75, settings={**ON, "turn_taking": "patient"}).says("A table for tonight", at=3).hangs_up(at=8)
    call.run()
    assert [pause["says"] for pause in judged(call)] == ["unsure"]
