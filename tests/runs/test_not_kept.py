"""Calls of which words are redacted, or not kept at all: real calls, and what is stored of them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text

from offhook.kit.audio import PCM16_16K
from offhook.kit.files.sealed_file import PlainFile
from offhook.kit.redaction.redactor import RedactionRules
from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.recording_files.silences import SilentPart, silence_parts
from offhook.runs.recording_files.wav import HEADER_BYTES, wav_header
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import (
    AGENT_SAID,
    CALL_ENDED,
    CALLER_SAID,
    RECORDING_PAUSED,
    TOOL_CALLED,
    VARIABLES_EXTRACTED,
    VoiceEvent,
)
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


async def test_names_and_a_date_of_birth_are_redacted(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture
) -> None:
    body = {"kinds": ["name", "birth_date"], "names": ["Zoë Kravitz"]}
    assert (await client.put(PATH, json=body, headers=org.owner_headers)).status_code == 200
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    spoken: dict[str, Any] = {
        "text": "My name is Quillon Brask, born on the fourth of July 1985. Is zoe kravitz in?",
        "start_s": 0.1,
        "end_s": 0.2,
    }
    asked: dict[str, Any] = {"name": "Quillon Brask", "birthDate": "1985-07-04", "day": "2026-07-04"}
    for event in (
        VoiceEvent(CALLER_SAID, 0.2, spoken),
        VoiceEvent(
            AGENT_SAID, 0.4, {"text": "Quillon, July 4th 1985, Zoë Kravitz is in on July 4th 2026.", "node_id": "a"}
        ),
        VoiceEvent(TOOL_CALLED, 0.5, {"id": "1", "name": "find_birthday", "arguments": asked}),
        VoiceEvent(
            VARIABLES_EXTRACTED, 0.6, {"node_id": "a", "values": {"caller_name": "Quillon Brask", "dob": 19850704}}
        ),
    ):
        call._sink.emit(event)
    call.session.end_call()
    await call.run()
    async with root.db.transaction() as session:
        stored = await session.get(Run, run.id)
        events = list(await session.scalars(select(RunEvent).where(RunEvent.run_id == run.id).order_by(RunEvent.seq)))
    assert stored is not None
    said = {event.type: event.data for event in events}
    assert said[CALLER_SAID]["text"] == "My name is [name], born on the [birth_date]. Is [name] in?"
    assert said[AGENT_SAID]["text"] == "[name], [birth_date], [name] is in on July 4th 2026."
    assert said[TOOL_CALLED]["name"] == "find_birthday"
    assert said[TOOL_CALLED]["arguments"] == {"name": "[name]", "birthDate": "[birth_date]", "day": "2026-07-04"}
    assert (stored.gathered_context["caller_name"], stored.gathered_context["dob"]) == ("[name]", "[birth_date]")
    # the names of the list are a setting
    assert set(await find_in_tables(root, ["quillon", "brask", "1985", "kravitz"])) == {
        "privacy_settings.redacted_names"
    }
    assert find_in_files(root, ["quillon", "brask", "1985"]) == []


def test_another_process_goes_on_with_what_is_redacted() -> None:
    rules = RedactionRules(["name", "birth_date"])
    words = WordFilter(rules)
    for said in ("My name is Quillon.", "I was born on 3 March 72."):
        words.filter_event(VoiceEvent(CALLER_SAID, 0.2, {"text": said, "start_s": 0.1, "end_s": 0.2}))
    state = json.loads(json.dumps(words.snapshot()))
    for after in (words, WordFilter(rules)):
        after.restore(state)
        event = after.filter_event(VoiceEvent(AGENT_SAID, 1.0, {"text": "Quillon, 3/3/1972?"}))
        assert event.data["text"] == "[name], [birth_date]?"
    # from a process before this was kept
    WordFilter(rules).restore({"was_paused": True, "silences": []})
    words.filter_event(VoiceEvent(RECORDING_PAUSED, 2.0))
    event = words.filter_event(VoiceEvent(AGENT_SAID, 3.0, {"text": "Quillon, 4242 4242 4242 4242"}))
    assert event.data["text"] == "[name], [card]"


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
    bad_names: list[Any] = ["Ann", ["A"], ["12"], ["  "], ["A" * 101], ["An\x00n"], [5], [None], ["Ann"] * 1001]
    bad_bodies: list[Any] = [{"kinds": ["names"]}, {"kinds": None}, {}, {"kinds": "card"}]
    for bad in (*bad_bodies, *({"kinds": ["name"], "names": names} for names in bad_names)):
        assert (await client.put(PATH, json=bad, headers=org.owner_headers)).status_code == 422
    saved = await client.put(PATH, json=body, headers=org.owner_headers)
    assert saved.json() == {"kinds": ["card", "phone"], "names": []}
    assert (await client.get(PATH, headers=other_org.owner_headers)).json() == {"kinds": [], "names": []}


async def test_a_list_of_names(client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture) -> None:
    body = {"kinds": ["name"], "names": [" Ann Lee ", "ann lee", "Zoë"]}
    saved = await client.put(PATH, json=body, headers=org.owner_headers)
    assert saved.json() == {"kinds": ["name"], "names": ["Ann Lee", "Zoë"]}
    # without the field the list stays
    saved = await client.put(PATH, json={"kinds": ["name", "card"]}, headers=org.owner_headers)
    assert saved.json() == {"kinds": ["card", "name"], "names": ["Ann Lee", "Zoë"]}
    assert (await client.get(PATH, headers=other_org.owner_headers)).json() == {"kinds": [], "names": []}
    async with root.db.transaction() as session:
        entries = await session.scalars(select(AuditEntry).where(AuditEntry.action == "redaction.changed"))
        kept = [entry.data for entry in entries]
    assert [(entry["kinds"], entry["names"]) for entry in kept] == [(["name"], 2), (["card", "name"], 2)]
    saved = await client.put(PATH, json={"kinds": [], "names": []}, headers=org.owner_headers)
    assert saved.json() == {"kinds": [], "names": []}
