"""The caller makes a sound while the agent speaks: what is an interruption, and what the agent talks on through."""

import asyncio
from typing import Any

import numpy as np
import pytest

from offhook.voice import events
from offhook.voice.aside_timer import AsideTimer
from offhook.voice.input.spoken_signals import SpeechSignal, lexicon_for
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, says
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

STORY = "Let me tell you a very long story about our opening hours and everything that we do for you here."
# The peak of a voice from away, which has no brightness either.
AWAY = 2500
QUESTION = "Now that you know our two offers for this summer, shall I book the bigger one of them for you?"


def talking_agent(greeting: str = STORY, **configurations: Any) -> Call:
    """Greets for six seconds; the recognizer shows what it hears while it is said."""
    hearing = Hearing()
    stt = ScriptedStt(hearing, partials=True, has_endpointing=True)
    llm = ScriptedLlm([says("Sure.")])
    return Call(simple_agent(greeting=greeting), [], configurations, hearing=hearing, stts=[stt], llms=[llm])


def asked(call: Call) -> list[str]:
    """What went to the model as the caller's turns."""
    (llm,) = call.llms
    assert isinstance(llm, ScriptedLlm)
    return [message.content for request in llm.requests for message in request.messages if message.role == "user"]


def judged(call: Call) -> list[tuple[str, str]]:
    return [(event["decision"], event["reason"]) for event in call.sink.of(events.INTERRUPTION_JUDGED)]


def spoken(call: Call) -> list[str]:
    return [event["text"] for event in call.sink.of(events.AGENT_SPEAKING)]


def longest_pause_heard(call: Call) -> float:
    """How long a far end that plays each frame as soon as it can had nothing to play, at most."""
    played_until, longest = call.leg.frames[0][0], 0.0
    for at, _ in call.leg.frames:
        longest = max(longest, at - played_until)
        played_until = max(played_until, at) + 0.02
    return longest


class TestListeningSounds:
    @pytest.mark.parametrize("sound", ["Mm-hmm", "okay", "yeah yeah", "um"])
    def test_do_not_go_to_the_model_and_the_agent_talks_on(self, sound: str) -> None:
        call = talking_agent().says(sound, at=2, for_s=0.4).hangs_up(at=12).run()

        assert asked(call) == []
        assert call.agent_said == [STORY]
        assert not call.sink.of(events.BARGED_IN)
        assert [said.get("ignored") for said in call.sink.of(events.CALLER_SAID)] in (["backchannel"], ["filler"])
        assert judged(call)[-1][0] in ("talked_on", "resumed")

    def test_that_the_recognizer_took_for_a_small_word_are_not_answered_either(self) -> None:
        call = talking_agent().says("the", at=2, for_s=0.25).hangs_up(at=12).run()

        assert asked(call) == []
        assert call.agent_said == [STORY]
        assert [said.get("ignored") for said in call.sink.of(events.CALLER_SAID)] == ["fragment"]

    def test_before_a_question_do_not_answer_it(self) -> None:
        call = talking_agent("Hello.")
        call.llms = [ScriptedLlm([says(f"{STORY} {QUESTION}")])]
        call.says("Tell me everything", at=3).says("okay", at=10.2, for_s=0.3).hangs_up(at=22).run()
        begun = next(
            at for at, what in zip(call.sink.at(events.AGENT_SPEAKING), spoken(call), strict=True) if "two" in what
        )
        decided = call.sink.at(events.CALLER_SAID)[-1]

        assert begun - 0.4 < 10.2 < decided < begun + 1.5
        assert asked(call) == ["Tell me everything"]
        assert call.agent_said[-1] == f"{STORY} {QUESTION}"

    def test_make_no_pause_that_is_heard(self) -> None:
        call = talking_agent().mumbles(at=2, for_s=0.45).hangs_up(at=9).run()

        assert judged(call) == [("resumed", "short_sound")]
        assert 0.1 < longest_pause_heard(call) < 0.2

    def test_are_answers_to_a_question(self) -> None:
        call = talking_agent(QUESTION).says("yes", at=4, for_s=0.4).hangs_up(at=12).run()

        assert asked(call) == ["yes"]
        assert judged(call) == [("yielded", "answer")]

    def test_lower_the_agents_voice_until_they_end(self) -> None:
        call = talking_agent().says("okay", at=2, for_s=0.25).hangs_up(at=8).run()

        peaks = {
            round(at - call.started_at, 2): int(np.abs(call.leg.codec.decode(frame).astype(int)).max())
            for at, frame in call.leg.frames
        }
        lowered = [at for at, peak in peaks.items() if peak < 3000]
        assert 2.1 <= min(lowered) <= 2.3
        assert max(lowered) <= 3.6
        assert peaks[max(peaks)] > 4000


