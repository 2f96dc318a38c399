"""A caller whose words are not recognized: other words each time, keys, and at last a goodbye that blames nobody."""

from offhook.voice import events
from offhook.voice.dialog.phrases import phrases_for
from tests.fakes.scripted import Hearing, ScriptedStt, says, takes
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

PHRASES = phrases_for("en")
GREETING = "Welcome to Blue Door. Would you like a table?"


def menu(**book: str) -> Call:
    """An agent whose recognizer is deaf unless the test gives it another."""
    hearing = Hearing()
    definition = agent_graph(
        node("start", "startCall", prompt="Help.", greeting=GREETING, allow_interrupt=True),
        node("end", "endCall", prompt="Say goodbye.", say="You have a table. Goodbye."),
        edge("start", "end", "secret label", examples=["I want a table"], **book),
        edge("start", "end", "other label", examples=["Talk to a person"], digits="0"),
    )
    return Call(definition, hearing=hearing, stts=[ScriptedStt(hearing, deaf=True)])


class TestReprompts:
    def test_ask_again_then_say_what_can_be_said_then_name_the_keys(self) -> None:
        call = menu(digits="1").mumbles(at=5).mumbles(at=16).mumbles(at=27).hangs_up(at=40).run()

        assert call.agent_said == [
            GREETING,
            "Sorry, I didn't catch that. Would you like a table?",
            "I still didn't get that. You can say: I want a table or talk to a person.",
            "I'm afraid I can't make out the words. You can also press a key: 1 for I want a table or 0 for talk to a person.",
        ]

    def test_never_read_out_a_label(self) -> None:
        call = menu().mumbles(at=5).mumbles(at=16).mumbles(at=27).mumbles(at=38).hangs_up(at=60).run()

        assert not any("label" in said for said in call.agent_said)

    def test_change_without_examples_and_keys(self) -> None:
        hearing = Hearing()
        call = Call(simple_agent(), hearing=hearing, stts=[ScriptedStt(hearing, deaf=True)])
        call.mumbles(at=4).mumbles(at=13).mumbles(at=24).hangs_up(at=34).run()

        first, second, third = call.agent_said[1:]
        assert first == "Sorry, I didn't catch that. Hello, how can I help?"
        assert second == "I'm sorry, I still didn't get that. Please say it in a few words. Hello, how can I help?"
        assert third != second

    def test_begin_anew_at_the_next_step(self) -> None:
        hearing = Hearing()
        definition = agent_graph(
            node("start", "startCall", prompt="Help.", greeting="Shall we?", allow_interrupt=True),
            node("name", "agentNode", prompt="Ask for the name."),
            node("end", "endCall", prompt="Say goodbye.", say="Goodbye."),
            edge("start", "name", "yes"),
            edge("name", "end", "named"),
        )
        replies = [takes("yes"), says("What is your name?")]
        call = Call(definition, replies, hearing=hearing)
        call.mumbles(at=3).says("Yes", at=10).mumbles(at=15).hangs_up(at=24).run()

        assert call.agent_said[1] == "Sorry, I didn't catch that. Shall we?"
        assert call.agent_said[-1] == "Sorry, I didn't catch that. What is your name?"

    def test_are_said_in_the_authors_language(self) -> None:
        phrases = {"reprompt": "Wie bitte?", "not_understood": "Auf Wiederhören."}
        hearing = Hearing()
        call = Call(
            simple_agent(greeting="Guten Tag. Worum geht es?"),
            configurations={"phrases": phrases},
            hearing=hearing,
            stts=[ScriptedStt(hearing, deaf=True)],
        )
        for at in (4, 14, 24, 34):
            call.mumbles(at=at)
        call.hangs_up(at=60).run()

        assert call.agent_said[1] == "Wie bitte? Worum geht es?"
        assert call.agent_said[-1] == "Auf Wiederhören."


class TestTheEnd:
    def test_is_polite_and_no_failure(self) -> None:
        call = menu().mumbles(at=5).mumbles(at=16).mumbles(at=27).mumbles(at=38).hangs_up(at=60).run()

        assert call.agent_said[-1] == PHRASES.not_understood
        assert call.result is not None
        assert (call.result.end_reason, call.result.outcome) == ("not_understood", "not_understood")
        assert call.sink.of(events.CALL_ENDED) == [{"end_reason": "not_understood", "outcome": "not_understood"}]

    def test_does_not_come_when_a_key_helps(self) -> None:
        call = menu(digits="1").mumbles(at=5).mumbles(at=16).presses("1", at=28).hangs_up(at=60).run()

        assert call.result is not None
        assert (call.result.end_reason, call.result.outcome) == ("agent_ended", "answered")


class TestTheTranscript:
    def test_keeps_the_utterance_with_its_time(self) -> None:
        call = menu().mumbles(at=5, for_s=1.5).hangs_up(at=14).run()

        (heard,) = call.sink.of(events.CALLER_NOT_UNDERSTOOD)
        start, end = heard["start_s"], heard["end_s"]
        assert isinstance(start, float)
        assert isinstance(end, float)
        assert 4.9 <= start <= 5.3
        assert 6.4 <= end <= 6.8


class TestARecognizerThatNeedsLong:
    def test_is_waited_for_while_it_says_that_it_works(self) -> None:
        call = slow_hearing(says_it_works=True)

        assert call.sink.of(events.CALLER_NOT_UNDERSTOOD) == []
        assert call.agent_said[-1] == "For how many?"

    def test_is_not_waited_for_without_an_end(self) -> None:
        call = slow_hearing(says_it_works=True, final_s=10_000)

        (heard,) = call.sink.of(events.CALLER_NOT_UNDERSTOOD)
        assert isinstance(heard["end_s"], float)
        assert heard["end_s"] < 6

    def test_s_late_words_have_the_time_at_which_they_were_said(self) -> None:
        call = slow_hearing()

        (unheard,) = call.sink.of(events.CALLER_NOT_UNDERSTOOD)
        (heard,) = call.sink.of(events.CALLER_SAID)
        assert heard == unheard | {"text": "A table"}
        assert call.agent_said[-1] == "For how many?"


def slow_hearing(*, final_s: float = 4, says_it_works: bool = False) -> Call:
    hearing = Hearing()
    stt = ScriptedStt(hearing, final_s=final_s, says_it_works=says_it_works)
    call = Call(simple_agent(), [says("For how many?")], hearing=hearing, stts=[stt])
    return call.says("A table", at=3).hangs_up(at=12).run()
