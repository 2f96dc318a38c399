"""Recordings that are off, that never began, that a tool paused or discarded: what is left of them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from offhook.kit.audio import PCM16_16K
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.live.live_call import LiveCall
from offhook.runs.recording_files.wav import HEADER_BYTES
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.tables import Run
from offhook.voice.events import AGENT_SAID, CALLER_SAID, RECORDING_PAUSED, VoiceEvent
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg

CARD = "My card is 4111 1111 1111 1111."
TONE = b"\x00\x10" * 320


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def connect(root: Root, live: LiveCallRegistry, run: Run, **configurations: Any) -> LiveCall:
    async with root.db.transaction() as session:
        await session.execute(
            text("UPDATE workflow_versions SET configurations = CAST(:set AS jsonb)"),
            {"set": json.dumps(configurations)},
        )
    return await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))


async def finish(root: Root, call: LiveCall) -> tuple[Run, list[Path]]:
    """Hangs up; the stored run and the files of recordings."""
    call.session.end_call()
    await call.run()
    async with root.db.transaction() as session:
        stored = await session.get(Run, call.run_id)
    assert stored is not None
    return stored, list((root.settings.data_dir / "files").rglob("*.wav"))


async def test_an_agent_whose_calls_are_not_recorded(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call = await connect(root, live, run, call_recording={"enabled": False})
    call.session.feed_audio(TONE)
    stored, files = await finish(root, call)
    assert (stored.recording_key, files) == (None, [])


async def test_a_call_that_ends_before_its_disclosure_is_not_recorded(
    root: Root, live: LiveCallRegistry, run: Run
) -> None:
    call = await connect(root, live, run, disclosure={"text": "This call is recorded."})
    call.session.feed_audio(TONE)
    stored, files = await finish(root, call)
    assert (stored.recording_key, files) == (None, [])


async def test_an_ordinary_call_is_recorded(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call = await connect(root, live, run)
    call.session.feed_audio(TONE)
    stored, [file] = await finish(root, call)
    assert (stored.recording_key or "").endswith(file.name)
    assert any(file.read_bytes()[HEADER_BYTES:])


async def test_a_discarded_recording_is_gone(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call = await connect(root, live, run)
    call.session.feed_audio(TONE)
    call._recording.discard()
    call.session.feed_audio(TONE)
    stored, files = await finish(root, call)
    assert (stored.recording_key, files) == (None, [])


async def test_a_discarded_recording_is_gone_while_the_call_goes_on(
    root: Root, live: LiveCallRegistry, run: Run
) -> None:
    call = await connect(root, live, run)
    recorder: Any = call._recording.recorder
    call.session.feed_audio(TONE * 40)
    call._recording.record_agent(0.0, TONE * 40)
    recorder.flush()
    assert any(recorder.path.read_bytes()[HEADER_BYTES:])
    call._recording.discard()
    recorder.flush()
    assert recorder.path.stat().st_size == HEADER_BYTES
    await finish(root, call)


def test_card_numbers_are_redacted_from_the_first_pause_on() -> None:
    words = WordFilter()
    said = VoiceEvent(CALLER_SAID, 2.0, {"text": CARD, "start_s": 1.0, "end_s": 2.0})
    assert words.filter_event(said) == said
    words.filter_event(VoiceEvent(RECORDING_PAUSED, 2.0, {}))
    assert words.filter_event(said).data["text"] == "My card is [card]."
    mail = VoiceEvent(AGENT_SAID, 2.0, {"text": "Write to ann@example.com."})
    assert words.filter_event(mail) == mail
    assert words.filter_values({"number": "4111111111111111"}) == {"number": "[card]"}
    assert len(words.silences) == 1
