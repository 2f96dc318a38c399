"""What the vendor counts: its audio after an interruption, and the tokens of every response."""

from tests.voice.speech_to_speech.spoken_call import LONG, SpokenCall, answer, on_a_line, spoken_agent, vendor

GREETING = "Hello, how can I help?"
BOOK = "i want to book a table"


class TestTheVendorsOwnCount:
    def test_audio_that_is_shorter_there_is_written_as_text(self) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Of course."), answer("Yes.")) as lab:
                lab.server.shorter_ms = 5000
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.says("are you there", at=12).hangs_up(at=17))

                heard = call.agent_said[1]
                assert any("already shorter" in complaint for complaint in lab.server.complaints)
                assert ("assistant", heard) in lab.server.conversation.remembered_lines()
                assert LONG not in [text for _, text in lab.server.conversation.remembered_lines()]
                assert call.agent_said[-1] == "Yes."

        on_a_line(scenario)

    def test_usage_that_is_not_reported_is_unknown_and_not_nothing(self) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                lab.server.reports_usage = False
                call = await lab.carry(SpokenCall(spoken_agent()).says(BOOK, at=4).hangs_up(at=13))

                assert call.usage == {
                    "provider": "openai_realtime",
                    "model": "gpt-realtime-2",
                    "calls": 2,
                    "unreported_responses": 2,
                }

        on_a_line(scenario)

    def test_a_canceled_response_is_counted(self) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Of course.")) as lab:
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.hangs_up(at=13))

                made = sum(usage["output_token_details"]["audio_tokens"] for usage in lab.server.usage)
                assert call.usage["calls"] == len(lab.server.usage) == 3
                assert call.usage["audio_output_tokens"] == made

        on_a_line(scenario)

    def test_a_call_that_ends_in_a_sentence_counts_it(self) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG)) as lab:
                lab.server.chunk_pause_s = 0.09
                call = await lab.carry(SpokenCall(spoken_agent()).says("tell me everything", at=4).hangs_up(at=7))

                assert call.usage["calls"] == 2
                assert "unreported_responses" not in call.usage

        on_a_line(scenario)
