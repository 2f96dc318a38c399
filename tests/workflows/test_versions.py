"""Drafts and published versions: how one becomes the other, also when two editors are at it at once."""

import asyncio
from typing import Any

import pytest

from offhook.root import Root
from offhook.workflows import service
from offhook.workflows.errors import VersionNotFound, WorkflowArchived, WorkflowNotFound, WorkflowNotPublished
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor
from tests.workflows.definitions import definition, simple, start


class TestPublish:
    async def test_the_draft_becomes_the_published_version(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.publish(workflow_id)
        assert answer.status_code == 200
        published = answer.json()
        assert (published["workflow_id"], published["version_number"], published["status"]) == (
            workflow_id,
            1,
            "published",
        )
        fetched = await editor.fetch(workflow_id)
        assert (fetched["version_status"], fetched["has_draft"], fetched["current_definition_id"]) == (
            "published",
            False,
            published["id"],
        )

    async def test_the_former_one_is_archived(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting="New")})
        await editor.publish(workflow_id)
        assert await editor.versions(workflow_id) == [(2, "published"), (1, "archived")]

    async def test_without_a_draft_the_published_version_is_unchanged(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        first = (await editor.publish(workflow_id)).json()
        assert (await editor.publish(workflow_id)).json() == first

    async def test_a_note_and_its_author_stand_in_the_list(self, editor: Editor, org: OrgFixture, root: Root) -> None:
        workflow_id = (await editor.create())["id"]
        client = Editor(editor.client, org.headers_for("admin"))
        answer = await client.post(f"/workflow/{workflow_id}/publish", json={"note": "  Shorter greeting "})
        assert answer.status_code == 200
        [version] = (await editor.get(f"/workflow/{workflow_id}/versions")).json()
        admin = {"id": org.user_ids["admin"], "name": f"{org.name} admin"}
        assert (version["note"], version["author"]) == ("Shorter greeting", admin)

    async def test_a_draft_without_a_note_keeps_where_it_comes_from(self, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="One"))
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting="Two")})
        await editor.publish(workflow_id)
        await editor.post(f"/workflow/{workflow_id}/versions/1/restore")
        await editor.post(f"/workflow/{workflow_id}/publish", json={"note": " "})
        [newest, *_] = (await editor.get(f"/workflow/{workflow_id}/versions")).json()
        assert newest["note"] == "Restored from version 1"

    async def test_a_note_that_is_too_long(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.post(f"/workflow/{workflow_id}/publish", json={"note": "x" * 501})
        assert answer.status_code == 422
        assert await editor.versions(workflow_id) == [(1, "draft")]


class TestDraft:
    async def test_made_of_the_published_version(self, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="Live"))
        answer = await editor.post(f"/workflow/{workflow_id}/create-draft")
        assert answer.status_code == 200
        draft = answer.json()
        assert set(draft) == {
            "id",
            "version_number",
            "status",
            "created_at",
            "published_at",
            "created_by",
            "author",
            "note",
            "workflow_json",
            "workflow_configurations",
            "template_context_variables",
        }
        assert (draft["version_number"], draft["status"], draft["workflow_json"]) == (
            2,
            "draft",
            simple(greeting="Live"),
        )
        again = await editor.post(f"/workflow/{workflow_id}/create-draft")
        assert again.json() == draft

    async def test_with_another_definition(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        body = {"workflow_definition": definition(start()), "workflow_configurations": {"dictionary": "x"}}
        draft = (await editor.post(f"/workflow/{workflow_id}/create-draft", json=body)).json()
        assert (draft["workflow_json"], draft["workflow_configurations"]) == (definition(start()), {"dictionary": "x"})
        body = {"definition": simple()}
        again = (await editor.post(f"/workflow/{workflow_id}/create-draft", json=body)).json()
        assert (again["id"], again["workflow_json"]) == (draft["id"], simple())

    async def test_bad_input(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.post(f"/workflow/{workflow_id}/create-draft", json={"workflow_definition": {}})
        assert answer.status_code == 422

    async def test_many_editors_share_one_draft(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        bodies: list[dict[str, Any]] = [
            {"workflow_definition": simple(greeting=f"Hello {index}")} for index in range(5)
        ]
        answers = await asyncio.gather(*(editor.put(f"/workflow/{workflow_id}", json=body) for body in bodies))
        assert {answer.status_code for answer in answers} == {200}
        assert await editor.versions(workflow_id) == [(2, "draft"), (1, "published")]
        assert (await editor.fetch(workflow_id))["workflow_definition"] in [
            body["workflow_definition"] for body in bodies
        ]


class TestRestore:
    async def test_an_old_version_comes_back_as_the_draft(self, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="One"))
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting="Two")})
        await editor.publish(workflow_id)
        answer = await editor.post(f"/workflow/{workflow_id}/versions/1/restore")
        draft = answer.json()
        assert (answer.status_code, draft["version_number"], draft["status"]) == (200, 3, "draft")
        assert (draft["workflow_json"], draft["note"]) == (simple(greeting="One"), "Restored from version 1")
        assert await editor.versions(workflow_id) == [(3, "draft"), (2, "published"), (1, "archived")]

    async def test_into_a_draft_that_is_there(self, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="One"))
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting="Two")})
        draft = (await editor.post(f"/workflow/{workflow_id}/versions/1/restore")).json()
        assert (draft["version_number"], draft["workflow_json"]) == (2, simple(greeting="One"))

    @pytest.mark.parametrize("number", [2, 0, 2**40])
    async def test_an_unknown_version(self, editor: Editor, number: int) -> None:
        workflow_id = (await editor.create())["id"]
        assert (await editor.post(f"/workflow/{workflow_id}/versions/{number}/restore")).status_code == 404


