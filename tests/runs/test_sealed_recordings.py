"""Encrypted recordings: written during a call, read in parts, measured, exported, rotated, and gone with their key."""

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import Keyring
from offhook.kit.files.sealed_file import read_key_number
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.recording_files.recording_spool import ABANDONED_AFTER_S
from offhook.runs.recording_files.sealer import RecordingSealer
from offhook.runs.recording_files.silences import SilentPart
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.recording_files.wav import HEADER_BYTES
from offhook.runs.tables import Run
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture

SOUND = (np.sin(np.arange(16_000 * 3) / 9) * 9000).astype(np.int16).tobytes()


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def carry(root: Root, live: LiveCallRegistry, run: Run, *, encrypts: bool = True) -> tuple[Run, Path]:
    """A call in which the caller hums for three seconds; the run and the file of its recording."""
    root.get(RunServices).vault.encrypts = encrypts
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    call._recording.record_caller(0.0, SOUND)
    call._sink.words.silences.append(SilentPart(0, 2.0, 2.2))
    call.session.end_call()
    await call.run()
    async with root.db.transaction() as session:
        stored = await session.get(Run, run.id)
    assert stored is not None
    assert stored.recording_key is not None
    return stored, root.storage.path_for(stored.recording_key)


async def plain(root: Root, run: Run) -> bytes:
    async with root.get(RunServices).vault.open_file(str(run.recording_key)) as file:
        return file.read()


def sealer(root: Root) -> RecordingSealer:
    keys, services = DataKeys(root.get(Keyring)), root.get(RunServices)
    return RecordingSealer(root.db, services.vault, keys, root.clock, services.live.journals.delete_older_keys)


def grow_old(path: Path) -> None:
    long_ago = time.time() - ABANDONED_AFTER_S - 60
    os.utime(path, (long_ago, long_ago))


async def test_a_call_leaves_an_encrypted_file_that_is_read_like_a_plain_one(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture
) -> None:
    stored, path = await carry(root, live, run)
    assert read_key_number(path.read_bytes()) == 1
    assert SOUND[2000:2020] not in path.read_bytes()
    whole = await plain(root, stored)
    left = np.frombuffer(whole[HEADER_BYTES:], np.int16).reshape(-1, 2)[:, 0]
    heard = np.frombuffer(SOUND, np.int16)
    assert (left[:16_000] == heard[:16_000]).all()
    assert not left[int(1.8 * 16_000) : int(2.4 * 16_000)].any()
    address = f"/workflow/{run.workflow_id}/runs/{run.id}/recording"
    answer = await client.get(address, headers=org.owner_headers)
    assert (answer.status_code, answer.content) == (200, whole)
    part = await client.get(address, headers={**org.owner_headers, "Range": "bytes=70000-140000"})
    assert (part.status_code, part.content) == (206, whole[70_000:140_001])
    assert part.headers["content-range"] == f"bytes 70000-140000/{len(whole)}"
    strip = await client.get(f"/workflow/{run.workflow_id}/runs/{run.id}/strip", headers=org.owner_headers)
    assert strip.status_code == 200, strip.text
    assert strip.json()["seconds"] == pytest.approx(3.0, abs=0.1)


async def test_a_growing_recording_is_read(root: Root, live: LiveCallRegistry, run: Run) -> None:
    root.get(RunServices).vault.encrypts = True
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    call._recording.record_caller(0.0, SOUND)
    call._recording.record_agent(0.0, SOUND)
    recorder = call._recording.recorder
    recorder.flush()  # type: ignore[union-attr]  # the recorder of a real call
    vault = root.get(RunServices).vault
    found = await vault.find_file(f"recordings/{run.organization_id}/{run.id}.wav")
    read = b"".join([part async for part in vault.read_range(found, 0, found.size)])
    assert np.frombuffer(read[HEADER_BYTES:], np.int16)[0::2].tobytes() == SOUND
    call.session.end_call()
    await call.run()


async def test_the_file_of_a_dead_process_is_repaired(root: Root, live: LiveCallRegistry, run: Run) -> None:
    stored, path = await carry(root, live, run)
    whole = await plain(root, stored)
    with path.open("r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"01234")
    assert await root.get(RunServices).vault.repair(str(stored.recording_key))
    repaired = await plain(root, stored)
    assert len(repaired) < len(whole)
    assert int.from_bytes(repaired[40:44], "little") == len(repaired) - HEADER_BYTES


async def test_existing_recordings_are_encrypted_and_keys_rotated(root: Root, live: LiveCallRegistry, run: Run) -> None:
    stored, path = await carry(root, live, run, encrypts=False)
    before = path.read_bytes()
    assert before == await plain(root, stored)
    assert await sealer(root).seal_recordings(run.organization_id) == (0, 1)
    grow_old(path)
    assert await sealer(root).seal_recordings(run.organization_id) == (1, 0)
    assert read_key_number(path.read_bytes()) == 1
    assert await plain(root, stored) == before
    async with root.db.transaction() as session:
        assert await DataKeys(root.get(Keyring)).rotate(session, run.organization_id) == 2
    assert await plain(root, stored) == before
    grow_old(path)
    assert await sealer(root).seal_recordings(run.organization_id) == (1, 0)
    assert (read_key_number(path.read_bytes()), await plain(root, stored)) == (2, before)
    async with root.db.transaction() as session:
        assert list(await session.scalars(select(StoredDataKey.number))) == [2]
    assert await sealer(root).seal_recordings(run.organization_id) == (0, 0)


async def test_a_new_secret_opens_and_seals_the_keys(root: Root, run: Run, tmp_path: Path) -> None:
    old, both = Keyring("a" * 40, tmp_path / "x"), Keyring("b" * 40 + "," + "a" * 40, tmp_path / "x")
    async with root.db.transaction() as session:
        first = await DataKeys(old).get_newest(session, run.organization_id)
        await DataKeys(both).rotate(session, run.organization_id)
        alone = DataKeys(Keyring("b" * 40, tmp_path / "x"))
        assert (await alone.find_key(session, run.organization_id, 1)).secret == first.secret
        assert (await alone.get_newest(session, run.organization_id)).number == 2


async def test_without_its_key_a_recording_is_gone(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture
) -> None:
    _, path = await carry(root, live, run)
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM data_keys"))
    answer = await client.get(f"/workflow/{run.workflow_id}/runs/{run.id}/recording", headers=org.owner_headers)
    assert answer.status_code == 404
    assert path.exists()


async def test_a_key_opens_no_files_of_another_organization(
    root: Root, live: LiveCallRegistry, run: Run, other_org: OrgFixture
) -> None:
    _, path = await carry(root, live, run)
    async with root.db.transaction() as session:
        await DataKeys(root.get(Keyring)).get_newest(session, other_org.id)
        stolen = f"recordings/{other_org.id}/{run.id}.wav"
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=stolen))
    root.storage.path_for(stolen).write_bytes(path.read_bytes())
    vault: RecordingVault = root.get(RunServices).vault
    found = await vault.find_file(stolen)
    with pytest.raises(Exception, match="cannot be decrypted"):
        _ = [part async for part in vault.read_range(found, 0, found.size)]
