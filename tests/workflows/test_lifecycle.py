"""Duplicating and deleting workflows."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from httpx2 import AsyncClient
from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.tables import Run, RunEvent
from offhook.workflows import WorkflowDuplication, WorkflowHooks
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor
from tests.workflows.definitions import agent, definition, edge, end, node, simple, start, trigger


async def start_run(root: Root, org: OrgFixture, workflow_id: int, **values: Any) -> Run:
    async with root.db.transaction() as session:
        return await runs.create_run(
            session, organization_id=org.id, workflow_id=workflow_id, mode="sandbox", direction="outbound",
            use_draft=True, **values,
        )  # fmt: skip


async def end_run(root: Root, run: Run) -> None:
    async with root.db.transaction() as session:
        await runs.apply_status(session, run.organization_id, run.id, "failed")


async def work(root: Root) -> int:
    """Run the jobs that wait, as a worker would; how many there were."""
    async with root.db.transaction() as session:
        rows = (await session.execute(text("DELETE FROM pgqueuer RETURNING entrypoint, payload"))).all()
    for row in rows:
        await root.jobs.handlers[row.entrypoint](json.loads(row.payload))
    return len(rows)


class TestDuplicate:
    async def test_refusals(self, client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor) -> None:
        path = f"/workflow/{(await editor.create())['id']}/duplicate"
        assert (await client.post(path)).status_code == 401
        assert (await viewer.post(path)).status_code == 403
        assert (await other_editor.post(path)).status_code == 404
        assert (await editor.post("/workflow/999999/duplicate")).status_code == 404

    async def test_the_draft_is_what_is_copied(self, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="Live"), name="Front desk")
        changes = {
            "workflow_definition": simple(greeting="Draft"),
            "workflow_configurations": {"dictionary": "Offhook"},
            "template_context_variables": {"city": "Riga"},
        }
        original = (await editor.put(f"/workflow/{workflow_id}", json=changes)).json()
        answer = await editor.post(f"/workflow/{workflow_id}/duplicate")
        assert answer.status_code == 200
        copy = answer.json()
        assert (copy["name"], copy["version_number"], copy["version_status"], copy["total_runs"]) == (
            "Front desk - Duplicate", 1, "draft", 0,
        )  # fmt: skip
        for part in changes:
            assert copy[part] == original[part]
        assert copy["id"] != workflow_id
        assert copy["workflow_uuid"] != original["workflow_uuid"]
        assert await editor.versions(workflow_id) == [(2, "draft"), (1, "published")]

    async def test_triggers_get_new_addresses_and_secrets_are_kept(self, editor: Editor, root: Root) -> None:
        exporter = node("q", "tuner", tuner_api_key="sk-1234567890abcdef")
        triggered = {**simple(), "nodes": [*simple()["nodes"], trigger("desk"), exporter]}
        workflow_id = await editor.create_published(triggered)
        copy = (await editor.post(f"/workflow/{workflow_id}/duplicate")).json()
        path = copy["definition"]["nodes"][3]["data"]["trigger_path"]
        assert path != "desk"
        assert len(path) == 36
        assert (await editor.publish(copy["id"])).status_code == 200
        async with root.db.transaction() as session:
            stored = await session.scalar(
                select(WorkflowVersion.definition).where(WorkflowVersion.workflow_id == copy["id"])
            )
        assert stored is not None
        assert stored["nodes"][4]["data"]["tuner_api_key"] == "sk-1234567890abcdef"

    async def test_a_name_that_is_full(self, editor: Editor) -> None:
        workflow_id = (await editor.create(name="x" * 200))["id"]
        copy = (await editor.post(f"/workflow/{workflow_id}/duplicate")).json()
        assert (len(copy["name"]), copy["name"][-14:]) == (200, "xx - Duplicate")

    async def test_in_the_same_folder(self, editor: Editor) -> None:
        folder = (await editor.post("/folder/", json={"name": "Sales"})).json()
        workflow_id = (await editor.create())["id"]
        await editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": folder["id"]})
        assert (await editor.post(f"/workflow/{workflow_id}/duplicate")).json()["folder_id"] == folder["id"]

    async def test_recordings_are_copied_by_their_domain(self, editor: Editor, root: Root, org: OrgFixture) -> None:
        asked: list[WorkflowDuplication] = []

        async def copy_recordings(session: AsyncSession, duplication: WorkflowDuplication) -> Mapping[str, str]:
            asked.append(duplication)
            assert await session.get(Workflow, duplication.copy_id) is not None
            return {"rec-1": "rec-2", "7": "8"}

        root.get(WorkflowHooks).copiers.append(copy_recordings)
        spoken = definition(
            start(greeting_type="audio", greeting_recording_id="rec-1"), agent(), end(),
            edges=[edge("s", "a", transition_speech_type="audio", transition_speech_recording_id=7), edge("a", "e")],
        )  # fmt: skip
        workflow_id = (await editor.create(spoken))["id"]
        copy = (await editor.post(f"/workflow/{workflow_id}/duplicate")).json()
        assert asked == [WorkflowDuplication(org.id, workflow_id, copy["id"], None)]
        assert copy["definition"]["nodes"][0]["data"]["greeting_recording_id"] == "rec-2"
        assert copy["definition"]["edges"][0]["data"]["transition_speech_recording_id"] == "8"
        assert (await editor.fetch(workflow_id))["definition"] == spoken

    async def test_a_copier_that_fails_leaves_no_copy(self, editor: Editor, root: Root) -> None:
        async def fail(session: AsyncSession, duplication: WorkflowDuplication) -> Mapping[str, str]:
            raise LookupError

        workflow_id = (await editor.create())["id"]
        root.get(WorkflowHooks).copiers.append(fail)
        assert (await editor.post(f"/workflow/{workflow_id}/duplicate")).status_code == 500
        assert len((await editor.get("/workflow/fetch")).json()) == 1


class TestDelete:
    async def test_refusals(self, client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor) -> None:
        path = f"/workflow/{(await editor.create())['id']}"
        assert (await client.delete(path)).status_code == 401
        assert (await viewer.delete(path)).status_code == 403
        assert (await other_editor.delete(path)).status_code == 404
        assert (await editor.delete("/workflow/x")).status_code == 422
        assert (await editor.get(path.replace("/workflow/", "/workflow/fetch/"))).status_code == 200

    async def test_it_is_gone_at_once_for_everybody(self, editor: Editor, root: Root, org: OrgFixture) -> None:
        definition = {**simple(), "nodes": [*simple()["nodes"], trigger("desk")]}
        kept, gone = await editor.create_published(name="Kept"), await editor.create_published(definition)
        run = await start_run(root, org, gone)
        await end_run(root, run)
        answer = await editor.delete(f"/workflow/{gone}")
        assert (answer.status_code, answer.json()) == (200, {"success": True, "id": gone})
        for again in (
            await editor.delete(f"/workflow/{gone}"),
            await editor.get(f"/workflow/fetch/{gone}"),
            await editor.get(f"/workflow/{gone}/runs"),
            await editor.get(f"/workflow/{gone}/runs/{run.id}"),
            await editor.get(f"/workflow/{gone}/versions"),
            await editor.put(f"/workflow/{gone}", json={"name": "Back"}),
            await editor.put(f"/workflow/{gone}/status", json={"status": "active"}),
            await editor.post(f"/workflow/{gone}/publish"),
            await editor.post(f"/workflow/{gone}/validate"),
            await editor.post(f"/workflow/{gone}/duplicate"),
            await editor.post(f"/workflow/{gone}/runs", json={"mode": "sandbox"}),
            await editor.post("/public/agent/desk", json={"phone_number": "+12015550123"}),
        ):
            assert again.status_code == 404, again.request.url
        assert [row["id"] for row in (await editor.get("/workflow/fetch")).json()] == [kept]
        assert [row["id"] for row in (await editor.get("/workflow/summary")).json()] == [kept]
        assert (await editor.get("/workflow/count")).json() == {"total": 1, "active": 1, "archived": 0}
        assert (
            await editor.post("/workflow/create/definition", json={"name": "N", "definition": definition})
        ).is_success

    async def test_a_job_removes_its_history(self, editor: Editor, root: Root, org: OrgFixture) -> None:
        kept, gone = await editor.create_published(name="Kept"), await editor.create_published()
        await end_run(root, await start_run(root, org, kept))
        run = await start_run(root, org, gone)
        await end_run(root, run)
        recording = root.storage.path_for(f"recordings/{org.id}/{run.id}.wav")
        recording.write_bytes(b"RIFF")
        async with root.db.transaction() as session:
            stored = await session.get(Run, run.id)
            assert stored is not None
            stored.recording_key = f"recordings/{org.id}/{run.id}.wav"
        await editor.delete(f"/workflow/{gone}")
        assert await work(root) == 1
        assert not recording.exists()
        async with root.db.transaction() as session:
            left = [
                await session.scalar(select(func.count()).select_from(table).where(column == wanted))
                for table, column, wanted in (
                    (Workflow, Workflow.id, gone),
                    (WorkflowVersion, WorkflowVersion.workflow_id, gone),
                    (Run, Run.workflow_id, gone),
                    (RunEvent, RunEvent.run_id, run.id),
                    (Run, Run.workflow_id, kept),
                )
            ]
        assert left == [0, 0, 0, 0, 1]

    async def test_not_while_a_run_is_live(self, editor: Editor, root: Root, org: OrgFixture) -> None:
        workflow_id = await editor.create_published()
        run = await start_run(root, org, workflow_id)
        answer = await editor.delete(f"/workflow/{workflow_id}")
        assert (answer.status_code, answer.json()["code"]) == (409, "workflow_has_live_runs")
        await end_run(root, run)
        assert (await editor.delete(f"/workflow/{workflow_id}")).status_code == 200

    async def test_a_run_and_a_deletion_at_once(self, editor: Editor) -> None:
        for _ in range(8):
            workflow_id = await editor.create_published()
            started, deleted = await asyncio.gather(
                editor.post(f"/workflow/{workflow_id}/runs", json={"mode": "textchat"}),
                editor.delete(f"/workflow/{workflow_id}"),
            )
            assert (started.status_code, deleted.status_code) in {(200, 409), (404, 200)}

    async def test_the_job_harms_no_workflow_that_lives(self, editor: Editor, root: Root, org: OrgFixture) -> None:
        workflow_id = await editor.create_published()
        await root.jobs.handlers["workflow.erase"]({"organization_id": org.id, "workflow_id": workflow_id})
        assert (await editor.fetch(workflow_id))["id"] == workflow_id


async def test_what_changes_nothing_is_no_entry_in_the_audit_log(editor: Editor, root: Root) -> None:
    workflow_id = await editor.create_published(simple())
    async with root.db.transaction() as session:
        before = (await session.scalars(text("SELECT action FROM audit_entries ORDER BY id"))).all()
    for answer in (
        await editor.put(f"/workflow/{workflow_id}/status", json={"status": "active"}),
        await editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": None}),
        await editor.put(f"/workflow/{workflow_id}", json={}),
        await editor.publish(workflow_id),
    ):
        assert answer.status_code == 200
    async with root.db.transaction() as session:
        assert (await session.scalars(text("SELECT action FROM audit_entries ORDER BY id"))).all() == before
