"""The endpoints of runs: who may ask, what is refused, what is answered."""

import itertools
import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.kit.audio import MULAW_8K
from offhook.kit.filters.criteria import parse_sort
from offhook.root import Root
from offhook.runs import service
from offhook.runs.lists.listing import SORTS
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.recording_files.call_recording import CallRecordings
from offhook.runs.tables import Run
from offhook.voice.events import AGENT_SAID, CALLER_SAID, NODE_ENTERED, TURN_TIMED, VoiceEvent
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow

RECORD_FIELDS = {
    "id", "workflow_run_id", "workflow_id", "workflow_name", "name", "mode", "direction", "status", "outcome",
    "phone_number", "caller_number", "called_number", "call_id", "campaign_id", "version_number", "created_at",
    "started_at", "answered_at", "ended_at", "duration", "cost_cents", "end_reason", "result", "is_success", "initial_context",
    "gathered_context", "transcript_url", "recording_url", "usage", "latency", "tags",
}  # fmt: skip


@pytest.fixture
async def talked(root: Root, run: Run) -> Run:
    """A run that was answered, with a conversation and a recording of one second."""
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "in_progress")
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
    sink = EventWriter(root.db).create_sink(run.id)
    sink.emit(VoiceEvent(NODE_ENTERED, 0.0, {"node_id": "start", "name": "Greeting", "kind": "startCall"}))
    sink.emit(
        VoiceEvent(
            AGENT_SAID, 1.4, {"text": "Hello!", "start_s": 0.4, "end_s": 1.4, "interrupted": False, "node_id": "start"}
        )
    )
    sink.emit(VoiceEvent(CALLER_SAID, 3.0, {"text": "Hi, is that Anna?", "start_s": 2.0, "end_s": 3.0}))
    sink.emit(VoiceEvent(TURN_TIMED, 3.6, {"response_ms": 612, "unheard": True}))
    assert await sink._writer.flush()
    recorder = await CallRecordings().open_recorder(root.storage.path_for(key), MULAW_8K)
    for i in range(50):
        recorder.record_caller(i * 0.02, MULAW_8K.silence_frame)
    await recorder.close()
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


def url(run: Run, rest: str = "") -> str:
    return f"/workflow/{run.workflow_id}/runs/{run.id}{rest}"


class TestCreate:
    async def test_anonymous(self, client: AsyncClient, workflow_id: int) -> None:
        assert (await client.post(f"/workflow/{workflow_id}/runs", json={"mode": "browser"})).status_code == 401

    async def test_other_organization(self, client: AsyncClient, workflow_id: int, other_org: OrgFixture) -> None:
        answer = await client.post(
            f"/workflow/{workflow_id}/runs", json={"mode": "browser"}, headers=other_org.owner_headers
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "workflow_not_found")

    async def test_a_viewer_may_not(self, client: AsyncClient, workflow_id: int, org: OrgFixture) -> None:
        answer = await client.post(
            f"/workflow/{workflow_id}/runs", json={"mode": "browser"}, headers=org.headers_for("viewer")
        )
        assert answer.status_code == 403

    @pytest.mark.parametrize(
        "body",
        [{}, {"mode": "carrier pigeon"}, {"mode": 1}, {"mode": "browser", "name": ""}, {"mode": "browser", "initial_context": []},
         {"mode": "browser", "initial_context": {"a": "\0"}}, {"mode": "browser", "initial_context": {"a": "x" * 65536}}, []],
    )  # fmt: skip
    async def test_bad_input(self, client: AsyncClient, workflow_id: int, org: OrgFixture, body: Any) -> None:
        answer = await client.post(f"/workflow/{workflow_id}/runs", json=body, headers=org.owner_headers)
        assert answer.status_code == 422

    async def test_a_browser_run(self, client: AsyncClient, workflow_id: int, org: OrgFixture) -> None:
        answer = await client.post(
            f"/workflow/{workflow_id}/runs",
            json={"mode": "browser", "initial_context": {"first_name": "Ada"}},
            headers=org.owner_headers,
        )
        run = answer.json()
        assert answer.status_code == 200
        assert run["status"] == "initiated"
        assert run["id"] == run["workflow_run_id"]
        assert run["name"].startswith("WR-TEST-")
        assert run["initial_context"] == {"first_name": "Ada"}
        assert run["media_url"] == f"ws://testserver/api/v1/browser/media/{run['id']}?token={run['media_token']}"

    async def test_a_carriers_run_and_a_text_chat(self, client: AsyncClient, workflow_id: int, org: OrgFixture) -> None:
        path = f"/workflow/{workflow_id}/runs"
        carrier = (
            await client.post(path, json={"mode": "twilio", "name": "Load test"}, headers=org.key_headers)
        ).json()
        address = f"ws://testserver/api/v1/telephony/media/twilio/{carrier['id']}/{carrier['media_token']}"
        assert (carrier["media_url"], carrier["name"]) == (address, "Load test")
        chat = (await client.post(path, json={"mode": "textchat"}, headers=org.key_headers)).json()
        assert (chat["media_url"], chat["media_token"]) == (None, None)


