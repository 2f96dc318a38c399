"""From the upload to the call: what workflows may name, and what callers then hear."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K, PCM16_16K, Codec
from offhook.recordings import RecordingLibrary
from offhook.recordings import library as recordings_library
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs import service as runs
from offhook.runs.live.call_sounds import CallSounds
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import StoredEvent
from offhook.voice import events
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio
from tests.recordings.sounds import sound_file
from tests.workflows.conftest import Editor
from tests.workflows.definitions import simple

WELCOME = "Welcome to Acme, how may I help you?"


def recorded(recording_id: str | None = "welcome", **more: Any) -> dict[str, Any]:
    definition = simple()
    definition["nodes"][0]["data"] |= {"greeting_type": "audio", "greeting_recording_id": recording_id, **more}
    return definition


def problems(answer: Any) -> list[tuple[str, str, str]]:
    return [(error["kind"], error["field"], error["code"]) for error in answer.json()["detail"]["errors"]]


class TestPublishing:
    async def test_names_that_exist(self, studio: Studio, editor: Editor) -> None:
        await studio.record("welcome", WELCOME)
        await editor.create_published(recorded())

    @pytest.mark.parametrize(("named", "code"), [("gone", "recording_unknown"), (None, "field_required")])
    async def test_names_that_do_not(self, editor: Editor, named: str | None, code: str) -> None:
        workflow_id = (await editor.create(recorded(named)))["id"]
        answer = await editor.publish(workflow_id)
        assert answer.status_code == 422
        assert problems(answer) == [("node", "data.greeting_recording_id", code)]

    async def test_anothers_recording(self, other_studio: Studio, editor: Editor) -> None:
        await other_studio.record("welcome", WELCOME)
        workflow_id = (await editor.create(recorded()))["id"]
        assert problems(await editor.publish(workflow_id))[0][2] == "recording_unknown"

    async def test_edges_and_settings_are_looked_at_too(self, editor: Editor) -> None:
        definition = simple()
        definition["edges"][0]["data"] |= {"transition_speech_type": "audio", "transition_speech_recording_id": "a"}
        workflow_id = (await editor.create(definition))["id"]
        noise = {"ambient_noise_configuration": {"enabled": True, "recording_id": "b"}}
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": noise})

        assert problems(await editor.publish(workflow_id)) == [
            ("edge", "data.transition_speech_recording_id", "recording_unknown"),
            ("workflow", "workflow_configurations.ambient_noise_configuration.recording_id", "recording_unknown"),
        ]

    async def test_a_recorded_node_needs_no_prompt(self, studio: Studio, editor: Editor) -> None:
        await studio.record("bye")
        definition = simple()
        end = next(node for node in definition["nodes"] if node["type"] == "endCall")
        end["data"] = {"name": "Bye", "say_type": "audio", "say_recording_id": "bye"}
        await editor.create_published(definition)


class TestACall:
    async def carry(
        self, root: Root, org: OrgFixture, workflow_id: int, codec: Codec
    ) -> tuple[KeptLeg, list[StoredEvent]]:
        use_fakes(root, FixedModels())
        async with root.db.transaction() as session:
            run = await runs.create_run(
                session,
                organization_id=org.id,
                workflow_id=workflow_id,
                mode="twilio",
                direction="inbound",
                use_draft=True,
            )
        live, leg = root.get(RunServices).live, KeptLeg(codec=codec)
        call = await live.connect_leg(run.id, leg)
        leg.on_mark = call.session.feed_mark
        talking = asyncio.create_task(call.run())
        while not any(event.type == events.AGENT_SAID for event in leg.events):
            await asyncio.sleep(0.02)
        call.session.end_call()
        await talking
        async with root.db.transaction() as session:
            return leg, await event_queries.read_events(session, org.id, run.id)

    @pytest.mark.parametrize("codec", [MULAW_8K, PCM16_16K], ids=["mulaw_8k", "pcm_16k"])
    @pytest.mark.slow
    async def test_is_greeted_by_the_file_that_was_uploaded(
        self,
        root: Root,
        org: OrgFixture,
        studio: Studio,
        editor: Editor,
        codec: Codec,
    ) -> None:
        await studio.record("welcome", WELCOME, content=sound_file("FLAC", seconds=0.5, rate=48_000, hz=800))
        workflow_id = await editor.create_published(recorded())

        leg, stored = await self.carry(root, org, workflow_id, codec)

        (said,) = [event["data"] for event in stored if event["type"] == events.AGENT_SAID]
        assert (said["text"], said["interrupted"]) == (WELCOME, False)
        played = codec.decode(b"".join(frame for _, frame in leg.frames))
        assert played.size == pytest.approx(0.5 * codec.sample_rate, rel=0.05)
        spectrum = np.abs(np.fft.rfft(played))
        assert spectrum.argmax() * codec.sample_rate / played.size == pytest.approx(800, abs=3)

    @pytest.mark.slow
    async def test_is_never_met_with_silence_when_the_file_is_gone(
        self,
        root: Root,
        org: OrgFixture,
        studio: Studio,
        editor: Editor,
    ) -> None:
        made = await studio.record("welcome", WELCOME)
        workflow_id = await editor.create_published(recorded(greeting="Hello there."))
        root.storage.path_for(made["storage_key"]).unlink()

        leg, stored = await self.carry(root, org, workflow_id, MULAW_8K)

        kinds = {event["type"]: event["data"] for event in stored}
        assert kinds[events.RECORDING_MISSING] == {"recording_id": "welcome", "instead": "text"}
        assert kinds[events.AGENT_SAID]["text"] == "Hello there."
        assert leg.frames


async def test_a_chat_reads_the_transcript(studio: Studio, editor: Editor, root: Root) -> None:
    use_fakes(root, FixedModels())
    await studio.record("welcome", WELCOME)
    workflow_id = (await editor.create(recorded()))["id"]
    answer = await editor.post(f"/workflow/{workflow_id}/text-chat/sessions", json={})
    assert WELCOME in answer.text


async def test_a_recording_is_read_once_for_many_calls(studio: Studio, root: Root, org: OrgFixture) -> None:
    await studio.record("welcome", WELCOME)
    library = root.get(RecordingLibrary)
    first, again = [await library.load_recording(org.id, "welcome", 8000) for _ in range(2)]
    assert first is not None
    assert again is not None
    assert again.samples is first.samples


async def test_a_slow_bucket_keeps_no_caller_waiting(
    studio: Studio, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The greeting of every call waited for it, for up to a minute of silence."""
    await studio.record("welcome", WELCOME)
    responds, asked = asyncio.Event(), []
    open_file = root.storage.open_file

    @asynccontextmanager
    async def open_slowly(key: str) -> AsyncIterator[Path]:
        asked.append(key)
        await responds.wait()
        async with open_file(key) as path:
            yield path

    monkeypatch.setattr(root.storage, "open_file", open_slowly)
    monkeypatch.setattr(recordings_library, "MAX_WAIT_S", 0.05)
    sounds = CallSounds(root.get(RecordingLibrary), org.id)
    async with asyncio.timeout(10):
        assert await asyncio.gather(*(sounds.find_sound("welcome", 8000) for _ in range(5))) == [None] * 5
        assert await sounds.find_sound("welcome", 8000) is None, "what is late already is not waited for again"
        assert len(asked) == 1
        responds.set()
        while (sound := await sounds.find_sound("welcome", 8000)) is None:
            await asyncio.sleep(0.01)
    assert sound.transcript == WELCOME
    assert len(asked) == 1


