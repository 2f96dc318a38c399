"""A speech-to-speech model on a call: hearing, speaking, the graph, tools, keys, interruptions, usage."""

from offhook.kit.audio import PCM16_16K
from offhook.voice import events
from offhook.voice.ports import EndCallRequest
from tests.fakes.voice import KeptLeg, ScriptedTool, Tools
from tests.voice.phone import agent_graph, edge, node
from tests.voice.speech_to_speech.spoken_call import (
    LONG,
    SURE,
    OpenVendor,
    SpokenCall,
    VendorKind,
    answer,
    on_a_line,
    recorded_call,
    spoken_agent,
)

GREETING = "Hello, how can I help?"


class TestAConversation:
    def test_the_model_hears_the_caller_and_speaks_itself(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call, recorder = recorded_call(spoken_agent())
                await lab.carry(call.says("i want to book a table", at=4).hangs_up(at=10))

                assert call.transcript == [("agent", GREETING), ("caller", "i want to book a table"), ("agent", SURE)]
                assert call.heard_by_the_caller == "hello how can i help sure for how many people shall i book it"
                assert lab.remembered_lines[:2] == [
                    ("assistant", GREETING),
                    ("user", "i want to book a table"),
                ]
                assert recorder.agents
                assert not lab.server.complaints

        on_a_line(scenario)

    def test_a_line_of_linear_audio_is_resampled(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = SpokenCall(spoken_agent(), leg=KeptLeg(codec=PCM16_16K))
                await lab.carry(call.says("book a table", at=4).hangs_up(at=9))

                assert ("user", "book a table") in lab.remembered_lines
                assert call.heard_by_the_caller == "hello how can i help sure for how many people shall i book it"

        on_a_line(scenario)

    def test_words_that_no_recognizer_understood_are_answered(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = await lab.carry(SpokenCall(spoken_agent()).murmurs("a strange old word", at=4).hangs_up(at=14))

                assert ("user", "a strange old word") in lab.remembered_lines
                assert call.agent_said == [GREETING, SURE]

        on_a_line(scenario)

    def test_a_backchannel_is_no_turn(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("What else?")) as lab:
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("mm-hmm", at=7)
                await lab.carry(call.says("thank you for that", at=14).hangs_up(at=19))

                assert [text for who, text in lab.remembered_lines if who == "user"] == [
                    "tell me everything",
                    "thank you for that",
                ]
                assert LONG in call.agent_said

        on_a_line(scenario)


class TestTheGraph:
    def test_each_node_has_its_instructions_and_functions(self, vendor: OpenVendor) -> None:
        definition = agent_graph(
            node("start", "startCall", prompt="Find out what the caller wants.", greeting="Hello there."),
            node("book", "agentNode", prompt="Book a table.", tool_uuids=["look_up"]),
            node("end", "endCall", prompt="Say goodbye.", say="Thank you, goodbye."),
            edge("start", "book", "Booking", "The caller wants a table"),
            edge("book", "end", "Done", "The table is booked"),
        )

        async def scenario() -> None:
            script = [answer("", "booking"), answer("For how many?"), answer("", "done")]
            async with vendor(*script) as lab:
                call = SpokenCall(definition, tools=Tools(ScriptedTool("look_up")))
                await lab.carry(call.says("a table please", at=4).says("for two people", at=9).hangs_up(at=30))

                # each step may have a session of its own
                steps = [step for session in lab.server.sessions for step in session.conversation.steps]
                assert [tools for _, tools in steps] == [["booking"], ["done", "look_up"]]
                assert "Find out what the caller wants." in steps[0][0]
                assert "Book a table." in steps[1][0]
                assert call.agent_said == ["Hello there.", "For how many?", "Thank you, goodbye."]
                assert [event["to"] for event in call.sink.of(events.EDGE_TAKEN)] == ["book", "end"]
                assert call.result is not None
                assert call.result.end_reason == "agent_ended"
                # the vendor knows the sentence that another voice has said
                assert lab.remembered_lines[0] == ("assistant", "Hello there.")
                assert not lab.server.complaints

        on_a_line(scenario)

    def test_a_key_is_an_answer(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = await lab.carry(SpokenCall(spoken_agent()).presses("42#", at=4).hangs_up(at=10))

                assert ("user", "(entered on the keypad) 42") in lab.remembered_lines
                assert call.agent_said == [GREETING, SURE]

        on_a_line(scenario)

    def test_the_call_ends_at_its_longest(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                limits = {"max_call_duration": 20, "max_user_idle_timeout": 60}
                call = SpokenCall(spoken_agent(), configurations=limits)
                await lab.carry(call.says("book a table", at=4).hangs_up(at=60))

                assert call.result is not None
                assert call.result.end_reason == "max_duration"

        on_a_line(scenario)


class TestTools:
    def test_a_result_belongs_to_its_call(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            look = ScriptedTool("look_up", result={"free": True})
            script = [answer(GREETING), answer("One moment please.", "look_up", day="monday"), answer("It is free.")]
            async with vendor(*script) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
                await lab.carry(call.says("is monday free", at=4).hangs_up(at=12))

                assert look.calls == [{"day": "monday"}]
                entries = [entry for entry in lab.server.conversation.entries if entry.call_id]
                assert [entry.kind for entry in entries] == ["function_call", "function_call_output"]
                assert entries[0].call_id == entries[1].call_id
                assert entries[1].text == '{"free": true}'
                assert call.agent_said[1:] == ["One moment please.", "It is free."] or call.agent_said[1:] == [
                    "One moment please. It is free."
                ]
                assert not lab.server.complaints

        on_a_line(scenario)

    def test_a_caller_is_handed_over(self, vendor: OpenVendor) -> None:
        handed: list[str] = []

        async def hand_over() -> None:
            handed.append("connected")

        async def scenario() -> None:
            request = EndCallRequest({"status": "connected"}, reason="transferred", handover=hand_over)
            transfer = ScriptedTool("transfer", result=request, blocks_barge_in=True, takes_s=2)
            async with vendor(answer(GREETING), answer("I will connect you.", "transfer")) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["transfer"]), tools=Tools(transfer))
                await lab.carry(call.says("a person please", at=4).hangs_up(at=30))

                assert call.result is not None
                assert (call.result.end_reason, handed) == ("transferred", ["connected"])
                assert call.agent_said[-1] == "I will connect you."

        on_a_line(scenario)

    def test_side_effects_happen_once_although_the_caller_interrupts(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            book = ScriptedTool("book", result={"booked": True}, takes_s=3, has_side_effects=True)
            script = [answer(GREETING), answer("I am booking it now.", "book"), answer("It is booked.")]
            async with vendor(*script) as lab:
                call = SpokenCall(spoken_agent(tool_uuids=["book"]), tools=Tools(book))
                await lab.carry(call.says("book it now", at=4).says("are you there", at=8).hangs_up(at=18))

                assert book.finished == 1
                assert lab.knows('{"booked": true}')
                assert call.agent_said[-1] == "It is booked."

        on_a_line(scenario)


class TestBargeIn:
    def test_the_model_forgets_what_was_not_heard(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Of course.")) as lab:
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.hangs_up(at=13))

                heard = call.agent_said[1]
                assert LONG.startswith(heard)
                assert len(heard) < len(LONG) - 20
                remembered = lab.remembered_lines[2][1]
                # by at most a word
                assert abs(len(remembered.split()) - len(heard.split())) <= 1
                assert call.agent_said[-1] == "Of course."
                assert not lab.server.complaints

        on_a_line(scenario)

    def test_an_answer_of_which_nothing_was_heard_is_deleted(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Both, then.")) as lab:
                lab.server.first_audio_s = 0.9
                call = SpokenCall(spoken_agent()).says("i want a table", at=4.5).says("and a taxi too", at=6.1)
                await lab.carry(call.hangs_up(at=13))

                assert LONG not in [text for _, text in lab.remembered_lines]
                assert call.agent_said[-1] == "Both, then."
                assert "truncated" not in " ".join(lab.server.complaints)

        on_a_line(scenario)


class TestUsage:
    def test_tokens_are_counted_by_modality(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                call = SpokenCall(spoken_agent()).says("book a table", at=4).says("for two people", at=10)
                await lab.carry(call.hangs_up(at=15))

                assert call.usage == {
                    "provider": kind.provider,
                    "model": kind.model,
                    "calls": 3,
                    **lab.server.counted_usage(),
                }

        on_a_line(scenario)
