"""Whole calls to every phone of the sandbox, on virtual time: dial, ring, talk, hang up, report."""

from typing import Any

import pytest

from offhook.voice import events
from tests.fakes.phone import SandboxCall
from tests.fakes.scripted import says, takes
from tests.voice.phone import agent_graph, edge, node, simple_agent


def phone(last_two: str) -> str:
    return f"+120155501{last_two}"


def greets_with(greeting: str) -> dict[str, Any]:
    definition = simple_agent()
    definition["nodes"][0]["data"]["greeting"] = greeting
    return definition


def demo_agent(*caller: Any) -> dict[str, Any]:
    return {**simple_agent(), "demo_caller": list(caller)}


class TestAPhoneThatTalks:
    def test_follows_the_demo_script_and_hears_the_goodbye(self) -> None:
        call = SandboxCall(
            demo_agent("A table for two", "No thank you"), phone("01"), [says("For when?"), takes("done")]
        ).run()

        assert call.statuses == ["ringing", "in_progress", "completed"]
        assert call.transcript == [
            ("agent", "Hello, how can I help?"),
            ("caller", "A table for two"),
            ("agent", "For when?"),
            ("caller", "No thank you"),
            ("agent", "Thank you, goodbye."),
        ]
        assert (call.outcome, call.end_reason) == ("answered", "agent_ended")

    def test_waits_until_the_agent_has_finished(self) -> None:
        call = SandboxCall(demo_agent("A table"), phone("01"), [takes("done")]).run()

        assert not call.sink.of(events.BARGED_IN)
        (started,) = call.sink.at(events.CALLER_STARTED)
        greeting = call.sink.of(events.AGENT_SAID)[0]
        assert started >= greeting["end_s"] + 0.5

    def test_says_it_again_when_it_is_asked_to(self) -> None:
        call = SandboxCall(
            demo_agent("A table", "Goodbye"),
            phone("01"),
            [says("Sorry, could you say that again?"), says("Which day?"), takes("done")],
        ).run()

        assert call.caller_said == ["A table", "A table", "Goodbye"]

    def test_answers_a_question_of_a_node_in_its_own_words(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="Ask.", greeting="Sales or support?"),
            node("support", "agentNode", prompt="Help."),
            edge("start", "support", "Support", examples=["I need support"]),
        )
        call = SandboxCall(
            graph, phone("01"), [takes("support"), says("What is your name?"), says("Shall I go on?")], hang_up_at=25
        ).run()

        assert call.caller_said[:3] == ["I need support", "My name is Alex Morgan.", "Yes, please."]

    def test_rings_before_it_answers(self) -> None:
        call = SandboxCall(demo_agent("Bye"), phone("01"), [takes("done")], network={"ring_s": 3}).run()

        assert call.status_times["ringing"] < 0.5
        assert call.status_times["in_progress"] - call.status_times["ringing"] == pytest.approx(3)


class TestAPhoneThatNobodyAnswers:
    def test_busy(self) -> None:
        call = SandboxCall(simple_agent(), phone("02")).run()

        assert call.statuses == ["ringing", "busy"]
        assert call.result is None

    def test_no_answer(self) -> None:
        call = SandboxCall(simple_agent(), phone("03"), network={"no_answer_after_s": 20}).run()

        assert call.statuses == ["ringing", "no_answer"]
        assert call.status_times["no_answer"] > 20

    def test_hung_up_while_it_rings(self) -> None:
        call = SandboxCall(simple_agent(), phone("03"), hang_up_at=2).run()

        assert call.statuses == ["ringing", "canceled"]


class TestVoicemail:
    def test_the_carriers_verdict_ends_the_call(self) -> None:
        call = SandboxCall(simple_agent(), phone("04")).run()

        assert call.sink.of(events.VOICEMAIL_DETECTED)[0]["by"] in {"carrier", "transcript", "beep"}
        assert (call.outcome, call.end_reason) == ("voicemail", "voicemail")
        assert call.statuses[-1] == "completed"

    def test_the_verdict_comes_after_the_beep_and_a_message_is_left(self) -> None:
        settings = {"voicemail_detection": {"action": "message", "message": "Please call us back."}}
        call = SandboxCall(simple_agent(), phone("04"), configurations=settings).run()

        assert call.outcome == "voicemail"
        assert call.agent_said[-1] == "Please call us back."


class TestDifficultPeople:
    def test_one_who_hangs_up_in_the_middle_of_the_greeting(self) -> None:
        call = SandboxCall(greets_with("Hello and welcome to the longest greeting in the world."), phone("05")).run()

        assert call.end_reason == "caller_hung_up"
        assert call.agent_said[0] != "Hello and welcome to the longest greeting in the world."
        assert call.agent_said[0].startswith("Hello")

    def test_a_silent_one_is_asked_and_then_left(self) -> None:
        call = SandboxCall(simple_agent(), phone("06"), configurations={"max_user_idle_timeout": 4}).run()

        assert call.end_reason == "idle"
        assert call.caller_said == []
        assert call.statuses[-1] == "completed"

    def test_one_who_interrupts(self) -> None:
        greeting = "Hello and welcome, I have a lot to tell you about our new opening hours today."
        call = SandboxCall(
            {**greets_with(greeting), "demo_caller": ["Stop please", "A table", "Bye"]},
            phone("07"),
            [says("Of course, what can I do for you on this fine day of ours?"), says("For when?"), takes("done")],
        ).run()

        assert len(call.sink.of(events.BARGED_IN)) >= 1
        assert call.agent_said[0] != greeting
        assert call.caller_said[0] == "Stop please"
        assert call.end_reason == "agent_ended"

    def test_one_who_presses_keys(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="Ask.", greeting="For sales press two."),
            node("sales", "agentNode", prompt="Sell.", say="Sales here."),
            edge("start", "sales", "Sales", digits="2"),
        )
        call = SandboxCall(graph, phone("08"), hang_up_at=15).run()

        taken = call.sink.of(events.EDGE_TAKEN)[0]
        assert (taken["by"], taken["to"]) == ("dtmf", "sales")
        assert "Sales here." in call.agent_said

    def test_one_who_asks_for_a_person(self) -> None:
        call = SandboxCall(simple_agent(), phone("09"), [says("I can help you myself.")] * 4).run()

        assert call.caller_said[0] == "I want to speak to a person, please."
        assert call.caller_said[-1] == "Goodbye."
        assert call.end_reason == "caller_hung_up"


class TestEveryOtherNumber:
    def test_follows_the_mix_of_its_configuration(self) -> None:
        call = SandboxCall(simple_agent(), "+14155552671", network={"mix": {"busy": 1}}).run()

        assert call.statuses == ["ringing", "busy"]

    def test_talks_without_one(self) -> None:
        call = SandboxCall(demo_agent("Bye"), "+14155552671", [takes("done")]).run()

        assert (call.outcome, call.caller_said) == ("answered", ["Bye"])

    def test_the_same_call_twice_is_the_same_call(self) -> None:
        def once() -> list[object]:
            call = SandboxCall(demo_agent("A table", "Bye"), phone("01"), [says("For when?"), takes("done")]).run()
            return [(event.type, event.at_s) for event in call.sink.events]

        assert once() == once()
