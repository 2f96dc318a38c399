"""A caller and an agent on virtual time: turns, edges, goodbyes."""

import json

from offhook.voice import events
from tests.fakes.scripted import Hearing, Reply, ScriptedLlm, ScriptedStt, says, takes
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent


class TestATurn:
    def test_greets_answers_and_says_goodbye_before_hanging_up(self) -> None:
        call = Call(simple_agent(), [says("Sure, I can do that."), takes("done")])
        call.says("Please book a table", at=3).says("No thanks", at=8).run()

        assert call.transcript == [
            ("agent", "Hello, how can I help?"),
            ("caller", "Please book a table"),
            ("agent", "Sure, I can do that."),
            ("caller", "No thanks"),
            ("agent", "Thank you, goodbye."),
        ]
        assert call.result is not None
        assert (call.result.outcome, call.result.end_reason) == ("answered", "agent_ended")
        last_frame = call.leg.frames[-1][0]
        assert call.leg.hung_up_at is not None
        assert call.leg.hung_up_at >= last_frame

    def test_the_answer_comes_soon_after_the_caller_stops(self) -> None:
        call = Call(simple_agent(), [says("Sure.")]).says("Book a table", at=3).hangs_up(at=8).run()

        (timing,) = call.sink.of(events.TURN_TIMED)
        stamps = [
            timing[name]
            for name in ("caller_stopped", "turn_decided", "first_token", "first_sentence", "first_byte", "first_frame")
        ]
        assert stamps == sorted(stamps)
        # 0.7 s of silence, 0.1 s first token, one word, 0.08 s first byte: the rest is ours
        assert 850 <= timing["response_ms"] <= 1000

    def test_a_minute_of_talk_is_heard_to_its_end(self) -> None:
        call = Call(simple_agent(), [says(f"Answer number {n} is here.") for n in range(20)])
        for n in range(9):
            call.says(f"Question {n} please", at=4 + n * 6)
        call.hangs_up(at=60).run()

        assert call.result is not None
        assert call.result.duration_s >= 59.9
        assert len(call.sink.of(events.CALLER_SAID)) == 9

    def test_the_same_call_twice_is_the_same_call(self) -> None:
        def once() -> list[object]:
            call = Call(simple_agent(), [says("Sure, one moment, I will look."), takes("done")])
            call.says("A table", at=3).says("Wait", at=5.1).says("Bye", at=9).run()
            return [(event.type, event.at_s, event.data) for event in call.sink.events]

        assert once() == once()

    def test_a_vendor_with_endpointing_decides_the_turn_itself(self) -> None:
        hearing = Hearing()
        call = Call(simple_agent(), [says("Sure.")], hearing=hearing, stts=[ScriptedStt(hearing, has_endpointing=True)])
        call.says("Book a table", at=3).hangs_up(at=8).run()

        (timing,) = call.sink.of(events.TURN_TIMED)
        assert 0.45 <= timing["turn_decided"] - timing["caller_stopped"] <= 0.56


class TestEdges:
    def test_an_edge_moves_to_the_next_node_which_speaks(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="Ask.", greeting="Sales or support?"),
            node("sales", "agentNode", prompt="Sell."),
            edge("start", "sales", "Sales", transition_speech="Connecting you to sales."),
        )
        call = Call(graph, [takes("sales"), says("Sales here.")]).says("Sales please", at=3).hangs_up(at=10).run()

        assert call.agent_said == ["Sales or support?", "Connecting you to sales. Sales here."]
        assert [data["name"] for data in call.sink.of(events.NODE_ENTERED)] == ["start", "sales"]
        assert call.result is not None
        assert call.result.gathered_context["nodes_visited"] == ["start", "sales"]

    def test_keys_take_an_edge_and_stop_the_agent(self) -> None:
        graph = agent_graph(
            node(
                "start",
                "startCall",
                prompt="Ask.",
                greeting="Press one for sales, two for support, or stay on the line.",
            ),
            node("sales", "agentNode", prompt="Sell.", say="Sales here."),
            edge("start", "sales", "Sales", digits="1"),
        )
        call = Call(graph).presses("1", at=1.5).hangs_up(at=6).run()

        assert call.agent_said[-1] == "Sales here."
        assert call.sink.of(events.EDGE_TAKEN)[0]["by"] == "dtmf"
        assert call.sink.of(events.BARGED_IN)

    def test_other_keys_reach_the_model_as_words(self) -> None:
        call = Call(simple_agent(), [says("Thanks, order 4 7 1 1.")]).presses("4711#", at=3).hangs_up(at=9).run()

        assert call.sink.of(events.DIGITS_PRESSED) == [{"digits": "4711"}]
        assert call.agent_said[-1] == "Thanks, order 4 7 1 1."

    def test_a_model_that_never_stops_taking_edges_is_stopped(self) -> None:
        graph = agent_graph(
            node("start", "startCall", prompt="a", greeting="Hello."),
            node("b", "agentNode", prompt="b"),
            edge("start", "b", "Go"),
            {**edge("b", "b", "Go"), "id": "loop"},
        )
        call = (
            Call(graph, [takes("go")] * 60, configurations={"max_call_duration": 60})
            .says("Go", at=3)
            .hangs_up(at=20)
            .run()
        )

        assert call.agent_said[1] == "Sorry, I didn't catch that."