class TestList:
    async def test_anonymous_and_other_organization(
        self, client: AsyncClient, workflow_id: int, other_org: OrgFixture
    ) -> None:
        path = f"/workflow/{workflow_id}/runs"
        assert (await client.get(path)).status_code == 401
        assert (await client.get(path, headers=other_org.owner_headers)).status_code == 404

    @pytest.mark.parametrize(
        ("query", "named"),
        [
            ("page=0", "page"),
            ("limit=101", "limit"),
            ("limit=0", "limit"),
            ("sort_by=name", "name"),
            ("sort_order=up", "up"),
            ("filters={}", "filters"),
            ("filters=[", "filters"),
            ('filters=[{"field":"secret","type":"text","value":"x"}]', "secret"),
            ('filters=[{"field":"duration","type":"color","value":"x"}]', "color"),
            ('filters=[{"field":"duration","type":"number","value":"x"}]', "duration"),
        ],
    )
    async def test_bad_input_is_named(
        self, client: AsyncClient, workflow_id: int, org: OrgFixture, query: str, named: str
    ) -> None:
        answer = await client.get(f"/workflow/{workflow_id}/runs?{query}", headers=org.owner_headers)
        assert answer.status_code == 422
        assert named in answer.text

    async def test_pages_in_order(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int, make_run: MakeRun
    ) -> None:
        runs = [await make_run() for _ in range(5)]
        path = f"/workflow/{workflow_id}/runs"
        first = (await client.get(f"{path}?limit=2", headers=org.owner_headers)).json()
        third = (
            await client.get(f"{path}?limit=2&page=3&sort_by=id&sort_order=desc", headers=org.owner_headers)
        ).json()
        assert [run["id"] for run in first["runs"]] == [runs[4].id, runs[3].id]
        assert [run["id"] for run in third["runs"]] == [runs[0].id]
        assert {key: first[key] for key in first if key != "runs"} == {
            "total_count": 5, "page": 1, "limit": 2, "total_pages": 3,
        }  # fmt: skip
        assert set(first["runs"][0]) == RECORD_FIELDS
        assert first["runs"][0]["workflow_name"] == "Front desk"

    @pytest.mark.parametrize("filtered", [[], [{"field": "direction", "type": "select", "value": "inbound"}]])
    async def test_every_page_continues_the_one_before(
        self,
        client: AsyncClient,
        org: OrgFixture,
        workflow_id: int,
        make_run: MakeRun,
        root: Root,
        filtered: list[dict[str, Any]],
    ) -> None:
        runs = [await make_run(direction="inbound") for _ in range(7)]
        async with root.db.transaction() as session:
            for run, duration in zip(runs, [5, None, 3, 3, None, 3, 9], strict=True):
                await session.execute(update(Run).where(Run.id == run.id).values(duration=duration))

        async def ids(**query: Any) -> list[int]:
            asked = {"filters": json.dumps(filtered), **query}
            answer = await client.get(f"/workflow/{workflow_id}/runs", params=asked, headers=org.owner_headers)
            assert answer.json()["total_count"] == 7
            return [run["id"] for run in answer.json()["runs"]]

        for sort_by, sort_order in itertools.product(("id", "created_at", "duration"), ("asc", "desc")):
            order = {"sort_by": sort_by, "sort_order": sort_order}
            whole = await ids(**order)
            assert sorted(whole) == [run.id for run in runs]
            pages = [await ids(limit=2, page=page, **order) for page in (1, 2, 3, 4, 5)]
            assert pages == [whole[:2], whole[2:4], whole[4:6], whole[6:], []]

    async def test_filters_are_combined(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int, make_run: MakeRun, root: Root
    ) -> None:
        wanted = await make_run(phone_number="+12015550101", initial_context={"plan": "gold"})
        await make_run(phone_number="+12015550102", initial_context={"plan": "gold"})
        await make_run(phone_number="+12015550101", initial_context={"plan": "tin"})
        async with root.db.transaction() as session:
            await service.apply_status(session, org.id, wanted.id, "busy")
        filters = [
            {"field": "phone_number", "type": "text", "value": "50101"},
            {"attribute": "context.plan", "type": "select", "value": ["gold"]},
            {"field": "status", "type": "select", "value": "busy"},
            {"field": "duration", "type": "number", "value": {"max": 5}},
        ]
        answer = await client.get(
            f"/workflow/{workflow_id}/runs", params={"filters": json.dumps(filters)}, headers=org.owner_headers
        )
        assert [run["id"] for run in answer.json()["runs"]] == [wanted.id]

    async def test_another_workflows_runs_are_not_shown(
        self, client: AsyncClient, org: OrgFixture, run: Run, make_workflow: MakeWorkflow
    ) -> None:
        other = await make_workflow(org.id, name="Other")
        assert (await client.get(f"/workflow/{other}/runs", headers=org.owner_headers)).json()["total_count"] == 0


