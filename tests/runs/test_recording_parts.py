"""Recordings of calls that another machine went on with: whole in the end, wherever they are asked for."""

import asyncio
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.kit.files.sealed_file import PlainFile
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.privacy_settings import repository as privacy_repository
from offhook.root import Root
from offhook.runs.recording_files import recording_spool
from offhook.runs.recording_files.call_recording import CallRecordings
from offhook.runs.recording_files.recording_parts import PartsDiffer, add_part
from offhook.runs.recording_files.recording_spool import ABANDONED_AFTER_S, RecordingSpool
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.recording_files.wav import HEADER_BYTES, wav_header
from offhook.runs.tables import Run
from offhook.settings import Settings
from tests.bucket import Bucket, bucket
from tests.fixtures_orgs import OrgFixture

RATE = 16_000
FRAME = np.full(320, 1000, np.int16).tobytes()


@pytest.fixture(scope="module")
def kept() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, kept: Bucket, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in kept.variables.items():
        monkeypatch.setenv(name, value)
    return settings.model_copy(update={"storage_url": kept.address})


class Machine:
    """A machine of the installation, with a disk of its own."""

    def __init__(self, root: Root, folder: Path, address: str, *, encrypts: bool = False) -> None:
        self.storage = FileStore(folder, address)
        self.vault = RecordingVault(root.db, self.storage, DataKeys(root.get(Keyring)), encrypts=encrypts)
        self.spool = RecordingSpool(root.db, self.vault)

    async def record(self, run: Run, start_s: float, end_s: float) -> Path:
        """Records this part of a call in which both sides speak."""
        assert run.recording_key is not None
        path = self.storage.path_for(run.recording_key)
        key = await self.vault.find_new_key(run.organization_id)
        recorder = await CallRecordings().open_recorder(path, PCM16_16K, key)
        for number in range(round(start_s * 50), round(end_s * 50)):
            recorder.record_caller(number / 50, FRAME)
            recorder.record_agent(number / 50, FRAME)
        await recorder.close()
        return path

    async def end(self, run: Run) -> None:
        """Stores the recording as the machine that ended the call does."""
        assert run.recording_key is not None
        self.spool.keep_soon(run.recording_key)
        async with asyncio.timeout(20):
            while self.storage.path_for(run.recording_key).exists():
                await asyncio.sleep(0.02)

    async def spoken(self, run: Run) -> list[tuple[float, float]]:
        """The stretches of sound in the recording as this machine gives it, in seconds."""
        assert run.recording_key is not None
        async with self.vault.open_file(run.recording_key) as file:
            data = file.read()
        assert len(data) == HEADER_BYTES + int.from_bytes(data[40:44], "little"), "its header says how long it is"
        sound = np.frombuffer(data[HEADER_BYTES:], np.int16).reshape(-1, 2)
        assert (sound[:, 0] == sound[:, 1]).all()
        edges = np.flatnonzero(np.diff(np.concatenate(([0], sound[:, 0] != 0, [0]))))
        return [(round(a / RATE, 1), round(b / RATE, 1)) for a, b in edges.reshape(-1, 2)]


@pytest.fixture(params=[False, True], ids=["plain", "encrypted"])
def machines(root: Root, kept: Bucket, tmp_path: Path, request: pytest.FixtureRequest) -> list[Machine]:
    folders = [tmp_path / "first", tmp_path / "second", tmp_path / "third"]
    address = f"{kept.address}/{tmp_path.name}"  # runs of other tests have the same ids
    return [Machine(root, folder, address, encrypts=request.param) for folder in folders]


@pytest.fixture
async def recorded_run(root: Root, run: Run) -> Run:
    run.recording_key = f"recordings/{run.organization_id}/{run.id}.wav"
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=run.recording_key))
    return run


async def end_run(root: Root, run: Run, *, ago_s: float) -> None:
    async with root.db.transaction() as session:
        ended_at = root.clock.now() - timedelta(seconds=ago_s)
        await session.execute(update(Run).where(Run.id == run.id).values(ended_at=ended_at, status="completed"))


async def test_the_machine_that_lost_a_call_adds_its_part(
    root: Root, machines: list[Machine], recorded_run: Run
) -> None:
    lost, other, third = machines
    left = await lost.record(recorded_run, 0, 2)
    assert await lost.spool.sweep() == 0, "the call goes on elsewhere"
    await other.record(recorded_run, 3.5, 6)
    await other.end(recorded_run)
    await end_run(root, recorded_run, ago_s=60)

    assert await lost.spoken(recorded_run) == [(3.5, 6.0)], "not the part that lies here"
    assert await lost.spool.sweep() == 1
    assert not left.exists()
    for machine in (lost, other, third):
        assert await machine.spoken(recorded_run) == [(0.0, 2.0), (3.5, 6.0)]
    assert await lost.spool.sweep() == 0


async def test_a_part_waits_for_the_recording_of_the_machine_that_ended_the_call(
    root: Root, machines: list[Machine], recorded_run: Run
) -> None:
    lost, other, _ = machines
    await end_run(root, recorded_run, ago_s=60)
    left = await lost.record(recorded_run, 0, 2)
    assert await lost.spool.sweep() == 0
    assert left.exists()
    await other.record(recorded_run, 3, 4)
    await other.end(recorded_run)
    assert await lost.spool.sweep() == 1
    assert await other.spoken(recorded_run) == [(0.0, 2.0), (3.0, 4.0)]