@pytest.mark.slow
async def test_a_duplicate_gets_recordings_of_its_own(studio: Studio, editor: Editor, root: Root) -> None:
    original = (await editor.create(recorded()))["id"]
    made = await studio.record("welcome", WELCOME, workflow_id=original)
    await studio.record("shared")
    settings = {
        "voicemail_detection": {"action": "message", "message_recording_id": "welcome"},
        "ambient_noise_configuration": {"enabled": True, "recording_id": "shared"},
    }
    await editor.put(f"/workflow/{original}", json={"workflow_configurations": settings})

    answer = await editor.post(f"/workflow/{original}/duplicate")
    assert answer.status_code == 200, answer.text
    duplicate = answer.json()

    ((copied,), _) = await studio.list(workflow_id=duplicate["id"])
    data = duplicate["workflow_definition"]["nodes"][0]["data"]
    assert (data["greeting_recording_id"], copied != "welcome") == (copied, True)
    assert duplicate["workflow_configurations"]["voicemail_detection"]["message_recording_id"] == copied
    assert duplicate["workflow_configurations"]["ambient_noise_configuration"]["recording_id"] == "shared"
    assert (await editor.fetch(original))["workflow_definition"]["nodes"][0]["data"] != data

    await studio.request("DELETE", "/welcome")
    assert root.storage.path_for(made["storage_key"]).exists(), "the copy still plays it"
    assert (await studio.request("GET", f"/{copied}/audio")).status_code == 200
