"""Canaries over HTTP: who may do what, what is refused, and other versions beside one."""

from typing import Any

import pytest

from offhook.canary.tasks import CanaryJob
from offhook.kit.clock import SystemClock
from offhook.root import Root
from offhook.workflows.canaries import queries
from tests.canary.steps import start
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor


class TestOtherVersions:
    async def test_a_third_version_waits_and_begins_from_the_canary(self, editor: Editor, workflow_id: int) -> None:
        await start(editor, workflow_id)
        shown = await editor.fetch(workflow_id)
        assert shown["workflow_definition"]["nodes"][0]["data"]["greeting"] == "Hello again."
        assert (await editor.post(f"/workflow/{workflow_id}/create-draft")).json()["version_number"] == 3
        refused = await editor.publish(workflow_id)
        assert (refused.status_code, refused.json()["code"]) == (409, "canary_running")
        refused = await editor.post(f"/workflow/{workflow_id}/canary", json={})
        assert (refused.status_code, refused.json()["code"]) == (409, "canary_running")
        body = {"decision": "forward", "reason": "Good enough."}
        assert (await editor.post(f"/workflow/{workflow_id}/canary/end", json=body)).status_code == 200
        assert await editor.versions(workflow_id) == [(3, "draft"), (2, "published"), (1, "archived")]
        assert (await editor.publish(workflow_id)).status_code == 200

    async def test_a_deleted_agent_ends_its_canary(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int
    ) -> None:
        canary = await start(editor, workflow_id)
        assert (await editor.delete(f"/workflow/{workflow_id}")).status_code == 200
        async with root.db.transaction() as session:
            assert list(await queries.list_running(session)) == []
        await CanaryJob(root.db, SystemClock()).look({"organization_id": org.id, "canary_id": canary["id"]})


class TestRequests:
    async def test_what_is_missing_is_said(self, editor: Editor) -> None:
        created = (await editor.create())["id"]
        answers = {}
        answers["no version"] = await editor.post(f"/workflow/{created}/canary", json={})
        await editor.publish(created)
        answers["no draft"] = await editor.post(f"/workflow/{created}/canary", json={})
        assert (await editor.get(f"/workflow/{created}/canary")).json() is None
        answers["none to change"] = await editor.put(f"/workflow/{created}/canary", json={"share": 5})
        assert {name: (answer.status_code, answer.json()["code"]) for name, answer in answers.items()} == {
            "no version": (409, "canary_needs_published"),
            "no draft": (409, "canary_needs_draft"),
            "none to change": (404, "canary_not_found"),
        }

    async def test_an_ended_canary_is_not_changed(self, editor: Editor, workflow_id: int) -> None:
        await start(editor, workflow_id)
        end = {"decision": "back", "reason": "Enough."}
        assert (await editor.post(f"/workflow/{workflow_id}/canary/end", json=end)).status_code == 200
        for answer in (
            await editor.post(f"/workflow/{workflow_id}/canary/end", json=end),
            await editor.put(f"/workflow/{workflow_id}/canary", json={"share": 5}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "canary_not_running")

    @pytest.mark.parametrize(
        "body",
        [{"share": 0}, {"share": 51}, {"share": "x"}, {"margin_points": 2}, {"horizon": 10}, {"earlier_days": 91}, {"x": 1}],
    )  # fmt: skip
    async def test_bad_settings_are_refused(self, editor: Editor, workflow_id: int, body: dict[str, Any]) -> None:
        assert (await editor.post(f"/workflow/{workflow_id}/canary", json=body)).status_code == 422
        assert (await editor.get(f"/workflow/{workflow_id}/canary")).json() is None

    async def test_only_members_of_the_organization_change_it(
        self, editor: Editor, other_editor: Editor, viewer: Editor, workflow_id: int
    ) -> None:
        path = f"/workflow/{workflow_id}/canary"
        assert (await viewer.post(path, json={})).status_code == 403
        assert (await other_editor.post(path, json={})).status_code == 404
        await start(editor, workflow_id)
        assert (await viewer.get(path)).status_code == 200
        assert (await other_editor.get(path)).status_code == 404
        assert (await editor.client.get(path)).status_code == 401
        for other, status in ((viewer, 403), (other_editor, 404)):
            assert (await other.put(path, json={"share": 5})).status_code == status
            end = {"decision": "back", "reason": "No."}
            assert (await other.post(f"{path}/end", json=end)).status_code == status
