"""Vendors that die, hang or say nothing: the caller hears something within three seconds and the call ends in order."""

import pytest

from offhook.models.ports import ModelError
from offhook.voice import events
from offhook.voice.dialog.phrases import phrases_for
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts, says
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, simple_agent

DEAD = ModelError("gone", "It is gone.", retryable=False)
FLAKY = ModelError("flaky", "It hiccuped.", retryable=True)
APOLOGY = "I'm sorry, I am having technical trouble. Please call again later. Goodbye."
# "Book a table" is spoken from 3.0 to 3.9 s
STOPPED = 3.9


def ask(call: Call) -> Call:
    return call.says("Book a table", at=3).hangs_up(at=60).run()


def ended_in_order(call: Call) -> None:
    assert call.result is not None
    assert call.result.end_reason in ("error", "watchdog")
    assert call.leg.hung_up_at is not None
    assert call.sink.events[-1].type == events.CALL_ENDED


class TestTheModel:
    def test_dead_without_another_one(self) -> None:
        call = ask(Call(simple_agent(), llms=[ScriptedLlm([Reply(fails=DEAD)] * 9)]))

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1] == APOLOGY
        ended_in_order(call)

    def test_dead_with_another_one(self) -> None:
        first = ScriptedLlm([Reply(fails=DEAD)], provider="first")
        second = ScriptedLlm([says("Sure.")], provider="second")
        call = Call(simple_agent(), llms=[first, second]).says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."
        assert call.sink.of(events.FAILED_OVER) == [{"kind": "llm", "from": "first", "to": "second"}]

    def test_a_hiccup_is_tried_again(self) -> None:
        call = Call(simple_agent(), [Reply(fails=FLAKY), says("Sure.")]).says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."

    def test_dying_mid_sentence_goes_on_with_the_next(self) -> None:
        first = ScriptedLlm([Reply("Sure, I can book that for you, for which", fails=DEAD)], provider="first")
        second = ScriptedLlm([says("day would you like it?")], provider="second")
        call = Call(simple_agent(), llms=[first, second]).says("Book a table", at=3).hangs_up(at=14).run()

        assert call.agent_said[-1] == "Sure, I can book that for you, for which day would you like it?"

    @pytest.mark.parametrize("words", [0, 4])
    def test_hanging_before_or_in_its_answer(self, words: int) -> None:
        hangs = Reply("Sure, I can do that for you right now", hangs_after_words=words)
        call = ask(Call(simple_agent(), llms=[ScriptedLlm([hangs] * 9)]))

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1].endswith(APOLOGY)
        ended_in_order(call)

    def test_an_empty_turn_is_asked_once_more(self) -> None:
        call = Call(simple_agent(), [Reply(), says("Sure.")]).says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."

    def test_always_empty_asks_the_caller_again_then_apologises(self) -> None:
        call = Call(simple_agent(), [Reply()] * 9)
        call.says("Book a table", at=3).says("Hello?", at=10).hangs_up(at=60).run()

        assert call.agent_said[1:] == ["Sorry, I didn't catch that.", APOLOGY]
        ended_in_order(call)


class TestTheVoice:
    def test_dead_with_another_one(self) -> None:
        first = ScriptedTts(provider="first", fails_on=lambda text: DEAD if "Sure" in text else None)
        call = Call(simple_agent(), [says("Sure.")], ttss=[first, ScriptedTts(provider="second")])
        call.says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."
        assert call.sink.of(events.FAILED_OVER) == [{"kind": "tts", "from": "first", "to": "second"}]

    def test_dead_mid_turn_without_another_one(self) -> None:
        tts = ScriptedTts(fails_on=lambda text: DEAD if "Sure" in text else None)
        call = ask(Call(simple_agent(), [says("Sure.")], ttss=[tts]))

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1] == APOLOGY
        ended_in_order(call)

    def test_hanging_from_the_first_word_on_there_is_still_a_tone(self) -> None:
        call = Call(simple_agent(), ttss=[ScriptedTts(hangs=True)], hangs_up_at=60).run()

        assert call.longest_silence_after(0) < 3
        ended_in_order(call)


class TestTheRecogniser:
    def test_dead_with_another_one(self) -> None:
        hearing = Hearing()
        stts = [ScriptedStt(hearing, dies_at_s=2, provider="first"), ScriptedStt(hearing, provider="second")]
        call = Call(simple_agent(), [says("Sure.")], hearing=hearing, stts=stts)
        call.says("Book a table", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "Sure."

    def test_dead_while_the_caller_speaks(self) -> None:
        hearing = Hearing()
        call = ask(Call(simple_agent(), hearing=hearing, stts=[ScriptedStt(hearing, dies_at_s=3.5)]))

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1] == APOLOGY
        ended_in_order(call)

    def test_deaf_says_goodbye_without_blaming_technology(self) -> None:
        hearing = Hearing()
        call = Call(simple_agent(), hearing=hearing, stts=[ScriptedStt(hearing, deaf=True)])
        for at in (3, 13, 23, 33):
            call.says("Book a table", at=at)
        call.hangs_up(at=60).run()

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1] == phrases_for("en").not_understood
        assert not any("technical" in said for said in call.agent_said)
        assert call.result is not None
        assert (call.result.end_reason, call.result.outcome) == ("not_understood", "not_understood")

    def test_deaf_with_another_one(self) -> None:
        hearing = Hearing()
        stts = [ScriptedStt(Hearing(), provider="first"), ScriptedStt(hearing, provider="second")]
        call = Call(simple_agent(), [says("Sure.")], hearing=hearing, stts=stts)
        call.mumbles(at=3).mumbles(at=10).says("Book a table", at=18).hangs_up(at=24).run()

        assert call.agent_said[-1] == "Sure."


