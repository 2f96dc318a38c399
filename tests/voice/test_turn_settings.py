"""What a workflow sets of turns and times, heard on the call."""

from typing import Any

import pytest

from offhook.voice import events
from offhook.voice.config import CallConfig
from offhook.voice.dialog.expected_values import ends_in_number
from offhook.voice.input.spoken_signals import lexicon_for
from offhook.voice.input.turn_rules import CallerTurnState, choose_turn_rules, is_unfinished
from tests.fakes.scripted import Hearing, ScriptedStt, says
from tests.voice.phone import Call, simple_agent

ENGLISH = lexicon_for("en").open | lexicon_for("en").fillers
STORY = "Let me tell you a very long story about our opening hours and everything that we do for you here."


def agent_that_talks(**configurations: Any) -> Call:
    """Greets with a story of six seconds; the recognizer shows what it hears while it is said."""
    hearing = Hearing()
    stt = ScriptedStt(hearing, partials=True)
    return Call(simple_agent(greeting=STORY), [says("Sure.")], configurations, hearing=hearing, stts=[stt])


def decided_after(call: Call) -> float:
    timing = call.sink.of(events.TURN_TIMED)[0]
    return float(timing["turn_decided"] - timing["caller_stopped"])


class TestTheEndOfATurn:
    def test_silence_ends_it_after_the_set_time(self) -> None:
        slow = {"turn_stop_strategy": "silence", "turn_stop_silence_secs": 1.8}
        call = Call(simple_agent(), [says("Sure.")], slow).says("A table", at=3).hangs_up(at=9).run()

        assert 1.75 <= decided_after(call) <= 1.95

    def test_silence_overrules_the_vendors_endpoint(self) -> None:
        hearing = Hearing()
        stt = ScriptedStt(hearing, has_endpointing=True)
        slow = {"turn_stop_strategy": "silence", "turn_stop_silence_secs": 1.2}
        call = Call(simple_agent(), [says("Sure.")], slow, hearing=hearing, stts=[stt])
        call.says("A table", at=3).hangs_up(at=9).run()

        assert 1.15 <= decided_after(call) <= 1.35

    def test_the_analyzer_waits_for_the_rest_of_a_sentence(self) -> None:
        call = Call(simple_agent(), [says("Thank you.")], {"turn_stop_strategy": "turn_analyzer"})
        call.says("Yes my number is", at=3).says("five five one", at=5.8).hangs_up(at=12).run()

        assert call.sink.of(events.CALLER_SAID)[0]["text"] == "Yes my number is five five one"
        assert decided_after(call) < 0.85

    def test_the_analyzer_does_not_wait_for_ever(self) -> None:
        settings = {"turn_stop_strategy": "turn_analyzer", "smart_turn_stop_secs": 3}
        call = Call(simple_agent(), [says("Go on.")], settings).says("Yes my number is", at=3).hangs_up(at=12).run()

        assert 2.95 <= decided_after(call) <= 3.15

    @pytest.mark.parametrize(
        ("text", "way", "waits"),
        [
            ("I want to book a table for", "balanced", 1.5),
            ("my number is five five five", "balanced", 1.45),
            ("I want to book a table for", "eager", 0.9),
            ("I want to book a table for", "patient", 2.2),
            ("I want to book a table", "patient", 0.5),
        ],
    )
    def test_an_unfinished_sentence_is_waited_for_although_the_vendor_ends_it(
        self, text: str, way: str, waits: float
    ) -> None:
        hearing = Hearing()
        stt = ScriptedStt(hearing, has_endpointing=True)
        call = Call(simple_agent(), [says("Sure.")], {"turn_taking": way}, hearing=hearing, stts=[stt])
        call.says(text, at=3).hangs_up(at=12).run()

        assert waits - 0.1 <= decided_after(call) <= waits + 0.15

    @pytest.mark.parametrize(
        ("text", "is_open"),
        [
            ("my number is five five five", True),
            ("it is 5551234567", False),
            ("the address is twelve", True),
            ("for four", False),
            ("one two three", True),
            ("seven o'clock", False),
            ("my name is B R", True),
            ("plan b", False),
        ],
    )
    def test_a_number_may_go_on(self, text: str, is_open: bool) -> None:
        assert ends_in_number(text) is is_open

    @pytest.mark.parametrize(
        "text",
        [
            "it is and",
            "My name is",
            "tomorrow, um",
            "so I wanted to",
            "first,",
            "well…",
            "so",
            "Could you please",
            "would you please",
        ],
    )
    def test_sounds_unfinished(self, text: str) -> None:
        assert is_unfinished(text, ENGLISH)

    @pytest.mark.parametrize(
        ("language", "text", "is_open"),
        [
            ("de-DE", "Ich möchte einen Tisch für", True),
            ("fr-FR", "Je voudrais parler avec", True),
            ("es", "Mi nombre es", True),
            ("de-DE", "Ich möchte einen Tisch", False),
        ],
    )
    def test_sounds_unfinished_in_the_callers_language(self, language: str, text: str, is_open: bool) -> None:
        rules = choose_turn_rules(CallConfig(), has_endpointing=True, language=language)
        ended = CallerTurnState(text=text, has_endpoint=True, silence_s=0.6)

        assert rules.is_over(ended) is not is_open

    @pytest.mark.parametrize(
        "text",
        ["yes", "Tuesday at nine.", "what time is it?", "to", "my name is Ada", "A table for two, please.", "Please"],
    )
    def test_sounds_finished(self, text: str) -> None:
        assert not is_unfinished(text, ENGLISH)


