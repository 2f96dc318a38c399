"""Recordings over HTTP: upload, create, list, rename, delete, listen, transcribe."""

import asyncio
import io
import threading
import wave
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.kit.processes import limited_programs
from offhook.kit.processes.limited_programs import ProcessResult
from offhook.orgs import Caller
from offhook.recordings import RecordingServices, service
from offhook.recordings.errors import RecordingExists
from offhook.root import Root
from tests.fakes.calls import FixedModels, use_fakes
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio
from tests.recordings.sounds import NOT_SOUNDS, SECONDS, lying_wav, sound_file
from tests.workflows.conftest import Editor
from tests.workflows.definitions import simple

FILE = {"filename": "a.wav", "mime_type": "audio/wav", "file_size": 10}
ITEM = {"recording_id": "hello", "storage_key": "fixed-speech/1/abcdefgh.wav", "transcript": "Hello."}
ALL: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/upload-url", {"json": {"files": [FILE]}}),
    ("GET", "/", {}),
    ("POST", "/", {"json": {"recordings": [ITEM]}}),
    ("PATCH", "/1", {"json": {"recording_id": "x"}}),
    ("DELETE", "/hello", {}),
    ("GET", "/hello/audio", {}),
    ("POST", "/transcribe", {"files": {"file": ("a.wav", b"x")}}),
]


@pytest.mark.parametrize(("method", "path", "more"), ALL)
async def test_anonymous(client: AsyncClient, method: str, path: str, more: dict[str, Any]) -> None:
    assert (await client.request(method, f"/workflow-recordings{path}", **more)).status_code == 401


@pytest.mark.parametrize(("method", "path", "more"), [row for row in ALL if row[0] != "GET"])
async def test_viewers_only_read(viewer: Studio, method: str, path: str, more: dict[str, Any]) -> None:
    assert (await viewer.request(method, path, **more)).status_code == 403
    assert await viewer.list() == ([], 0)


async def test_what_is_made_has_the_shape_of_the_reference(studio: Studio) -> None:
    made = await studio.record(
        "welcome-1", " Hello. ", tts_provider="elevenlabs", tts_model="flash", tts_voice_id="ann", metadata={"take": 2}
    )

    assert made["recording_id"] == "welcome-1"
    assert made["transcript"] == "Hello."
    assert (made["tts_provider"], made["tts_model"], made["tts_voice_id"]) == ("elevenlabs", "flash", "ann")
    assert (made["storage_backend"], made["is_active"], made["metadata"]) == ("local", True, {"take": 2})
    assert made["duration_seconds"] == pytest.approx(SECONDS, abs=0.01)
    assert made["created_at"].endswith(("Z", "+00:00"))