class TestGet:
    async def test_who_may_not(
        self, client: AsyncClient, run: Run, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
    ) -> None:
        assert (await client.get(url(run))).status_code == 401
        answer = await client.get(url(run), headers=other_org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")
        other = await make_workflow(org.id)
        assert (await client.get(f"/workflow/{other}/runs/{run.id}", headers=org.owner_headers)).status_code == 404
        assert (
            await client.get(f"/workflow/{run.workflow_id}/runs/9{'0' * 17}", headers=org.owner_headers)
        ).status_code == 404
        assert (await client.get(f"/workflow/{run.workflow_id}/runs/x", headers=org.owner_headers)).status_code == 422

    async def test_with_its_events_and_transcript(self, client: AsyncClient, talked: Run, org: OrgFixture) -> None:
        shown = (await client.get(url(talked), headers=org.owner_headers)).json()
        assert set(shown) == RECORD_FIELDS | {
            "analysis",
            "annotations",
            "events",
            "transcript",
            "progress",
            "carrier_bill",
            "cost_lines",
            "unpriced",
            "note",
            "prompts",
            "has_journal",
            "previous_run_id",
            "next_run_id",
            "waits_until",
        }
        assert [(line["role"], line["text"]) for line in shown["transcript"]] == [
            ("agent", "Hello!"),
            ("caller", "Hi, is that Anna?"),
        ]
        assert [event["type"] for event in shown["events"]] == [
            "status_changed", "node_entered", "agent_said", "caller_said", "turn_timed",
        ]  # fmt: skip
        assert shown["latency"] == {"p50_ms": 612, "p95_ms": 612, "turns": 1}
        assert shown["progress"]["node"] == "Greeting"


class TestRecording:
    async def test_who_may_not(self, client: AsyncClient, talked: Run, other_org: OrgFixture) -> None:
        assert (await client.get(url(talked, "/recording"))).status_code == 401
        assert (await client.get(url(talked, "/recording"), headers=other_org.owner_headers)).status_code == 404
        assert (await client.get(url(talked, "/recording?link=x.9.y"))).status_code == 401

    async def test_none_was_made(self, client: AsyncClient, run: Run, org: OrgFixture) -> None:
        answer = await client.get(url(run, "/recording"), headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "recording_not_found")

    async def test_with_a_credential(self, client: AsyncClient, talked: Run, org: OrgFixture) -> None:
        answer = await client.get(url(talked, "/recording"), headers=org.headers_for("viewer"))
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "audio/wav"
        assert len(answer.content) == int(answer.headers["content-length"]) == 44 + 8000 * 4
        assert answer.content[:4] == b"RIFF"

    @pytest.mark.parametrize(
        ("asked", "status", "content_range", "length"),
        [
            ("bytes=0-1", 206, "bytes 0-1/32044", 2),
            ("bytes=0-", 206, "bytes 0-32043/32044", 32044),
            ("bytes=44-", 206, "bytes 44-32043/32044", 32000),
            ("bytes=-100", 206, "bytes 31944-32043/32044", 100),
            ("bytes=32000-99999", 206, "bytes 32000-32043/32044", 44),
            ("bytes=40000-", 416, "bytes */32044", 0),
            ("bytes=-0", 416, "bytes */32044", 0),
            ("bytes=0-1,5-6", 200, None, 32044),
            ("lines=1-2", 200, None, 32044),
        ],
    )
    async def test_ranges(
        self,
        client: AsyncClient,
        talked: Run,
        org: OrgFixture,
        asked: str,
        status: int,
        content_range: str | None,
        length: int,
    ) -> None:
        answer = await client.get(url(talked, "/recording"), headers=org.owner_headers | {"Range": asked})
        assert (answer.status_code, answer.headers.get("content-range"), len(answer.content)) == (
            status,
            content_range,
            length,
        )

    @pytest.mark.parametrize(
        ("name", "disposition"),
        [
            ("WR-TEST-1", 'inline; filename="WR-TEST-1.wav"'),
            ("Zoë 漢", "inline; filename*=utf-8''Zo%C3%AB%20%E6%BC%A2.wav"),
            ('a"b\r\nX-Evil: 1', "inline; filename*=utf-8''a%22b%0D%0AX-Evil%3A%201.wav"),
        ],
    )
    async def test_whatever_its_run_is_called(
        self, client: AsyncClient, root: Root, talked: Run, org: OrgFixture, name: str, disposition: str
    ) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(Run).where(Run.id == talked.id).values(name=name))
        answer = await client.get(url(talked, "/recording"), headers=org.owner_headers)
        assert (answer.status_code, answer.headers["content-disposition"]) == (200, disposition)

    async def test_by_its_signed_link_and_no_other(
        self, client: AsyncClient, talked: Run, org: OrgFixture, make_run: MakeRun
    ) -> None:
        shown = (await client.get(url(talked), headers=org.owner_headers)).json()
        link = shown["recording_url"]
        assert (await client.get(link)).status_code == 200
        token = link.partition("?link=")[2]
        another = await make_run()
        assert (await client.get(url(another, f"/recording?link={token}"))).status_code == 404
        assert (await client.get(url(talked, f"/transcript?link={token}"))).status_code == 404
        assert (await client.get(shown["transcript_url"])).status_code == 200


