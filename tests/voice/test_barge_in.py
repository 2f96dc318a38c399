"""The caller talks over the agent."""

from offhook.voice import events
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, says
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, simple_agent

LONG = (
    "Well, there are many things that I could tell you about this, and I will tell you all of them, one after another."
)


def interrupted_call(**start: object) -> Call:
    call = Call(simple_agent(**start), [says(LONG), says("Of course.")])
    return call.says("Tell me everything", at=3).says("Stop please", at=6).hangs_up(at=14)


class TestBargeIn:
    def test_the_agent_is_silent_within_half_a_second(self) -> None:
        call = interrupted_call().run()

        last_before = max(t for t, _ in call.leg.frames if t < call.started_at + 7)
        assert 6 < last_before - call.started_at <= 6.45
        assert call.sink.at(events.BARGED_IN)
        assert call.leg.clears

    def test_transcript_and_history_keep_what_was_heard(self) -> None:
        llm = ScriptedLlm([says(LONG), says("Of course.")])
        call = interrupted_call()
        call.llms = [llm]
        call.run()

        heard = call.agent_said[1]
        assert LONG.startswith(heard)
        assert 10 < len(heard) < len(LONG) - 20
        remembered = [m.content for m in llm.requests[1].messages if m.role == "assistant"]
        assert remembered == ["Hello, how can I help?", heard]
        assert call.sink.of(events.BARGED_IN)[0]["heard"] == heard

    def test_the_interruption_is_answered(self) -> None:
        assert interrupted_call().run().agent_said[-1] == "Of course."

    def test_a_node_that_may_not_be_interrupted_finishes_and_answers_then(self) -> None:
        call = interrupted_call(allow_interrupt=False).run()

        assert call.agent_said == ["Hello, how can I help?", LONG, "Of course."]
        assert not call.sink.of(events.BARGED_IN)

    def test_a_cough_does_not_interrupt(self) -> None:
        call = Call(simple_agent(), [says(LONG)]).says("Tell me everything", at=3)
        call.mumbles(at=6, for_s=0.08).hangs_up(at=16).run()

        assert LONG in call.agent_said

    def test_min_words_needs_words(self) -> None:
        hearing = Hearing()
        configurations = {"turn_start_strategy": "min_words", "turn_start_min_words": 3}
        stt = ScriptedStt(hearing, partials=True)
        call = Call(simple_agent(), [says(LONG), says(LONG)], configurations, hearing=hearing, stts=[stt])
        call.says("Tell me everything", at=3).mumbles(at=5, for_s=1).says("stop it right now", at=7).hangs_up(
            at=9
        ).run()

        assert len(call.sink.of(events.BARGED_IN)) == 1
        assert call.sink.at(events.BARGED_IN)[0] > 7

    def test_thinking_is_given_up_when_the_caller_adds_something(self) -> None:
        slow = Reply("This is the answer to the first half.", first_token_s=3)
        call = Call(simple_agent(), [slow, says("Both, then.")])
        call.says("I want a table", at=3).says("and a taxi", at=5).hangs_up(at=12).run()

        assert "Both, then." in call.agent_said
        assert not any("first half" in said for said in call.agent_said)


class TestToolsAndBargeIn:
    def test_a_tool_with_side_effects_runs_once_to_its_end(self) -> None:
        book = ScriptedTool("book", result={"booked": True}, takes_s=3, has_side_effects=True)
        llm = ScriptedLlm([says("I am booking it now, please wait a moment.", "book"), says("It is booked.")])
        call = Call(simple_agent(tool_uuids=["book"]), llms=[llm], tools=Tools(book))
        call.says("Book it", at=3).says("hello?", at=5.5).hangs_up(at=14).run()

        assert len(book.calls) == 1
        assert book.finished == 1
        answers = [m.content for m in llm.requests[-1].messages if m.role == "tool"]
        assert answers == ['{"booked": true}']
        assert call.agent_said[-1] == "It is booked."

    def test_a_tool_without_side_effects_is_cancelled_and_answered_as_such(self) -> None:
        look = ScriptedTool("look", result={"found": 1}, takes_s=4)
        llm = ScriptedLlm([says("Let me look that up for you right now.", "look"), says("Alright, stopped.")])
        call = Call(simple_agent(tool_uuids=["look"]), llms=[llm], tools=Tools(look))
        call.says("Look it up", at=3).says("never mind", at=5.5).hangs_up(at=14).run()

        assert look.finished == 0
        assert any("interrupted" in m.content for m in llm.requests[-1].messages if m.role == "tool")
        assert call.agent_said[-1] == "Alright, stopped."