class TestVersions:
    async def test_newest_first_and_in_parts(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        for text in ("b", "c"):
            await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting=text)})
            await editor.publish(workflow_id)
        assert await editor.versions(workflow_id) == [(3, "published"), (2, "archived"), (1, "archived")]
        answer = await editor.get(f"/workflow/{workflow_id}/versions", params={"limit": 1, "offset": 1})
        assert [row["version_number"] for row in answer.json()] == [2]
        assert answer.headers["X-Total-Count"] == "3"

    @pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"limit": "x"}])
    async def test_bad_input(self, editor: Editor, params: dict[str, Any]) -> None:
        workflow_id = (await editor.create())["id"]
        assert (await editor.get(f"/workflow/{workflow_id}/versions", params=params)).status_code == 422


class TestVersionToRun:
    async def test_production_runs_the_published_and_tests_run_the_draft(
        self, root: Root, org: OrgFixture, editor: Editor
    ) -> None:
        workflow_id = await editor.create_published(simple(greeting="Live"))
        body = {
            "workflow_definition": simple(greeting="Draft"),
            "workflow_configurations": {"max_call_duration": 60},
            "template_context_variables": {"city": "Oslo"},
        }
        await editor.put(f"/workflow/{workflow_id}", json=body)
        async with root.db.transaction() as session:
            live = await service.get_version_to_run(session, org.id, workflow_id)
            draft = await service.get_version_to_run(session, org.id, workflow_id, use_draft=True)
            assert await service.version_to_run(session, org.id, draft.version_id) == draft
        assert (live.version_number, live.definition, live.organization_id) == (1, simple(greeting="Live"), org.id)
        assert (draft.version_number, draft.workflow_name) == (2, "Agent")
        assert (draft.definition, draft.configurations, draft.template_context_variables) == tuple(body.values())

    async def test_what_cannot_run(self, root: Root, org: OrgFixture, other_org: OrgFixture, editor: Editor) -> None:
        draft_id, archived_id = (await editor.create())["id"], await editor.create_published()
        await editor.put(f"/workflow/{archived_id}/status", json={"status": "archived"})
        async with root.db.transaction() as session:
            with pytest.raises(WorkflowNotPublished):
                await service.get_version_to_run(session, org.id, draft_id)
            for use_draft in (False, True):
                with pytest.raises(WorkflowArchived):
                    await service.get_version_to_run(session, org.id, archived_id, use_draft=use_draft)
                with pytest.raises(WorkflowNotFound):
                    await service.get_version_to_run(session, other_org.id, draft_id, use_draft=use_draft)
            version_id = (await service.get_version_to_run(session, org.id, draft_id, use_draft=True)).version_id
            with pytest.raises(VersionNotFound):
                await service.version_to_run(session, other_org.id, version_id)

    async def test_a_run_that_has_begun_keeps_its_version(self, root: Root, org: OrgFixture, editor: Editor) -> None:
        workflow_id = await editor.create_published(simple(greeting="Then"))
        async with root.db.transaction() as session:
            version = await service.get_version_to_run(session, org.id, workflow_id)
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting="Now")})
        await editor.publish(workflow_id)
        await editor.put(f"/workflow/{workflow_id}/status", json={"status": "archived"})
        async with root.db.transaction() as session:
            assert await service.version_to_run(session, org.id, version.version_id) == version
