"""What the vendor charges: the tokens of every response, or its time."""

from tests.voice.speech_to_speech.spoken_call import (
    LONG,
    OpenVendor,
    SpokenCall,
    VendorKind,
    answer,
    on_a_line,
    spoken_agent,
)

GREETING = "Hello, how can I help?"
BOOK = "i want to book a table"


class TestReportsOfUsage:
    def test_usage_that_is_not_reported_is_unknown_and_not_nothing(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor() as lab:
                lab.server.reports_usage = False
                call = await lab.carry(SpokenCall(spoken_agent()).says(BOOK, at=4).hangs_up(at=13))

                # time is counted here
                is_timed = kind.spoken_unit == "seconds"
                counted = lab.server.counted_usage() if is_timed else {"unreported_responses": 2}
                assert call.usage == {"provider": kind.provider, "model": kind.model, "calls": 2, **counted}

        on_a_line(scenario)

    def test_a_canceled_response_is_counted(self, vendor: OpenVendor, kind: VendorKind) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG), answer("Of course.")) as lab:
                call = SpokenCall(spoken_agent()).says("tell me everything", at=4).says("stop please", at=7)
                await lab.carry(call.hangs_up(at=13))

                assert call.usage["calls"] == len(lab.server.usage) == 3
                assert call.usage[kind.spoken_unit] == lab.server.counted_usage()[kind.spoken_unit]

        on_a_line(scenario)

    def test_a_call_that_ends_in_a_sentence_counts_it(self, vendor: OpenVendor) -> None:
        async def scenario() -> None:
            async with vendor(answer(GREETING), answer(LONG)) as lab:
                lab.server.chunk_pause_s = 0.09
                call = await lab.carry(SpokenCall(spoken_agent()).says("tell me everything", at=4).hangs_up(at=7))

                assert call.usage["calls"] == 2
                assert "unreported_responses" not in call.usage

        on_a_line(scenario)
