"""Call strips: what is measured of a recording, what is marked, and who may see it."""

import asyncio
import wave
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.errors import TooManyRequests
from offhook.kit.audio import MULAW_8K
from offhook.kit.json_values import JsonObject
from offhook.kit.processes.fair_places import FairPlaces
from offhook.root import Root
from offhook.runs import service
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.recording_files.call_recording import CallRecordings
from offhook.runs.services import RunServices
from offhook.runs.strips import call_strips
from offhook.runs.strips.loudness import BARS, Loudness, measure_loudness, reduce_bars
from offhook.runs.strips.timeline import MAX_MARKS, build_timeline
from offhook.runs.tables import Run
from offhook.voice.events import (
    BARGED_IN,
    CALLER_NOT_UNDERSTOOD,
    INTERRUPTION_JUDGED,
    NODE_ENTERED,
    TOOL_ANSWERED,
    TOOL_CALLED,
    TURN_TIMED,
    WATCHDOG_ACTED,
    VoiceEvent,
)
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun

LOUD = 16384
HEARD = [
    VoiceEvent(NODE_ENTERED, 0.0, {"node_id": "start", "name": "Greeting", "kind": "startCall"}),
    VoiceEvent(INTERRUPTION_JUDGED, 0.3, {"decision": "talked_on", "reason": "backchannel", "after_ms": 200}),
    VoiceEvent(INTERRUPTION_JUDGED, 0.45, {"decision": "resumed", "reason": "short_sound", "after_ms": 50}),
    VoiceEvent(INTERRUPTION_JUDGED, 0.5, {"decision": "yielded", "reason": "words", "after_ms": 100}),
    VoiceEvent(BARGED_IN, 0.5, {"heard": "Hello", "dropped_ms": 300}),
    VoiceEvent(CALLER_NOT_UNDERSTOOD, 0.9, {"start_s": 0.6, "end_s": 0.9}),
    VoiceEvent(NODE_ENTERED, 1.0, {"node_id": "bye", "name": "Goodbye", "kind": "endCall"}),
]


async def record_call(root: Root, run: Run) -> None:
    """A finished call of two seconds: the caller in the first one, a pause of 0.2, the agent in the second one."""
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    recorder = await CallRecordings().open_recorder(root.storage.path_for(key), MULAW_8K)
    loud = MULAW_8K.encode(np.tile(np.array([LOUD, -LOUD], np.int16), 80))
    for index in range(50):
        if index < 40:
            recorder.record_caller(index * 0.02, loud)
        recorder.record_agent(1.0 + index * 0.02, loud)
    await recorder.close()
    sink = EventWriter(root.db).create_sink(run.id)
    for event in HEARD:
        sink.emit(event)
    assert await sink._writer.flush()
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
        await service.apply_status(session, run.organization_id, run.id, "in_progress")
        await service.apply_status(session, run.organization_id, run.id, "completed")


@pytest.fixture
async def recorded(root: Root, run: Run) -> Run:
    await record_call(root, run)
    return run


def url(run: Run) -> str:
    return f"/workflow/{run.workflow_id}/runs/{run.id}/strip"


def measure(path: Path) -> Loudness | None:
    with path.open("rb") as file:
        return measure_loudness(file)


class TestLoudness:
    def write(self, path: Path, samples: np.ndarray, rate: int = 8000) -> Path:
        with wave.open(str(path), "wb") as file:
            file.setnchannels(samples.shape[1])
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(samples.astype("<i2").tobytes())
        return path

    def test_each_side_is_loud_where_it_speaks(self, tmp_path: Path) -> None:
        samples = np.zeros((16_000, 2), np.int16)
        samples[:8000, 0] = LOUD
        samples[8000:, 1] = -32768
        found = measure(self.write(tmp_path / "a.wav", samples))
        assert found is not None
        assert (found.seconds, len(found.caller), len(found.agent)) == (2.0, BARS, BARS)
        assert (found.caller[0], found.caller[-1]) == (181, 0)
        assert (found.agent[0], found.agent[-1]) == (0, 255)

    def test_a_single_click_is_seen_in_an_hour(self, tmp_path: Path) -> None:
        samples = np.zeros((3600 * 800, 2), np.int16)
        samples[1_234_567, 0] = 32767
        found = measure(self.write(tmp_path / "a.wav", samples, rate=800))
        assert found is not None
        assert sum(level > 0 for level in found.caller) == 1
        assert sum(level > 0 for level in reduce_bars(found.caller, 64)) == 1

    def test_no_sound_has_no_bars(self, tmp_path: Path) -> None:
        assert measure(self.write(tmp_path / "a.wav", np.zeros((0, 2), np.int16))) is None
        (tmp_path / "b.wav").write_bytes(b"RIFF")
        assert measure(tmp_path / "b.wav") is None

    def test_fewer_levels_than_bars_stay(self) -> None:
        assert reduce_bars(bytes([1, 2, 3]), 64) == [1, 2, 3]
        assert reduce_bars(bytes([1, 9, 3, 4]), 2) == [5, 4]
        assert reduce_bars(b"", 64) == []