class TestTools:
    def test_one_that_never_returns(self) -> None:
        stuck = ScriptedTool("look", takes_s=10_000, timeout_s=12)
        llm = ScriptedLlm([Reply("", (("look", {}),)), says("I could not find it.")])
        call = Call(simple_agent(tool_uuids=["look"]), llms=[llm], tools=Tools(stuck))
        call.says("Book a table", at=3).hangs_up(at=22).run()

        assert call.longest_silence_after(STOPPED) < 3
        assert call.agent_said[-1].endswith("I could not find it.")
        assert call.sink.of(events.TOOL_ANSWERED)[0]["ok"] is False
        fillers = [data for data in call.sink.of(events.WATCHDOG_ACTED) if data["step"] == "filler"]
        assert len(fillers) == 2

    def test_one_that_fails_tells_the_model_why(self) -> None:
        tool = ScriptedTool("look", fails_with="No such order.")
        llm = ScriptedLlm([Reply("", (("look", {}),)), says("There is no such order.")])
        Call(simple_agent(tool_uuids=["look"]), llms=[llm], tools=Tools(tool)).says("Look", at=3).hangs_up(at=9).run()

        assert [m.content for m in llm.requests[1].messages if m.role == "tool"] == ['{"error": "No such order."}']

    def test_one_that_does_not_exist(self) -> None:
        llm = ScriptedLlm([Reply("", (("fly", {}),)), says("I cannot do that.")])
        call = Call(simple_agent(), llms=[llm]).says("Fly", at=3).hangs_up(at=9).run()

        assert call.agent_said[-1] == "I cannot do that."


class TestTheLine:
    def test_media_lost_ends_the_call(self) -> None:
        call = Call(simple_agent()).does(lambda call: call.session.end_call("media_lost"), at=2).run()

        assert call.result is not None
        assert call.result.end_reason == "media_lost"
        assert call.sink.events[-1].type == events.CALL_ENDED

    def test_a_far_end_that_returns_no_marks_still_gets_its_goodbye(self) -> None:
        call = Call(simple_agent(), [Reply("", (("done", {}),))])
        call.leg.returns_marks = False
        call.says("Bye", at=3).run()

        assert call.agent_said[-1] == "Thank you, goodbye."
        assert call.result is not None
        assert call.result.end_reason == "agent_ended"

    def test_a_caller_whose_audio_stops_mid_word_is_still_answered(self) -> None:
        call = Call(simple_agent(), [says("Sure.")]).says("Book a table", at=3)

        def mute(call: Call) -> None:
            call.sends_audio = False

        call.does(mute, at=3.8).hangs_up(at=12).run()
        assert call.agent_said[-1] == "Sure."

    def test_an_answering_machine_is_hung_up_on(self) -> None:
        call = Call(simple_agent(), context={"direction": "outbound"})
        call.says("You have reached Ann, please leave a message after the beep", at=1).run()

        assert call.result is not None
        assert (call.result.outcome, call.result.end_reason) == ("voicemail", "voicemail")

    def test_an_answering_machine_may_get_a_message(self) -> None:
        configurations = {"voicemail_detection": {"action": "message", "message": "Please call us back."}}
        call = Call(simple_agent(), configurations=configurations)
        call.does(lambda call: call.session.voicemail_detected("carrier"), at=2).run()

        assert call.agent_said[-1] == "Please call us back."
        assert call.result is not None
        assert call.result.outcome == "voicemail"

    def test_a_caller_who_is_gone_before_it_begins(self) -> None:
        call = Call(simple_agent()).does(lambda call: call.session.end_call("caller_hung_up"), at=0).run()

        assert call.result is not None
        assert call.result.end_reason == "caller_hung_up"
        assert call.agent_said == []


def test_words_that_were_heard_after_a_filler_stay_in_the_history() -> None:
    long = "We have tables at six and at seven and at eight and at nine."
    llm = ScriptedLlm([Reply(long, first_token_s=2.2), says("Alright.")])
    call = Call(simple_agent(), llms=[llm]).says("Book a table", at=3).says("stop please", at=9)
    call.hangs_up(at=16).run()

    assert [data["step"] for data in call.sink.of(events.WATCHDOG_ACTED)] == ["filler"]
    told = [message.content for message in llm.requests[1].messages if message.role == "assistant"]
    assert long.startswith(told[-1])
    assert call.agent_said[1] == f"One moment, please. {told[-1]}"
