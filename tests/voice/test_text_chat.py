"""The same engine without audio: a chat, broken off and taken up again elsewhere."""

from typing import Any

from offhook.models.ports import CallModels, ModelError
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.dialog.phrases import phrases_for
from offhook.voice.text_session import TextSession
from offhook.workflows.graph import parse_graph
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, ScriptedTts, says, takes
from tests.fakes.voice import KeptEvents, Tools
from tests.voice.phone import simple_agent


def chat(llm: ScriptedLlm, sink: KeptEvents, state: dict[str, Any] | None = None) -> TextSession:
    agent = CallAgent(parse_graph(simple_agent()), CallConfig(), Tools(), {})
    models = CallModels((llm,), (ScriptedTts(),), (ScriptedStt(Hearing()),))
    return TextSession(agent=agent, models=models, sink=sink, state=state)


class TestTextChat:
    def test_greets_answers_and_ends_with_the_graph(self) -> None:
        async def talk() -> None:
            session = chat(ScriptedLlm([says("We open at nine."), takes("done")]), KeptEvents())
            assert await session.start() == ["Hello, how can I help?"]
            assert await session.say("When do you open?") == ["We open at nine."]
            assert await session.say("Thanks, bye") == ["Thank you, goodbye."]
            assert session.is_over
            assert session.result is not None
            assert session.result.end_reason == "agent_ended"

        run_virtual(talk())

    def test_goes_on_in_another_process_with_its_history_and_usage(self) -> None:
        async def talk() -> None:
            first = chat(ScriptedLlm([says("Which city?")]), KeptEvents())
            await first.start()
            await first.say("A flight please")
            llm, sink = ScriptedLlm([says("Oslo it is.")]), KeptEvents()
            second = chat(llm, sink, first.snapshot())
            assert await second.say("Oslo") == ["Oslo it is."]
            assert [m.content for m in llm.requests[0].messages[1:]] == [
                "Hello, how can I help?",
                "A flight please",
                "Which city?",
                "Oslo",
            ]
            assert sink.of(events.USAGE_COUNTED)[-1]["llm"][0]["calls"] == 2

        run_virtual(talk())

    def test_a_dead_model_apologises_and_ends(self) -> None:
        async def talk() -> None:
            dead = Reply(fails=ModelError("gone", "It is gone.", retryable=False))
            session = chat(ScriptedLlm([dead] * 4), KeptEvents())
            await session.start()
            (answer,) = await session.say("Hello?")
            assert "technical trouble" in answer
            assert session.result is not None
            assert session.result.end_reason == "error"

        run_virtual(talk())

    def test_an_empty_turn_asks_again(self) -> None:
        async def talk() -> None:
            session = chat(ScriptedLlm([Reply(), Reply(), says("Sure.")]), KeptEvents())
            await session.start()
            (answer,) = await session.say("Hm")
            assert answer == phrases_for("en").reprompt
            assert await session.say("A table") == ["Sure."]

        run_virtual(talk())