class TestInterruptions:
    def test_of_one_word_stop_the_agent(self) -> None:
        call = talking_agent().says("Stop", at=2, for_s=0.4).hangs_up(at=9).run()

        assert judged(call) == [("yielded", "command")]
        assert asked(call) == ["Stop"]

    def test_silence_the_agent_before_the_words_are_known(self) -> None:
        call = talking_agent().says("I have another question for you", at=2).hangs_up(at=9).run()

        assert not call.heard_within(2.5, 1.5)
        assert call.agent_said[-1] == "Sure."

    def test_in_a_raised_voice_silence_it_sooner(self) -> None:
        def interrupt(loudness: float) -> Call:
            call = talking_agent("Hello.")
            call.llms = [ScriptedLlm([says(STORY), says("Sure.")])]
            call.says("Tell me everything", at=3, loudness=5000)
            return call.says("I have another question for you", at=6.5, loudness=loudness).hangs_up(at=13).run()

        assert not interrupt(6500).heard_within(6.75, 1.5)
        assert interrupt(5000).heard_within(6.75, 0.1)
        assert not interrupt(5000).heard_within(7.0, 1.2)

    def test_are_waited_for_while_a_recognizer_without_interim_words_works_on_them(self) -> None:
        hearing = Hearing()
        slow = ScriptedStt(hearing, final_s=3.5, says_it_works=True)
        call = Call(simple_agent(greeting=STORY), [says("Sure.")], hearing=hearing, stts=[slow])
        call.says("Eleven o'clock", at=2, for_s=0.9).hangs_up(at=12).run()

        assert judged(call) == []
        assert STORY.startswith(call.agent_said[0])
        assert "opening hours" not in call.agent_said[0]
        assert call.agent_said[-1] == "Sure."


class TestSoundsWithoutWords:
    def test_pause_the_agent_and_it_goes_on_at_the_word(self) -> None:
        call = talking_agent().mumbles(at=2, for_s=0.7).hangs_up(at=12).run()

        assert call.agent_said == [STORY]
        assert judged(call)[0][0] == "resumed"
        played = sum(1 for _ in call.leg.frames) * 0.02
        # its voice speaks in whole tenths of a second
        assert -0.03 <= played - len(STORY) * 0.06 <= 0.5

    def test_that_do_not_end_do_not_make_the_agent_stutter(self) -> None:
        call = talking_agent().mumbles(at=2, for_s=6.0).hangs_up(at=14).run()

        assert [decision for decision, _ in judged(call)].count("resumed") <= 2
        assert call.agent_said == [STORY]

    def test_twice_do_not_move_the_call_to_the_offline_recognizer(self) -> None:
        hearing = Hearing()
        vendor = ScriptedStt(hearing, has_endpointing=True, partials=True)
        offline = ScriptedStt(hearing, provider="builtin")
        call = Call(simple_agent(), [says("Sure."), says("Fine.")], hearing=hearing, stts=[vendor, offline])
        call.says("I want a table", at=3).mumbles(at=8).mumbles(at=14).says("For two people", at=20)
        call.hangs_up(at=26).run()

        assert offline.opened == 0
        assert not call.sink.of(events.FAILED_OVER)
        assert call.agent_said[-1] == "Fine."
        assert call.result is not None
        assert call.result.end_reason == "caller_hung_up"


class TestANoisyLine:
    def test_is_answered_though_the_detector_hears_speech_all_the_time(self) -> None:
        call = Call(simple_agent(), [says("For how many people?")], murmur=1300)
        call.says("I want a table", at=8).hangs_up(at=16).run()

        assert call.agent_said == ["Hello, how can I help?", "For how many people?"]
        assert [said["text"] for said in call.sink.of(events.CALLER_SAID)] == ["I want a table"]