class TestUpload:
    @pytest.mark.parametrize("kind", ["WAV", "FLAC", "OGG", "MP3"])
    async def test_kinds_that_are_read(self, studio: Studio, kind: str) -> None:
        await studio.record("hello", content=sound_file(kind, rate=44_100, channels=2, hz=700))

        answer = await studio.request("GET", "/hello/audio")
        with wave.open(io.BytesIO(answer.content)) as file:
            assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (1, 16_000, 2)
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        spectrum = np.abs(np.fft.rfft(samples))
        assert spectrum.argmax() * 16_000 / samples.size == pytest.approx(700, abs=2)

    @pytest.mark.parametrize("content", NOT_SOUNDS.values(), ids=NOT_SOUNDS)
    async def test_what_is_no_sound(self, studio: Studio, content: bytes) -> None:
        place = await studio.place()
        answer = await studio.client.put(place["upload_url"], content=content)

        assert (answer.status_code, answer.json()["code"]) == (415, "audio_not_supported")
        item = {"recording_id": "x", "storage_key": place["storage_key"], "transcript": "Hi"}
        assert (await studio.create(item)).status_code == 404

    async def test_a_header_that_lies_is_read_as_far_as_there_is_sound(self, studio: Studio) -> None:
        made = await studio.record("hello", content=lying_wav())
        assert made["duration_seconds"] == pytest.approx(1, abs=0.01)

    @pytest.mark.parametrize(
        ("content", "status", "code"),
        [
            (b"", 422, "audio_unusable"),
            (bytes(5 * 1024 * 1024 + 1), 413, "file_too_large"),
            (sound_file("FLAC", seconds=301, rate=8000), 422, "audio_unusable"),
            (sound_file(seconds=0), 422, "audio_unusable"),
        ],
        ids=["empty", "too large", "too long", "silent"],
    )
    async def test_what_is_refused(self, studio: Studio, content: bytes, status: int, code: str) -> None:
        place = await studio.place()
        answer = await studio.client.put(place["upload_url"], content=content)
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    async def test_only_signed_addresses_are_written_to(self, studio: Studio) -> None:
        place = await studio.place()
        forged = place["upload_url"][:-1]
        answer = await studio.client.put(forged, content=sound_file())
        assert (answer.status_code, answer.json()["code"]) == (401, "link_refused")

    async def test_a_recording_does_not_change_under_its_workflows(self, studio: Studio) -> None:
        place = await studio.upload()
        item = {"recording_id": "hello", "storage_key": place["storage_key"], "transcript": "Hi"}
        assert (await studio.create(item)).status_code == 200

        again = await studio.client.put(place["upload_url"], content=sound_file(hz=900))
        assert (again.status_code, again.json()["code"]) == (409, "recording_exists")

    async def test_nor_when_it_is_made_while_a_second_upload_comes(self, studio: Studio, root: Root) -> None:
        place = await studio.upload()
        item = {"recording_id": "hello", "storage_key": place["storage_key"], "transcript": "Hi"}

        async def slow() -> AsyncIterator[bytes]:
            yield sound_file(hz=900)
            assert (await studio.create(item)).status_code == 200

        before = root.storage.path_for(place["storage_key"]).read_bytes()
        token = place["upload_url"].rsplit("/", 1)[1]
        with pytest.raises(RecordingExists):
            await root.get(RecordingServices).uploads.receive_upload(token, slow())
        assert root.storage.path_for(place["storage_key"]).read_bytes() == before

    @pytest.mark.parametrize(
        "files", [[], [FILE] * 21, [{**FILE, "file_size": 5 * 1024 * 1024 + 1}], [{**FILE, "file_size": 0}], [{}], "x"]
    )
    async def test_bad_requests_for_addresses(self, studio: Studio, files: Any) -> None:
        assert (await studio.request("POST", "/upload-url", json={"files": files})).status_code == 422

    async def test_twenty_at_once(self, studio: Studio) -> None:
        answer = await studio.request("POST", "/upload-url", json={"files": [FILE] * 20})
        assert len({item["storage_key"] for item in answer.json()["items"]}) == 20


class TestCreate:
    async def test_of_nothing_uploaded(self, studio: Studio, org: Any) -> None:
        for key in (f"fixed-speech/{org.id}/abcdefgh.wav", "../../etc/passwd", f"recordings/{org.id}/1.wav"):
            answer = await studio.create({**ITEM, "storage_key": key})
            assert (answer.status_code, answer.json()["code"]) == (404, "recording_upload_not_found")

    async def test_anothers_upload(self, studio: Studio, other_studio: Studio) -> None:
        place = await other_studio.upload()
        answer = await studio.create({**ITEM, "storage_key": place["storage_key"]})
        assert answer.status_code == 404

    async def test_all_or_none(self, studio: Studio) -> None:
        place = await studio.upload()
        good = {"recording_id": "one", "storage_key": place["storage_key"], "transcript": "Hi"}
        assert (await studio.create(good, {**ITEM, "recording_id": "two"})).status_code == 404
        assert await studio.list() == ([], 0)

    async def test_an_id_is_given_once(self, studio: Studio, other_studio: Studio) -> None:
        await studio.record("hello")
        place = await studio.upload()
        answer = await studio.create({**ITEM, "storage_key": place["storage_key"]})
        assert (answer.status_code, answer.json()["code"]) == (409, "recording_id_taken")
        await other_studio.record("hello")

    async def test_a_file_is_used_once(self, studio: Studio) -> None:
        place = await studio.upload()
        items = [{**ITEM, "recording_id": name, "storage_key": place["storage_key"]} for name in ("one", "two")]
        assert (await studio.create(*items)).json()["code"] == "recording_exists"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"recording_id": ""},
            {"recording_id": "has space"},
            {"recording_id": "x" * 65},
            {"transcript": " "},
            {"transcript": None},
            {"metadata": {"k": "v" * 10_000}},
            {"workflow_id": 0},
        ],
    )
    async def test_bad_fields(self, studio: Studio, wrong: dict[str, Any]) -> None:
        assert (await studio.create({**ITEM, **wrong})).status_code == 422

    async def test_batches_have_one_to_twenty(self, studio: Studio) -> None:
        assert (await studio.create()).status_code == 422
        assert (await studio.create(*[ITEM] * 21)).status_code == 422

    async def test_a_workflow_of_others(self, studio: Studio) -> None:
        place = await studio.upload()
        answer = await studio.create({**ITEM, "storage_key": place["storage_key"], "workflow_id": 99})
        assert (answer.status_code, answer.json()["code"]) == (404, "workflow_not_found")