async def test_a_part_of_long_ago_does_not_replace_what_another_machine_stored(
    root: Root, machines: list[Machine], recorded_run: Run
) -> None:
    lost, other, _ = machines
    left = await lost.record(recorded_run, 0, 2)
    await other.record(recorded_run, 3, 4)
    await other.end(recorded_run)
    await end_run(root, recorded_run, ago_s=5000)
    os.utime(left, (time.time() - ABANDONED_AFTER_S - 1,) * 2)
    assert await lost.spool.sweep() == 1
    assert await other.spoken(recorded_run) == [(0.0, 2.0), (3.0, 4.0)]


async def test_three_machines_have_a_part_each(root: Root, machines: list[Machine], recorded_run: Run) -> None:
    first, second, third = machines
    await first.record(recorded_run, 0, 1)
    await second.record(recorded_run, 2, 3)
    await third.record(recorded_run, 4, 5)
    await third.end(recorded_run)
    await end_run(root, recorded_run, ago_s=60)
    assert await second.spool.sweep() == 1
    assert await first.spool.sweep() == 1
    assert await third.spoken(recorded_run) == [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]


@pytest.mark.parametrize("machines", [False], indirect=True)
async def test_where_words_are_silenced_a_part_is_not_added(
    root: Root, machines: list[Machine], recorded_run: Run, org: OrgFixture
) -> None:
    """Only the machine that ended the call knew what to silence."""
    lost, other, _ = machines
    async with root.db.transaction() as session:
        values = {"redacted_kinds": ["card"], "redacted_names": []}
        await privacy_repository.store_settings(session, recorded_run.organization_id, values, root.clock.now())
    left = await lost.record(recorded_run, 0, 2)
    await other.record(recorded_run, 3, 4)
    await other.end(recorded_run)
    await end_run(root, recorded_run, ago_s=60)
    assert await lost.spool.sweep() == 1
    assert not left.exists()
    assert await lost.spoken(recorded_run) == [(3.0, 4.0)]


@pytest.mark.parametrize("machines", [False], indirect=True)
async def test_a_part_of_a_deleted_run_is_deleted(
    root: Root, machines: list[Machine], recorded_run: Run, client: AsyncClient, org: OrgFixture
) -> None:
    lost, other, _ = machines
    left = await lost.record(recorded_run, 0, 2)
    await other.record(recorded_run, 3, 4)
    await other.end(recorded_run)
    await end_run(root, recorded_run, ago_s=60)
    answer = await client.delete(
        f"/workflow/{recorded_run.workflow_id}/runs/{recorded_run.id}", headers=org.owner_headers
    )
    assert answer.status_code < 300, answer.text
    os.utime(left, (time.time() - ABANDONED_AFTER_S - 1,) * 2)
    await lost.spool.sweep()
    assert not left.exists()


async def test_parts_are_looked_for_again_after_the_database_was_away(
    root: Root, machines: list[Machine], recorded_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, other, _ = machines
    left = await lost.record(recorded_run, 0, 2)
    left.with_name("notes.wav").write_bytes(b"not ours")
    await other.record(recorded_run, 3, 4)
    await other.end(recorded_run)
    await end_run(root, recorded_run, ago_s=60)
    monkeypatch.setattr(recording_spool, "SWEEP_INTERVAL_S", 0.05)
    away = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    spool = RecordingSpool(away, lost.vault)
    try:
        await spool.start()
        await asyncio.sleep(0.3)
        assert left.exists()
        monkeypatch.setattr(spool, "_db", root.db)
        async with asyncio.timeout(20):
            while left.exists():
                await asyncio.sleep(0.02)
        assert left.with_name("notes.wav").exists()
    finally:
        await spool.close()
        await away.dispose()


def wav(path: Path, samples: list[int], *, rate: int = RATE) -> PlainFile:
    data = np.array(samples, np.int16).tobytes()
    path.write_bytes(wav_header(rate, 2, len(data)) + data)
    return PlainFile(path)


def samples(file: PlainFile) -> list[int]:
    return list(map(int, np.frombuffer(file.read_at(HEADER_BYTES, file.size), np.int16)))


def test_a_part_fills_what_is_silent_and_nothing_else(tmp_path: Path) -> None:
    recording, part = wav(tmp_path / "a.wav", [0, 0, 0, 3, 4, 4]), wav(tmp_path / "b.wav", [1, 0, 2, 2, 9, 9, 5, 6])
    assert add_part(recording, part)
    assert samples(recording) == [1, 0, 2, 3, 4, 4, 5, 6]
    assert int.from_bytes(recording.read_at(40, 4), "little") == 16
    assert not add_part(recording, part), "once more changes nothing"


def test_a_part_of_another_rate_does_not_fit(tmp_path: Path) -> None:
    recording, part = wav(tmp_path / "a.wav", [0, 0]), wav(tmp_path / "b.wav", [1, 1], rate=8000)
    with pytest.raises(PartsDiffer):
        add_part(recording, part)