class TestTheLexicon:
    @pytest.mark.parametrize(
        ("language", "text", "signal"),
        [
            ("en-US", "Uh-huh.", SpeechSignal.BACKCHANNEL),
            ("en-US", "oh, okay, got it", SpeechSignal.BACKCHANNEL),
            ("en-US", "um", SpeechSignal.FILLER),
            ("en-US", "No, no!", SpeechSignal.COMMAND),
            ("en-US", "just a second", SpeechSignal.ASIDE),
            ("en-US", "okay but how much is it", SpeechSignal.WORDS),
            ("en-US", "opening hours and everything", SpeechSignal.ECHO),
            ("de-DE", "Ja, genau", SpeechSignal.BACKCHANNEL),
            ("es", "Espera", SpeechSignal.COMMAND),
            ("fr-FR", "D’accord, je vois", SpeechSignal.BACKCHANNEL),
            ("ja", "はい、なるほど", SpeechSignal.BACKCHANNEL),
            ("zh-CN", "等一下", SpeechSignal.COMMAND),
            ("ru", "угу", SpeechSignal.BACKCHANNEL),
            ("hi", "एक मिनट", SpeechSignal.ASIDE),
            ("ar", "نعم", SpeechSignal.BACKCHANNEL),
            ("pt-BR", "tá bom", SpeechSignal.BACKCHANNEL),
            ("xx", "", SpeechSignal.NONE),
        ],
    )
    def test_sorts_short_texts(self, language: str, text: str, signal: SpeechSignal) -> None:
        assert lexicon_for(language).classify(text, agent_text=STORY) is signal

    @pytest.mark.parametrize(
        ("text", "is_aside"),
        [
            ("one second, mom", True),
            ("it is for my mom", False),
            ("leave it at the door", False),
            ("hang on, somebody is there", True),
            ("hang on, I think you have the wrong name", False),
            ("I am on the phone", True),
            ("I spoke to you on the phone yesterday", False),
            ("not now", False),
        ],
    )
    def test_tells_words_to_others_from_words_about_them(self, text: str, is_aside: bool) -> None:
        assert (lexicon_for("en").classify(text) is SpeechSignal.ASIDE) is is_aside


class TestASilentLine:
    @pytest.mark.parametrize(("text", "is_answered"), [("Hold on a second", False), ("um", False), ("okay", True)])
    def test_is_not_broken_for_a_request_to_wait(self, text: str, is_answered: bool) -> None:
        call = talking_agent("Hello.").says(text, at=4).hangs_up(at=9).run()

        assert asked(call) == ([text] if is_answered else [])

    def test_is_broken_late_by_words_to_somebody_else_after_which_nothing_comes(self) -> None:
        answered: list[str] = []

        async def wait() -> list[int]:
            asides = AsideTimer(answered.append)
            asides.hold("where are the keys")
            await asyncio.sleep(2)
            counts = [len(answered)]
            asides.postpone()
            await asyncio.sleep(2)
            counts.append(len(answered))
            await asyncio.sleep(1)
            asides.hold("and the phone")
            asides.forget()
            await asyncio.sleep(5)
            return [*counts, len(answered)]

        assert run_virtual(wait()) == [0, 0, 1]
        assert answered == ["where are the keys"]

    def test_is_broken_also_where_noise_passes_for_speech(self) -> None:
        answered: list[str] = []

        async def wait() -> None:
            asides = AsideTimer(answered.append)
            asides.hold("where are the keys")
            for _ in range(8):
                await asyncio.sleep(1)
                asides.postpone()

        run_virtual(wait())
        assert answered == ["where are the keys"]

    def test_is_answered_once_where_the_caller_goes_on_while_the_answer_is_prepared(self) -> None:
        llm = ScriptedLlm([Reply("Sure.", first_token_s=1.5), says("Fine.")])
        call = talking_agent("Hello.")
        call.llms = [llm]
        call.says("I want a table", at=4).says("for two people on Friday", at=5.9).hangs_up(at=14).run()

        assert call.agent_said == ["Hello.", "Fine."]
        assert asked(call)[-2:] == ["I want a table", "for two people on Friday"]