class TestTranscript:
    async def test_who_may_not(self, client: AsyncClient, talked: Run, other_org: OrgFixture, org: OrgFixture) -> None:
        assert (await client.get(url(talked, "/transcript"))).status_code == 401
        assert (await client.get(url(talked, "/transcript"), headers=other_org.owner_headers)).status_code == 404
        bad = await client.get(url(talked, "/transcript?format=pdf"), headers=org.owner_headers)
        assert bad.status_code == 422

    async def test_as_text(self, client: AsyncClient, talked: Run, org: OrgFixture) -> None:
        answer = await client.get(url(talked, "/transcript"), headers=org.owner_headers)
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.text == "[00:00] Agent: Hello!\n[00:02] Caller: Hi, is that Anna?\n"

    @pytest.mark.parametrize(("query", "accept"), [("?format=json", "*/*"), ("", "application/json")])
    async def test_as_json(self, client: AsyncClient, talked: Run, org: OrgFixture, query: str, accept: str) -> None:
        answer = await client.get(url(talked, f"/transcript{query}"), headers=org.owner_headers | {"Accept": accept})
        assert [line["role"] for line in answer.json()["lines"]] == ["agent", "caller"]


class TestListPlan:
    """Sorting runs on an index: the database reads a page, not every run of the workflow."""

    @pytest.mark.parametrize(
        "query", ["sort_by=created_at", "sort_by=created_at&sort_order=asc", "sort_by=id", "sort_by=duration"]
    )
    async def test_no_sort(self, root: Root, org: OrgFixture, run: Run, query: str) -> None:
        asked = dict(part.split("=") for part in query.split("&"))
        order = parse_sort(asked["sort_by"], asked.get("sort_order"), SORTS, default="created_at", tie_break=Run.id)
        statement = (
            select(Run.name)
            .where(Run.organization_id == org.id, Run.workflow_id == run.workflow_id)
            .order_by(*order)
            .limit(50)
            .compile(root.db.engine, compile_kwargs={"literal_binds": True})
        )
        async with root.db.transaction() as session:
            await session.execute(text("SET LOCAL enable_seqscan = off"))
            await session.execute(text("SET LOCAL enable_sort = off"))
            await session.execute(text("SET LOCAL enable_incremental_sort = off"))
            plan = "\n".join((await session.execute(text(f"EXPLAIN {statement}"))).scalars())
        assert "Sort" not in plan, plan