class TestList:
    @pytest.mark.slow
    async def test_newest_first_and_filtered(self, studio: Studio, other_studio: Studio, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        await studio.record("one", tts_provider="rime", tts_model="arcana", tts_voice_id="luna")
        await studio.record("two", tts_provider="rime", workflow_id=workflow_id)
        await other_studio.record("theirs")

        assert await studio.list() == (["two", "one"], 2)
        assert await studio.list(tts_provider="rime") == (["two", "one"], 2)
        assert await studio.list(tts_model="arcana") == (["one"], 1)
        assert await studio.list(tts_voice_id="sol") == ([], 0)
        assert await studio.list(workflow_id=workflow_id) == (["two"], 1)
        assert await studio.list(limit=1, offset=1) == (["one"], 2)

    async def test_bad_filter(self, studio: Studio) -> None:
        assert (await studio.request("GET", params={"workflow_id": "x"})).status_code == 422


class TestRename:
    async def test_workflows_follow(self, studio: Studio, editor: Editor) -> None:
        made = await studio.record("hello")
        definition = simple()
        definition["nodes"][0]["data"] |= {"greeting_type": "audio", "greeting_recording_id": "hello", "note": "hello"}
        workflow_id = await editor.create_published(definition)
        settings = {"voicemail_detection": {"action": "message", "message_recording_id": "hello"}}
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": settings})

        answer = await studio.request("PATCH", f"/{made['id']}", json={"recording_id": " welcome "})

        assert answer.json()["recording_id"] == "welcome"
        for version in (await editor.get(f"/workflow/{workflow_id}/versions")).json():
            data = version["workflow_json"]["nodes"][0]["data"]
            assert (data["greeting_recording_id"], data["note"]) == ("welcome", "hello")
        shown = await editor.fetch(workflow_id)
        assert shown["workflow_configurations"]["voicemail_detection"]["message_recording_id"] == "welcome"

    async def test_to_its_own_name_and_to_anothers(self, studio: Studio) -> None:
        made = await studio.record("hello")
        await studio.record("bye")
        same = await studio.request("PATCH", f"/{made['id']}", json={"recording_id": "hello"})
        assert same.status_code == 200
        taken = await studio.request("PATCH", f"/{made['id']}", json={"recording_id": "bye"})
        assert (taken.status_code, taken.json()["code"]) == (409, "recording_id_taken")

    async def test_others(self, studio: Studio, other_studio: Studio) -> None:
        made = await other_studio.record("hello")
        assert (await studio.request("PATCH", f"/{made['id']}", json={"recording_id": "mine"})).status_code == 404
        assert (await studio.request("PATCH", "/999", json={"recording_id": "mine"})).status_code == 404
        assert (await studio.request("PATCH", f"/{made['id']}", json={"recording_id": ""})).status_code == 422


async def waits_for_a_lock(root: Root) -> bool:
    async with root.db.transaction() as session:
        waiting = await session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted"))
    return bool(waiting)


class TestDelete:
    async def test_row_and_file_are_gone(self, studio: Studio, root: Root) -> None:
        made = await studio.record("hello")
        path = root.storage.path_for(made["storage_key"])
        assert path.exists()

        answer = await studio.request("DELETE", "/hello")
        assert answer.json() == {"success": True, "message": "Recording deleted successfully"}
        assert not path.exists()
        assert (await studio.request("DELETE", "/hello")).status_code == 404

    @pytest.mark.slow
    async def test_of_many_at_once_one_deletes_it(self, studio: Studio) -> None:
        await studio.record("hello")
        answers = await asyncio.gather(*(studio.request("DELETE", "/hello") for _ in range(5)))
        assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404, 404]

    @pytest.mark.slow
    async def test_what_is_not_committed_keeps_its_file(self, studio: Studio, root: Root, org: OrgFixture) -> None:
        made = await studio.record("hello")
        caller = Caller(org.id, user_id=None, key_id=org.key_id, role="admin", is_superuser=False)
        async with root.db.transaction() as session:
            assert await service.delete_recording(session, caller, "hello") == made["storage_key"]
            await session.rollback()
        assert (await studio.request("GET", "/hello/audio")).status_code == 200

    @pytest.mark.slow
    async def test_while_its_workflow_is_duplicated_the_copy_keeps_the_file(
        self, studio: Studio, editor: Editor, root: Root, org: OrgFixture
    ) -> None:
        workflow, other = [(await editor.create())["id"] for _ in range(2)]
        made = await studio.record("hello", workflow_id=workflow)
        async with root.db.transaction() as session:
            copies = await service.copy_for_workflow(session, org.id, workflow, other)
            deleting = asyncio.create_task(studio.request("DELETE", "/hello"))
            while not await waits_for_a_lock(root):
                await asyncio.sleep(0.01)
        assert (await deleting).status_code == 200
        assert root.storage.path_for(made["storage_key"]).exists()
        assert (await studio.request("GET", f"/{copies['hello']}/audio")).status_code == 200

    async def test_others(self, studio: Studio, other_studio: Studio) -> None:
        await other_studio.record("hello")
        assert (await studio.request("DELETE", "/hello")).status_code == 404
        assert (await studio.request("GET", "/hello/audio")).status_code == 404
        assert await other_studio.list() == (["hello"], 1)


