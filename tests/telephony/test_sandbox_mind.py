"""What a simulated person answers."""

from typing import Any

from offhook.telephony.providers.sandbox.call_script import CallerMove, read_script
from offhook.telephony.providers.sandbox.dialog import CallerDialog, last_question


def mind(*script: Any, **definition: Any) -> CallerDialog:
    return CallerDialog(read_script({"demo_caller": list(script), **definition}))


class TestTheScript:
    def test_is_followed_line_by_line(self) -> None:
        person = mind("Hello", {"press": "12"}, {"hang_up": True})

        moves = [person.choose_move("And?", "a") for _ in range(3)]
        assert moves == [CallerMove("say", "Hello"), CallerMove("press", "12"), CallerMove("hang_up")]

    def test_a_line_for_a_node_waits_for_it(self) -> None:
        person = mind(
            {"say": "Tuesday", "node": "Which day"}, "Hi", nodes=[{"id": "n2", "data": {"name": "Which day"}}]
        )

        assert person.choose_move("Hello.", "n1").text == "Hi"
        assert person.choose_move("Which day?", "n2").text == "Tuesday"

    def test_a_line_is_said_again_when_it_was_not_understood(self) -> None:
        person = mind("Hello", "Bye")

        assert [person.choose_move(text, "a").text for text in ("Hi.", "Sorry, I didn't catch that.", "Okay?")] == [
            "Hello",
            "Hello",
            "Bye",
        ]

    def test_the_line_of_a_node_is_said_again_while_the_agent_stays_there(self) -> None:
        person = mind({"say": "Tuesday", "node": "n2"}, {"say": "Noon", "node": "n3"})

        assert [person.choose_move("Which day?", node).text for node in ("n2", "n2", "n3")] == [
            "Tuesday",
            "Tuesday",
            "Noon",
        ]

    def test_but_not_for_ever(self) -> None:
        person = mind("Hello", "Bye")

        said = [person.choose_move("Could you repeat that?", "a").text for _ in range(6)]
        assert said.count("Hello") == 4
        assert "Bye" in said

    def test_a_draft_may_hold_anything(self) -> None:
        brief = read_script({"demo_caller": [1, None, {}, {"say": 5}, " "], "nodes": "x", "edges": [1, {"source": []}]})

        assert brief.script == ()
        assert read_script({"demo_caller": "hi", "nodes": [{"id": 1}]}).questions == {}


class TestWithoutAScript:
    def test_the_edges_of_the_node_say_what_can_be_said(self) -> None:
        edges = [
            {"source": "a", "target": "b", "data": {"label": "Book", "examples": ["I want to book", "book it"]}},
            {"source": "a", "target": "c", "data": {"label": "Cancel a booking"}},
        ]
        person = mind(nodes=[{"id": "a", "data": {"name": "A"}}], edges=edges)

        assert [person.choose_move("How can I help?", "a").text for _ in range(2)] == [
            "I want to book",
            "Cancel a booking",
        ]

    def test_keys_are_pressed_where_only_keys_lead_on(self) -> None:
        edges = [{"source": "a", "target": "b", "data": {"label": "Sales", "digits": "2"}}]
        person = mind(nodes=[{"id": "a", "data": {}}], edges=edges)

        assert person.choose_move("For sales, press two.", "a") == CallerMove("press", "2")
        assert person.choose_digits("a") == "2"
        assert person.choose_digits("elsewhere") == "1"

    def test_questions_get_answers_that_fit(self) -> None:
        answers = {
            "Great. What is your name?": "My name is Alex Morgan.",
            "What is your phone number?": "Two zero one five five five zero one four two.",
            "On a scale from one to ten, how was it?": "Eight.",
            "Would you like anything else?": "Yes, please.",
            "What day works for you?": "Tuesday.",
            "Your order is on its way.": "Okay, thank you.",
        }
        assert {text: mind().choose_move(text, None).text for text in answers} == answers

    def test_the_last_question_counts(self) -> None:
        assert (
            last_question("What is your name? I mean: how old are you? Take your time.") == "I mean: how old are you?"
        )
        assert last_question("") == ""