class TestTimeline:
    def test_a_step_lasts_until_the_next_one(self) -> None:
        steps = build_timeline(
            [(NODE_ENTERED, 0, {"node_id": "a", "name": "Ask"}), (NODE_ENTERED, 4000, {"node_id": "b"})], 9.5
        ).steps
        assert [(step["name"], step["start_s"], step["end_s"]) for step in steps] == [("Ask", 0, 4.0), ("b", 4.0, 9.5)]

    def test_a_tool_call_ends_with_its_answer(self) -> None:
        marks = build_timeline(
            [
                (TOOL_CALLED, 1000, {"id": "1", "name": "find_slot", "arguments": {}}),
                (TOOL_ANSWERED, 2500, {"id": "1", "name": "find_slot", "ok": False}),
            ],
            3.0,
        ).marks
        assert marks == [{"kind": "tool_call", "label": "find_slot", "start_s": 1.0, "end_s": 2.5, "is_ok": False}]

    def test_only_a_slow_answer_is_marked(self) -> None:
        def answer(ms: int) -> list[str]:
            data: JsonObject = {"caller_stopped": 5.0, "first_frame": 5.0 + ms / 1000, "response_ms": ms}
            return [str(mark["kind"]) for mark in build_timeline([(TURN_TIMED, 5000 + ms, data)], 20).marks]

        assert (answer(700), answer(2100)) == ([], ["slow_answer"])

    def test_what_failed_says_why(self) -> None:
        marks = build_timeline([(WATCHDOG_ACTED, 900, {"step": "apology", "reason": "model_failed"})], 2).marks
        assert [(mark["kind"], mark["label"]) for mark in marks] == [("failure", "model_failed")]

    def test_a_run_away_call_has_bounded_marks(self) -> None:
        assert len(build_timeline([(BARGED_IN, ms, {}) for ms in range(2000)], 2).marks) == MAX_MARKS


class TestOfARun:
    async def test_anonymous_and_other_organization(
        self, client: AsyncClient, recorded: Run, other_org: OrgFixture
    ) -> None:
        assert (await client.get(url(recorded))).status_code == 401
        answer = await client.get(url(recorded), headers=other_org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")

    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, workflow_id: int) -> None:
        assert (await client.get(f"/workflow/{workflow_id}/runs/x/strip", headers=org.owner_headers)).status_code == 422
        assert (await client.get(f"/workflow/{workflow_id}/runs/7/strip", headers=org.owner_headers)).status_code == 404

    async def test_a_recorded_call(self, client: AsyncClient, recorded: Run, org: OrgFixture, root: Root) -> None:
        strip = (await client.get(url(recorded), headers=org.headers_for("viewer"))).json()
        assert strip["seconds"] == 2.0
        assert len(strip["caller"]) == len(strip["agent"]) == BARS
        assert strip["caller"][10] > 100 > strip["caller"][-10]
        assert strip["agent"][10] < 100 < strip["agent"][-10]
        assert [(step["name"], step["start_s"], step["end_s"]) for step in strip["steps"]] == [
            ("Greeting", 0, 1.0),
            ("Goodbye", 1.0, 2.0),
        ]
        assert [(mark["kind"], mark["start_s"]) for mark in strip["marks"]] == [
            ("talked_through", 0.1),
            ("barge_in", 0.5),
            ("not_understood", 0.6),
        ]
        assert strip["answer_times"] == {
            "p50_ms": 200,
            "p95_ms": 200,
            "answers": [{"caller_stopped_s": 0.8, "agent_audible_s": 1.0, "silence_ms": 200}],
        }
        root.storage.path_for(f"recordings/{recorded.organization_id}/{recorded.id}.wav").unlink()
        assert (await client.get(url(recorded), headers=org.owner_headers)).json() == strip, "it was measured once"

    async def test_a_call_in_progress_has_none_yet(self, client: AsyncClient, run: Run, org: OrgFixture) -> None:
        answer = await client.get(url(run), headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "run_in_progress")

    async def test_a_lost_recording_leaves_the_steps_and_is_looked_for_again(
        self, client: AsyncClient, recorded: Run, org: OrgFixture, root: Root
    ) -> None:
        path = root.storage.path_for(f"recordings/{recorded.organization_id}/{recorded.id}.wav")
        away = path.rename(path.with_suffix(".moved"))
        without = (await client.get(url(recorded), headers=org.owner_headers)).json()
        assert (without["caller"], len(without["steps"]), without["answer_times"]) == ([], 2, None)
        away.rename(path)
        assert len((await client.get(url(recorded), headers=org.owner_headers)).json()["caller"]) == BARS


