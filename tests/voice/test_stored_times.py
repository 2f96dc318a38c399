"""The times of an answer: told live at its first frame, and stored once, with its words or alone where none was heard."""

from typing import Any

import pytest

from offhook.models.ports import ModelError
from offhook.scenarios.replays.comparison import find_difference, hash_events, stored_observations
from offhook.voice import events
from offhook.voice.call_state import CallState, ResumedCall
from offhook.voice.ports import ToolAnnouncement
from tests.fakes.scripted import Reply, ScriptedTts, calls, says, takes
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.phone import Call, agent_graph, node, simple_agent
from tests.voice.recorded_phone import RecordedPhoneCall
from tests.voice.speech_to_speech.spoken_call import LONG as SPOKEN
from tests.voice.speech_to_speech.spoken_call import OPENAI, SpokenCall, answer, on_a_line, spoken_agent

LONG = "Well, there are many things that I could tell you about this, and I will tell you all of them."


def told(call: Call) -> list[dict[str, Any]]:
    """The records that those who followed the call were told when an answer began."""
    return [data for data in call.sink.of(events.TURN_TIMED) if "unheard" not in data]


def stored(call: Call) -> list[tuple[str, dict[str, Any]]]:
    """The records that are stored, with the type of their event."""
    found = []
    for event in call.sink.events:
        timing = events.find_timing(event.type, event.data)
        if timing is not None and not events.is_live_only(event.type, event.data):
            found.append((event.type, {name: value for name, value in timing.items() if name != "unheard"}))
    return found


def with_words(call: Call) -> bool:
    """Whether each record is stored once, with the words of its answer."""
    return stored(call) == [(events.AGENT_SAID, times) for times in told(call)]


def snapshot_at(call: Call, at: float) -> CallState:
    """Runs the call and returns its state at this second, as it is kept for another process."""
    states: list[CallState] = []
    call.does(lambda running: states.append(running.session.snapshot()), at=at)
    call.run()
    return states[0]


class TestWithWords:
    def test_an_answer_that_was_heard(self) -> None:
        call = Call(simple_agent(), [says("Sure."), says("Yes.")])
        call.says("Book a table", at=3).says("Tonight", at=7).hangs_up(at=12).run()
        assert len(told(call)) == 2
        assert with_words(call)
        greeting, answer, _ = call.sink.of(events.AGENT_SAID)
        assert "timing" not in greeting, "nobody waited for it"
        assert list(answer) == ["text", "start_s", "end_s", "interrupted", "node_id", "timing"]
        assert answer["timing"]["first_frame"] == answer["start_s"]

    def test_an_answer_that_was_interrupted(self) -> None:
        call = Call(simple_agent(), [says(LONG), says("Of course.")])
        call.says("Tell me everything", at=3).says("Stop please", at=6).hangs_up(at=14).run()
        assert [data["interrupted"] for data in call.sink.of(events.AGENT_SAID)] == [False, True, False]
        assert len(told(call)) == 2
        assert with_words(call)

    def test_an_answer_in_which_the_caller_hung_up(self) -> None:
        call = Call(simple_agent(), [says(LONG)]).says("Tell me everything", at=3).hangs_up(at=7).run()
        assert len(told(call)) == 1
        assert with_words(call)

    def test_an_answer_that_the_voice_did_not_finish(self) -> None:
        def fails(text: str) -> ModelError | None:
            return ModelError("tts_failed", "No.", retryable=False) if "many" in text else None

        voice = ScriptedTts(fails_on=fails, fails_after_chunks=12, chunk_s=0.1)
        call = Call(simple_agent(), [says(LONG)], ttss=[voice]).says("Tell me everything", at=3).hangs_up(at=12).run()
        assert len(told(call)) == 1
        assert with_words(call)

    def test_a_goodbye_that_answers(self) -> None:
        call = Call(simple_agent(), [takes("done")]).says("That was all", at=3).run()
        assert call.agent_said[-1] == "Thank you, goodbye."
        assert len(told(call)) == 1
        assert with_words(call)

    def test_keys_that_are_answered(self) -> None:
        call = Call(simple_agent(), [says("You pressed one.")]).presses("1", at=3).hangs_up(at=9).run()
        assert len(told(call)) == 1
        assert with_words(call)


class TestAlone:
    def test_an_answer_of_which_no_word_was_heard(self) -> None:
        reply = "Unfortunately not before Tuesday."
        first = Call(simple_agent(), [says(reply)]).says("Book a table", at=3).hangs_up(at=9).run()
        began = told(first)[0]["first_frame"]
        call = Call(simple_agent(), [says(reply)]).says("Book a table", at=3).hangs_up(at=began + 0.1).run()
        assert len(call.agent_said) == 1
        assert len(told(call)) == 1
        assert stored(call) == [(events.TURN_TIMED, told(call)[0])]

    def test_an_answer_after_which_the_model_says_nothing_more(self) -> None:
        """It announces tools, turn after turn, until the agent gives up: what was said is in no event of its own."""
        tool = ScriptedTool("look", {"found": 1}, announcement=ToolAnnouncement("One moment, let me look that up."))
        graph = agent_graph(node("start", "startCall", prompt="Help.", greeting="Hello.", tool_uuids=["look"]))
        script = [calls("look"), Reply(), Reply()] * 2
        call = Call(graph, script, tools=Tools(tool))
        call.says("Look it up", at=3).says("And again", at=14).hangs_up(at=40).run()
        assert call.result is not None
        assert call.result.end_reason == "error"
        assert len(told(call)) == 2
        assert [times for _, times in stored(call)] == told(call)
        assert stored(call)[-1][0] == events.TURN_TIMED