class TestVariables:
    def test_are_extracted_when_the_node_is_left_and_fill_later_prompts(self) -> None:
        graph = simple_agent(extraction_enabled=True, extraction_variables=[{"name": "city", "type": "string"}])
        llm = ScriptedLlm([says("Where to?"), takes("done")], extracts='{"city": "Oslo"}')
        call = Call(graph, llms=[llm]).says("A flight", at=3).says("To Oslo", at=8).run()

        assert call.result is not None
        assert call.result.gathered_context["extracted_variables"] == {"city": "Oslo"}
        assert call.sink.of(events.VARIABLES_EXTRACTED) == [{"node_id": "start", "values": {"city": "Oslo"}}]

    def test_values_that_are_too_long_are_named(self) -> None:
        variables = [{"name": name, "type": "string"} for name in ("city", "story")]
        graph = simple_agent(extraction_enabled=True, extraction_variables=variables)
        extracted = json.dumps({"city": "Oslo", "story": "x" * 10_000})
        llm = ScriptedLlm([says("Where to?"), takes("done")], extracts=extracted)
        call = Call(graph, llms=[llm]).says("A flight", at=3).says("To Oslo", at=8).run()

        assert call.sink.of(events.VARIABLES_EXTRACTED) == [{"node_id": "start", "values": {"city": "Oslo"}}]
        assert call.sink.of(events.VALUES_LEFT_OUT) == [{"node_id": "start", "names": ["story"]}]

    def test_the_next_node_waits_for_a_variable_that_it_names(self) -> None:
        graph = simple_agent(extraction_enabled=True, extraction_variables=[{"name": "city", "type": "string"}])
        graph["nodes"][1]["data"]["say"] = "A flight to {{ city | nowhere }}, goodbye."
        llm = ScriptedLlm([takes("done")], extracts='{"city": "Oslo"}')
        call = Call(graph, llms=[llm]).says("To Oslo please", at=3).run()

        assert call.agent_said[-1] == "A flight to Oslo, goodbye."

    def test_the_context_fills_the_greeting(self) -> None:
        graph = simple_agent()
        graph["nodes"][0]["data"]["greeting"] = "Hello {{ name }}!"
        call = Call(graph, context={"name": "Ada"}).hangs_up(at=3).run()

        assert call.agent_said == ["Hello Ada!"]


class TestTheEnd:
    def test_a_caller_who_hangs_up_mid_sentence(self) -> None:
        call = Call(simple_agent(), [Reply("A very long answer that goes on and on and on for a while.")])
        call.says("Tell me", at=3).hangs_up(at=5.5).run()

        assert call.result is not None
        assert call.result.end_reason == "caller_hung_up"
        assert 0 < len(call.agent_said[-1]) < 58

    def test_a_silent_caller_is_asked_twice_and_then_the_call_ends(self) -> None:
        call = Call(simple_agent(), configurations={"max_user_idle_timeout": 5}, hangs_up_at=120).run()

        assert call.agent_said[1:3] == ["Are you still there?"] * 2
        assert call.result is not None
        assert call.result.end_reason == "idle"
        assert "silent_caller" in call.result.tags
        assert call.agent_said[-1].endswith("Goodbye.")

    def test_the_longest_call_is_warned_and_ended(self) -> None:
        call = Call(simple_agent(), configurations={"max_call_duration": 60}, hangs_up_at=120)
        for at in range(4, 110, 7):
            call.says("And another thing", at=at)
        call.run()

        assert call.sink.of(events.DURATION_WARNED)
        assert call.result is not None
        assert call.result.end_reason == "max_duration"
        assert 60 <= call.result.duration_s <= 66
