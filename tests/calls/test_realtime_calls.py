"""A speech-to-speech model in a call of a real server: what is stored of it, what it costs, and why it has no journal."""

from decimal import Decimal

import pytest
from sqlalchemy import select

from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.errors import JournalNotKept
from offhook.runs.tables import RunCostLine
from offhook.scenarios.replays.service import load_replayable
from tests.calls.conftest import LiveServer
from tests.voice.speech_to_speech.spoken_call import VENDORS, VendorKind, answer, spoken_agent

GREETING = "Hello, how can I help?"


@pytest.mark.parametrize("kind", VENDORS, ids=lambda kind: kind.provider)
async def test_from_the_greeting_to_the_goodbye(server: LiveServer, root: Root, kind: VendorKind) -> None:
    async with kind.open(answer(GREETING), answer("", "done")) as lab:
        server.models.realtime = lab.model
        await server.publish(spoken_agent())
        async with server.call() as (run_id, call):
            await call.hears_the_agent()
            await call.says("No thank you")
            assert await call.is_over() == (1000, "the call is over")

        run = await server.finished(run_id)
        assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "agent_ended")
        assert [(line["role"], line["text"]) for line in run["transcript"]] == [
            ("agent", GREETING),
            ("caller", "No thank you"),
            ("agent", "Thank you, goodbye."),
        ]

    (used,) = run["usage"]["realtime"]
    assert (used["provider"], used["model"], used["calls"]) == (kind.provider, kind.model, 2)
    assert used[kind.spoken_unit] == lab.server.counted_usage()[kind.spoken_unit]
    # the price table knows the model; the scripted ones beside it are unpriced
    assert not [line for line in run["usage"]["unpriced"] if line["kind"] == "realtime"]

    await server.has_nothing_left_to_write()
    async with root.db.transaction() as session:
        lines = await session.scalars(select(RunCostLine).where(RunCostLine.kind == "realtime"))
        by_unit = {line.unit: line.quantity for line in lines}
        if kind.spoken_unit == "seconds":
            assert by_unit == {"second": Decimal(str(used["seconds"]))}
        else:
            assert by_unit["audio_output"] == used["audio_output_tokens"]
            assert set(by_unit) >= {"text_input", "audio_input", "audio_output"}
        with pytest.raises(JournalNotKept, match="realtime model"):
            await load_replayable(session, root.get(RunServices).live.journals, run_id)
