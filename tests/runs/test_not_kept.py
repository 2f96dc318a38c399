"""Calls of which words are redacted, or not kept at all: real calls, and what is stored of them."""

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text

from offhook.kit.audio import PCM16_16K
from offhook.kit.files.sealed_file import PlainFile
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.recording_files.silences import SilentPart, silence_parts
from offhook.runs.recording_files.wav import HEADER_BYTES, wav_header
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import AGENT_SAID, CALL_ENDED, CALLER_SAID, VARIABLES_EXTRACTED, VoiceEvent
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_files, find_in_tables

PATH = "/organizations/redaction"


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def carry(root: Root, live: LiveCallRegistry, run: Run) -> tuple[Run, list[RunEvent]]:
    """A call in which the number is said; the run and its events."""
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    said: dict[str, Any] = {"text": f"It is {NUMBER}, do not call me again.", "start_s": 0.1, "end_s": 0.2}
    call._sink.emit(VoiceEvent(CALLER_SAID, 0.2, said))
    call._sink.emit(
        VoiceEvent(AGENT_SAID, 0.4, {"text": "four one five two zero zero zero zero zero seven", "node_id": "a"})
    )
    call._sink.emit(VoiceEvent(VARIABLES_EXTRACTED, 0.5, {"node_id": "a", "values": {"phone": NUMBER, "city": "Oslo"}}))
    call.session.end_call()
    await call.run()
    async with root.db.transaction() as session:
        stored = await session.get(Run, run.id)
        assert stored is not None
        return stored, list(
            await session.scalars(select(RunEvent).where(RunEvent.run_id == run.id).order_by(RunEvent.seq))
        )


def texts(events: list[RunEvent]) -> list[Any]:
    return [event.data.get("text") for event in events if event.type == CALLER_SAID]


async def test_a_call_is_redacted(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture
) -> None:
    assert (await client.put(PATH, json={"kinds": ["phone"]}, headers=org.owner_headers)).status_code == 200
    stored, events = await carry(root, live, run)
    assert texts(events) == ["It is [phone], do not call me again."]
    assert (stored.gathered_context["phone"], stored.gathered_context["city"]) == ("[phone]", "Oslo")
    assert stored.recording_key is not None
    assert set(await find_in_tables(root)) <= {"do_not_call_entries.phone_number"}
    assert find_in_files(root) == []


async def test_a_call_is_not_kept(root: Root, live: LiveCallRegistry, run: Run) -> None:
    async with root.db.transaction() as session:
        await session.execute(
            text("UPDATE workflow_versions SET configurations = configurations || '{\"do_not_keep\": true}'::jsonb")
        )
    stored, events = await carry(root, live, run)
    assert texts(events) == [None]
    assert events[-1].type == CALL_ENDED or CALL_ENDED in {event.type for event in events}
    assert (stored.recording_key, set(stored.gathered_context)) == (None, {"nodes_visited"})
    assert stored.ended_at is not None
    assert set(await find_in_tables(root)) <= {"do_not_call_entries.phone_number"}
    assert not list((root.settings.data_dir / "files").rglob("*.wav"))


def test_silence_is_on_one_side_only(tmp_path: Any) -> None:
    path = tmp_path / "a.wav"
    sound = np.full((8000 * 3, 2), 7, np.int16)
    path.write_bytes(wav_header(8000, 2, sound.nbytes) + sound.tobytes())
    file = PlainFile(path)
    silence_parts(file, [SilentPart(0, 1.0, 1.5), SilentPart(1, 9.0, 10.0)])
    file.close()
    after = np.frombuffer(path.read_bytes()[HEADER_BYTES:], np.int16).reshape(-1, 2)
    assert after[int(0.7 * 8000) : int(1.8 * 8000), 0].sum() == 0
    assert (after[:, 1] == 7).all()
    assert (after[: int(0.69 * 8000), 0] == 7).all()
    assert (after[int(1.81 * 8000) :, 0] == 7).all()


async def test_who_may_and_bad_input(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    body = {"kinds": ["phone", "card", "card"]}
    assert (await client.get(PATH)).status_code == 401
    assert (await client.put(PATH, json=body)).status_code == 401
    assert (await client.put(PATH, json=body, headers=org.headers_for("member"))).status_code == 403
    for bad in ({"kinds": ["names"]}, {"kinds": None}, {}, {"kinds": "card"}):
        assert (await client.put(PATH, json=bad, headers=org.owner_headers)).status_code == 422
    saved = await client.put(PATH, json=body, headers=org.owner_headers)
    assert saved.json() == {"kinds": ["card", "phone"]}
    assert (await client.get(PATH, headers=other_org.owner_headers)).json() == {"kinds": []}