class TestTakenUp:
    """Another process goes on with a call whose process died in an answer."""

    def cut_off(self, at: float) -> tuple[Call, CallState]:
        call = Call(simple_agent(), [says(LONG)]).says("Tell me everything", at=3).hangs_up(at=14)
        return call, snapshot_at(call, at)

    def go_on(self, state: CallState) -> Call:
        return Call(simple_agent(), [says("Yes.")], resumed=ResumedCall(state, age_s=2.0)).hangs_up(at=9).run()

    def test_with_the_words_that_were_heard(self) -> None:
        call, state = self.cut_off(6.0)
        later = self.go_on(state)
        assert stored(later)[0] == (events.AGENT_SAID, told(call)[0])
        assert len(stored(later)) == 1

    def test_alone_without_any(self) -> None:
        first, _ = self.cut_off(6.0)
        call, state = self.cut_off(told(first)[0]["first_frame"] + 0.02)
        assert state["heard"] == ""
        assert stored(self.go_on(state)) == [(events.TURN_TIMED, told(call)[0])]

    def test_nothing_of_an_answer_that_was_stored_or_has_not_begun(self) -> None:
        for at in (3.5, 13.0):
            _, state = self.cut_off(at)
            assert stored(self.go_on(state)) == []

    def test_a_state_of_an_earlier_version(self) -> None:
        _, state = self.cut_off(6.0)
        del state["timing"]
        assert stored(self.go_on(state)) == []

    def test_a_call_that_is_handed_over_has_stored_it_itself(self) -> None:
        given: list[CallState] = []

        async def take(state: CallState) -> bool:
            given.append(state)
            return True

        def lose(running: Call) -> None:
            running.session.handover.ask = take
            running.session.end_call("media_lost")

        call = Call(simple_agent(), [says(LONG)]).says("Tell me everything", at=3).does(lose, at=6).run()
        assert with_words(call)
        assert (given[0]["heard"], given[0].get("timing")) == ("", None)
        assert stored(self.go_on(given[0])) == []


def test_a_model_that_speaks_itself() -> None:
    async def scenario() -> None:
        async with OPENAI.open(answer("Hello."), answer(SPOKEN), answer("Of course.")) as lab:
            call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
            await lab.carry(call.hangs_up(at=13))

            assert [data["interrupted"] for data in call.sink.of(events.AGENT_SAID)] == [False, True, False]
            assert len(told(call)) == 2
            assert with_words(call)

    on_a_line(scenario)


def rows(call: Call, *, is_earlier: bool) -> list[dict[str, Any]]:
    """What is stored of the call, or was by earlier versions: ``turn_timed`` in its place, and words without times."""
    found = []
    for event in call.sink.events:
        data = dict(event.data)
        is_stored = not events.is_live_only(event.type, data)
        if is_earlier:
            data.pop("timing", None)
            is_stored = "unheard" not in data if event.type == events.TURN_TIMED else is_stored
        if is_stored:
            found.append({"type": event.type, "at_ms": round(event.at_s * 1000), "data": data})
    return found


@pytest.mark.parametrize(("hangs_up_at", "is_unheard"), [(5.0, True), (7.0, False), (20.0, False)])
def test_a_replay_is_the_call_in_either_form(hangs_up_at: float, is_unheard: bool) -> None:
    call = RecordedPhoneCall(simple_agent(), [says("Unfortunately not before Tuesday, I fear."), says("Of course.")])
    call.says("Book a table", at=3).says("Stop please", at=6)
    call.hangs_up(at=hangs_up_at).run()
    assert [kind == events.TURN_TIMED for kind, _ in stored(call)] == [is_unheard] * len(told(call))
    own = call.play_again()
    now, earlier = (stored_observations(rows(call, is_earlier=is_earlier)) for is_earlier in (False, True))
    kinds = [seen.data["type"] for seen in earlier]
    assert kinds.count(events.TURN_TIMED) == len(told(call))
    assert find_difference(now, own.events) is None
    assert find_difference(earlier, own.events) is None
    assert hash_events(earlier) == hash_events(now) == hash_events(own.observations)


def test_a_replay_with_other_times_differs_where_the_answer_began() -> None:
    call = RecordedPhoneCall(simple_agent(), [says("Sure.")]).says("Book a table", at=3).hangs_up(at=9)
    call.run()
    other = rows(call, is_earlier=False)
    timing = next(row["data"]["timing"] for row in other if "timing" in row["data"])
    timing["first_token"] += 0.1
    difference = find_difference(stored_observations(other), call.play_again().events)
    assert difference is not None
    assert (difference.what, difference.at_ms) == (events.TURN_TIMED, round(timing["first_frame"] * 1000))