class TestInterruptions:
    def test_by_default_a_word_interrupts(self) -> None:
        call = agent_that_talks().says("Stop", at=3).hangs_up(at=9).run()

        assert call.sink.of(events.BARGED_IN)

    def test_a_mumble_does_not_where_words_are_counted(self) -> None:
        call = agent_that_talks(turn_start_strategy="min_words", turn_start_min_words=3)
        call.says("mhm right", at=3).hangs_up(at=12).run()

        assert not call.sink.of(events.BARGED_IN)
        assert call.agent_said[0] == STORY

    def test_enough_words_do(self) -> None:
        call = agent_that_talks(turn_start_strategy="min_words", turn_start_min_words=3)
        call.says("please stop that now", at=3, for_s=1.2).hangs_up(at=9).run()

        assert len(call.sink.of(events.BARGED_IN)) == 1
        assert call.agent_said[0] != STORY

    def test_never_means_never(self) -> None:
        call = agent_that_talks(turn_start_strategy="never").says("Stop it now please", at=3).hangs_up(at=12).run()

        assert call.agent_said == [STORY, "Sure."]

    def test_provisionally_a_sound_only_pauses_the_agent(self) -> None:
        call = agent_that_talks(turn_start_strategy="provisional_vad", provisional_vad_pause_secs=1)
        call.mumbles(at=3, for_s=0.3).hangs_up(at=14).run()

        (paused,), (resumed,) = call.sink.at(events.AGENT_PAUSED), call.sink.at(events.AGENT_RESUMED)
        assert 3.1 <= paused <= 3.25
        assert resumed == pytest.approx(paused + 1, abs=0.03)
        assert not call.heard_within(paused + 0.1, 0.85)
        assert call.heard_within(resumed, 0.1)
        assert call.agent_said[0] == STORY
        assert not call.sink.of(events.BARGED_IN)

    def test_provisionally_words_are_an_interruption(self) -> None:
        call = agent_that_talks(turn_start_strategy="provisional_vad")
        call.says("Wait a moment please", at=3).hangs_up(at=10).run()

        assert call.sink.of(events.AGENT_PAUSED)
        assert not call.sink.of(events.AGENT_RESUMED)
        assert len(call.sink.of(events.BARGED_IN)) == 1
        assert call.agent_said[1] == "Sure."

    def test_a_television_in_the_room_is_too_quiet(self) -> None:
        settings = {"vad_configuration": {"minimum_level_db": -20}}
        call = agent_that_talks(**settings).says("Next on channel four", at=3, loudness=2000).hangs_up(at=12).run()
        assert not call.sink.of(events.BARGED_IN)

        call = agent_that_talks(**settings).says("Next on channel four", at=3, loudness=9000).hangs_up(at=12).run()
        assert call.sink.of(events.BARGED_IN)

    def test_a_sound_shorter_than_the_set_time_is_not_even_judged(self) -> None:
        settings = {"vad_configuration": {"start_seconds": 0.8}}
        short = agent_that_talks(**settings).mumbles(at=3, for_s=0.4).hangs_up(at=12).run()
        long = agent_that_talks(**settings).mumbles(at=3, for_s=1.2).hangs_up(at=12).run()

        assert not short.sink.of(events.INTERRUPTION_JUDGED)
        assert long.sink.of(events.INTERRUPTION_JUDGED)

    def test_a_node_may_forbid_it(self) -> None:
        call = agent_that_talks()
        call.definition["nodes"][0]["data"]["allow_interrupt"] = False
        call.says("Stop it now please", at=3).hangs_up(at=12).run()

        assert call.agent_said == [STORY, "Sure."]


class TestTimes:
    def test_the_greeting_waits_where_the_start_is_delayed(self) -> None:
        call = Call(simple_agent(delayed_start=True, delayed_start_duration=3)).hangs_up(at=8).run()

        assert not call.heard_within(0, 2.9)
        assert call.heard_within(3, 0.3)

    def test_the_longest_call_is_warned_twenty_seconds_before(self) -> None:
        call = Call(simple_agent(), configurations={"max_call_duration": 50}, hangs_up_at=90)
        for at in range(4, 90, 8):
            call.says("And another thing", at=at)
        call.run()

        (warned,) = call.sink.at(events.DURATION_WARNED)
        assert 30 <= warned <= 30.3
        assert call.result is not None
        assert call.result.end_reason == "max_duration"
        assert 50 <= call.result.duration_s <= 55

    def test_an_idle_caller_is_asked_in_the_agents_language(self) -> None:
        phrases = {"idle": "Sind Sie noch da?", "idle_goodbye": "Auf Wiederhören."}
        settings = {"max_user_idle_timeout": 3, "phrases": phrases}
        call = Call(simple_agent(), configurations=settings, hangs_up_at=90).run()

        assert call.agent_said[1:] == ["Sind Sie noch da?", "Sind Sie noch da?", "Auf Wiederhören."]
        assert call.result is not None
        assert call.result.end_reason == "idle"
