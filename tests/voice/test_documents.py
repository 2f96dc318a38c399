"""A caller asks what only a document answers, and does not wait for it."""

from collections.abc import Sequence
from typing import Any

from offhook.knowledge import KnowledgePassage
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.voice import events
from tests.fakes.knowledge import Shelf
from tests.fakes.scripted import Hearing, ScriptedLlm, ScriptedStt, says
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

QUESTION = "How long do you keep things that I have lost with you?"
FACT = "Lost things are kept at the cloakroom for thirty days."
OTHER = "The roof was renewed in 1987."


def shelf(**more: Any) -> Shelf:
    return Shelf({"guide": f"{OTHER} {FACT} Dogs wait outside.", "secret": "The password is swordfish."}, **more)


def asking(knowledge: Shelf, *, has_refs: bool = True, **more: Any) -> Call:
    """Somebody who asks after the greeting; the recognizer has their words before they have ended."""
    refs = {"document_refs": ["guide"]} if has_refs else {}
    hearing = Hearing()
    call = Call(
        simple_agent(**refs),
        knowledge=knowledge,
        hearing=hearing,
        stts=[ScriptedStt(hearing, partials=True)],
        **more,
    )
    return call.says(QUESTION, at=4.0).hangs_up(at=16.0)


def answered_after(call: Call) -> float:
    """Seconds from the caller's last word to the agent's first, on the turn that answers."""
    return next(float(turn["response_ms"]) for turn in call.sink.of(events.TURN_TIMED) if "response_ms" in turn)


class TestAQuestion:
    def test_the_offline_agent_says_what_the_document_says(self) -> None:
        call = asking(shelf(), llms=[BuiltinLlm()]).run()
        assert call.agent_said[-1] == f"{FACT} Is there anything else I can help you with?"
        (found,) = call.sink.of(events.KNOWLEDGE_FOUND)
        assert found["sources"] == [
            {"document_id": "guide", "name": "guide.md", "page": None, "score": 1.0, "whole": False}
        ]

    def test_the_model_is_given_the_passages_of_the_node_s_documents_and_no_others(self) -> None:
        llm = ScriptedLlm([says("Thirty days.")])
        asking(shelf(), llms=[llm]).run()
        told = llm.requests[0].messages[0].content
        assert FACT in told
        assert "swordfish" not in told

    def test_it_is_looked_up_while_the_caller_speaks(self) -> None:
        knowledge = shelf(takes_s=0.5)
        call = asking(knowledge, replies=[says("Thirty days.")]).run()
        (found,) = call.sink.of(events.KNOWLEDGE_FOUND)
        assert (found["while_speaking"], found["waited_ms"]) == (True, 0)
        assert knowledge.asked[0][0] - call.started_at < 5.0
        plain = asking(shelf(), has_refs=False, replies=[says("Thirty days.")]).run()
        assert answered_after(call) - answered_after(plain) <= 40

    def test_an_answer_that_is_prepared_early_has_the_passages(self) -> None:
        llm = ScriptedLlm([says("Thirty days.")])
        call = asking(shelf(takes_s=0.2), llms=[llm], configurations={"early_answers": True}).run()
        assert [data["used"] for data in call.sink.of(events.EARLY_ANSWER)] == [True]
        assert len(llm.requests) == 1
        assert FACT in llm.requests[0].messages[0].content
        assert len(call.sink.of(events.KNOWLEDGE_FOUND)) == 1

    def test_a_look_up_that_broke_is_not_repeated_for_each_frame(self) -> None:
        class Broken(Shelf):
            async def find_passages(self, document_refs: Sequence[str], question: str) -> Sequence[KnowledgePassage]:
                await super().find_passages(document_refs, question)
                raise RuntimeError("a fault of ours")

        knowledge = Broken({"guide": FACT})
        call = asking(knowledge, replies=[says("I do not know.")], configurations={"early_answers": True}).run()
        assert call.agent_said[-1] == "I do not know."
        for_all_words = [question for _, _, question in knowledge.asked if question == QUESTION]
        assert len(for_all_words) <= 4

    def test_nothing_is_looked_up_for_a_node_without_documents(self) -> None:
        knowledge = shelf()
        asking(knowledge, has_refs=False, replies=[says("I do not know.")]).run()
        assert knowledge.asked == []

    def test_documents_that_take_too_long_are_done_without(self) -> None:
        llm = ScriptedLlm([says("I will find out.")])
        call = asking(shelf(takes_s=30), llms=[llm]).run()
        assert "I will find out." in call.agent_said
        assert "# From your documents" not in llm.requests[0].messages[0].content

    def test_a_short_question_is_about_what_was_asked_before(self) -> None:
        knowledge = shelf()
        call = asking(knowledge, replies=[says("Thirty days."), says("Also thirty.")])
        call.says("And umbrellas?", at=10.0).run()
        assert knowledge.asked[-1][2] == f"{QUESTION} And umbrellas?"

    def test_another_node_has_other_documents(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="Help.", greeting="Hello?", document_refs=["guide"]),
            node("vault", "agentNode", prompt="Tell the password.", document_refs=["secret"]),
            edge("start", "vault", "Vault"),
        )
        hearing, llm = Hearing(), ScriptedLlm([says("", "vault"), says("It is swordfish.")])
        call = (
            Call(graph, knowledge=shelf(), hearing=hearing, llms=[llm]).says(QUESTION, at=3.0).hangs_up(at=12.0).run()
        )
        assert [request.messages[0].content.count("swordfish") for request in llm.requests] == [0, 1]
        assert [found["node_id"] for found in call.sink.of(events.KNOWLEDGE_FOUND)] == ["start", "vault"]