class TestOfAList:
    path = "/organizations/usage/strips"

    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get(self.path, params={"run_ids": 1})).status_code == 401

    @pytest.mark.parametrize("ids", [[], [0], ["x"], [2**63], list(range(1, 202))])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, ids: list[int | str]) -> None:
        answer = await client.get(self.path, params={"run_ids": ids}, headers=org.owner_headers)
        assert answer.status_code == 422

    async def test_only_finished_runs_of_the_own_organization(
        self, client: AsyncClient, recorded: Run, make_run: MakeRun, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        ids = {"run_ids": [recorded.id, (await make_run()).id]}
        own = (await client.get(self.path, params=ids, headers=org.owner_headers)).json()
        assert [strip["workflow_run_id"] for strip in own["strips"]] == [recorded.id]
        assert (len(own["strips"][0]["caller"]), own["pending"]) == (48, [])
        foreign = (await client.get(self.path, params=ids, headers=other_org.owner_headers)).json()
        assert foreign == {"strips": [], "pending": []}

    async def test_what_takes_long_is_asked_for_again(self, root: Root, recorded: Run) -> None:
        strips = root.get(RunServices).strips
        measured, pending = await strips.load_strips(recorded.organization_id, [recorded.id], budget_s=-1)
        assert (measured, pending) == ([], [recorded.id])

    async def test_what_finds_no_room_in_the_line_is_asked_for_again(self, root: Root, recorded: Run) -> None:
        strips = root.get(RunServices).strips
        strips._places = FairPlaces(1, max_waiting=0)
        async with strips._places.take(recorded.organization_id):
            found = await strips.load_strips(recorded.organization_id, [recorded.id])
            assert found == ([], [recorded.id])
            with pytest.raises(TooManyRequests):
                await strips.load_strip(recorded.organization_id, recorded.workflow_id, recorded.id)

    async def test_the_strip_of_another_organization_is_next(
        self, root: Root, recorded: Run, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another one has the place and two waiting."""
        strips = root.get(RunServices).strips
        measured: list[str] = []

        async def take_place(name: str, organization_id: int) -> None:
            async with strips._places.take(organization_id):
                measured.append(name)

        def measure_ours(_: BinaryIO) -> tuple[None, None]:
            measured.append("ours")
            return None, None

        async with strips._places.take(-1):
            others = [asyncio.create_task(take_place("theirs", -1)) for _ in range(2)]
            await asyncio.sleep(0)
            monkeypatch.setattr(call_strips, "_measure_sound", measure_ours)
            ours = asyncio.create_task(strips.load_strips(recorded.organization_id, [recorded.id]))
            async with asyncio.timeout(10):
                while recorded.organization_id not in strips._places._waiting:
                    await asyncio.sleep(0.001)
        await asyncio.gather(ours, *others)
        assert measured == ["ours", "theirs", "theirs"]