class TestTheWayOfTurnTaking:
    @pytest.mark.parametrize(("way", "silent_by"), [("eager", 0.35), ("balanced", 0.55)])
    def test_sets_how_soon_a_voice_silences_the_agent(self, way: str, silent_by: float) -> None:
        call = talking_agent(turn_taking=way).says("I have another question for you", at=2).hangs_up(at=9).run()

        assert not call.heard_within(2 + silent_by, 0.15)
        assert call.agent_said[-1] == "Sure."

    def test_patient_talks_on_through_a_word(self) -> None:
        call = talking_agent(turn_taking="patient").says("Tuesday", at=2, for_s=0.6).hangs_up(at=12).run()

        assert not call.sink.of(events.BARGED_IN)
        assert call.agent_said[0] == STORY

    def test_has_words_that_always_interrupt(self) -> None:
        settings = {"turn_taking": "patient", "interruption_words": "lawyer,\n mm-hmm"}
        call = talking_agent(**settings).says("Mm-hmm", at=2, for_s=0.4).hangs_up(at=9).run()

        assert judged(call)[-1] == ("yielded", "command")


class TestWordsFromAway:
    """After the caller's first turns, what is quieter and duller seems to be said to somebody else."""

    def survey(self, greeting: str = "Hello.") -> Call:
        call = talking_agent()
        call.brightness = 0.3
        call.definition = agent_graph(
            node("start", "startCall", prompt="Hi.", greeting=greeting),
            node("food", "agentNode", prompt="Thank."),
            edge("start", "food", "the food", examples=["the food", "the breakfast"]),
        )
        call.llms = [ScriptedLlm([says("And what did you like best?"), says("Thank you."), says("Fine.")])]
        return call

    def answered(self, call: Call) -> list[int]:
        return [event["turns"] for event in call.sink.of(events.HELD_TURNS_ANSWERED)]

    def test_wait_and_are_answered_where_nothing_comes_after_them(self) -> None:
        call = self.survey().says("I liked it a lot", at=3).says("put it on the table", at=8, loudness=AWAY)
        call.hangs_up(at=15).run()

        assert [said.get("ignored") for said in call.sink.of(events.CALLER_SAID)] == [None, "turned_away"]
        assert self.answered(call) == [1]
        assert call.sink.at(events.HELD_TURNS_ANSWERED)[0] - call.sink.at(events.CALLER_SAID)[1] > 2.5
        assert asked(call)[-1] == "put it on the table"

    def test_that_go_on_are_answered_together(self) -> None:
        call = self.survey().says("I liked it a lot", at=3)
        call.says("put it on the table", at=8, loudness=AWAY).says("and the keys too", at=10.5, loudness=AWAY)
        call.hangs_up(at=18).run()

        assert self.answered(call) == [2]
        assert asked(call)[-1] == "put it on the table and the keys too"

    def test_are_dropped_where_the_caller_turns_to_the_agent(self) -> None:
        call = self.survey().says("I liked it a lot", at=3).says("put it on the table", at=8, loudness=AWAY)
        call.says("sorry it was the service", at=10.5).hangs_up(at=18).run()

        assert self.answered(call) == []
        assert "put it on the table" not in asked(call)

    def test_that_a_step_expects_are_answered_at_once(self) -> None:
        call = self.survey().says("I liked it a lot", at=3).says("um the food", at=8, loudness=AWAY)
        call.hangs_up(at=15).run()

        said = call.sink.of(events.CALLER_SAID)[-1]
        assert (said["text"], said.get("ignored")) == ("um the food", None)
        assert call.sink.at(events.AGENT_SPEAKING)[-1] - call.sink.at(events.CALLER_SAID)[-1] < 1.5

    def test_that_a_question_expects_are_answered_also_over_its_end(self) -> None:
        call = self.survey()
        call.llms = [ScriptedLlm([says(QUESTION), says("Thank you.")])]
        call.says("I liked it a lot", at=3)
        call.says("the food", at=9.8, loudness=AWAY).hangs_up(at=18).run()
        begun, ended = call.sink.at(events.AGENT_SPEAKING)[1], call.sink.at(events.AGENT_SAID)[1]

        assert begun < 9.8 < ended
        assert [said.get("ignored") for said in call.sink.of(events.CALLER_SAID)] == [None, None]
        assert asked(call)[-1] == "the food"

    @pytest.mark.parametrize("text", ["yes", "no", "the table"])
    def test_that_could_answer_anybody_still_wait(self, text: str) -> None:
        call = self.survey()
        call.definition["edges"][0]["data"]["examples"] = ["yes", "no"]
        call.says("I liked it a lot", at=3).says(text, at=8, for_s=0.6, loudness=AWAY).hangs_up(at=15).run()

        assert call.sink.of(events.CALLER_SAID)[-1].get("ignored") == "turned_away"