class TestTranscribe:
    async def ask(self, studio: Studio, content: bytes, **form: str) -> Any:
        return await studio.request("POST", "/transcribe", files={"file": ("a.wav", content)}, data=form)

    @pytest.mark.slow
    async def test_by_the_organizations_vendor(self, studio: Studio, root: Root) -> None:
        models = FixedModels()
        use_fakes(root, models)
        models.hearing.spoken.append("Hello from Acme.")

        answer = await self.ask(studio, sound_file("MP3", seconds=0.3), language="en-GB")

        assert answer.status_code == 200, answer.text
        assert answer.json()["transcript"] == "Hello from Acme."
        assert answer.json()["language"] == "en-GB"
        assert answer.json()["duration_seconds"] == pytest.approx(0.3, abs=0.1)

    async def test_a_vendor_that_fails(self, studio: Studio, root: Root) -> None:
        models = FixedModels()
        models.stt.dies_at_s = 0.05
        use_fakes(root, models)
        answer = await self.ask(studio, sound_file(seconds=0.2))
        assert (answer.status_code, answer.json()["code"]) == (502, "transcription_failed")

    async def test_the_built_in_recogniser_takes_no_dictation(self, studio: Studio) -> None:
        answer = await self.ask(studio, sound_file(seconds=0.2))
        assert (answer.status_code, answer.json()["code"]) == (409, "stt_cannot_transcribe")

    @pytest.mark.parametrize(("content", "status"), [(b"no sound", 415), (b"", 422), (bytes(5 * 1024 * 1024 + 1), 413)])
    async def test_bad_files(self, studio: Studio, content: bytes, status: int) -> None:
        assert (await self.ask(studio, content)).status_code == status

    async def test_bad_language(self, studio: Studio) -> None:
        assert (await self.ask(studio, sound_file(seconds=0.2), language="e?")).status_code == 422


async def test_uploads_of_one_organization_leave_a_place_to_another(
    studio: Studio, other_studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of twenty, whose first sound takes long."""
    run, go, began = limited_programs._run_program, threading.Event(), asyncio.Event()
    slow = sound_file(seconds=SECONDS + 1)
    loop = asyncio.get_running_loop()

    def wait_and_run(program: str, arguments: tuple[Any, ...], *more: Any) -> ProcessResult:
        if arguments[0].path.read_bytes() == slow:
            loop.call_soon_threadsafe(began.set)
            go.wait(20)
            arguments[1].path.write_bytes(slow)
            return ProcessResult(0, str(SECONDS + 1))
        return run(program, arguments, *more)

    monkeypatch.setattr(limited_programs, "_run_program", wait_and_run)
    batch = [asyncio.create_task(studio.upload(slow)) for _ in range(20)]
    try:
        await began.wait()
        async with asyncio.timeout(15):
            await other_studio.upload()
    finally:
        go.set()
        await asyncio.gather(*batch)
