"""Two browsers with one agent: nobody's work is overwritten in silence, nothing is published twice."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import func, select, text

from offhook.root import Root
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.workflows.conftest import Editor
from tests.workflows.definitions import simple

ROUNDS = 12


async def states(root: Root, workflow_id: int) -> dict[str, int]:
    async with root.db.transaction() as session:
        rows = await session.execute(
            select(WorkflowVersion.status, func.count())
            .where(WorkflowVersion.workflow_id == workflow_id)
            .group_by(WorkflowVersion.status)
        )
        return {row[0]: row[1] for row in rows}


async def test_of_two_who_publish_at_once_one_wins(editor: Editor, root: Root) -> None:
    workflow_id = (await editor.create())["id"]
    for number in range(1, ROUNDS + 1):
        answers = await asyncio.gather(editor.publish(workflow_id), editor.publish(workflow_id))
        statuses = sorted(answer.status_code for answer in answers)
        # 200 twice: the second came when everything was over, and changed nothing.
        assert statuses in ([200, 409], [200, 200])
        for answer in answers:
            if answer.status_code == 409:
                assert answer.json()["code"] == "publish_conflict"
            else:
                assert answer.json()["version_number"] == number
        assert await states(root, workflow_id) == {"published": 1, **({"archived": number - 1} if number > 1 else {})}
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": simple(greeting=f"Hi {number}")})


async def test_of_two_who_have_seen_the_same_draft_the_second_is_refused(editor: Editor, root: Root) -> None:
    """Both requests are held where they wait for the workflow, so that neither comes when everything is over."""
    workflow_id = (await editor.create())["id"]
    async with root.db.transaction() as session:
        await session.execute(select(Workflow).where(Workflow.id == workflow_id).with_for_update())
        both = asyncio.gather(editor.publish(workflow_id), editor.publish(workflow_id))
        async with asyncio.timeout(60):
            while await waiting(root) < 2:
                await asyncio.sleep(0.02)
    answers = sorted(await both, key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [200, 409]
    assert answers[1].json()["code"] == "publish_conflict"
    assert await states(root, workflow_id) == {"published": 1}


async def waiting(root: Root) -> int:
    """How many of this database's connections wait for a lock that another one holds."""
    held = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    async with root.db.transaction() as session:
        return await session.scalar(held) or 0


@pytest.mark.slow
async def test_editors_of_every_kind_at_once(editor: Editor, root: Root) -> None:
    """Saving, publishing, restoring and drafting in all orders: at most one draft and one published version, always."""
    workflow_id = await editor.create_published()
    path = f"/workflow/{workflow_id}"
    for number in range(ROUNDS):
        acts = [
            editor.put(path, json={"workflow_definition": simple(greeting=f"A {number}")}),
            editor.publish(workflow_id),
            editor.post(f"{path}/create-draft"),
            editor.publish(workflow_id),
            editor.post(f"{path}/versions/1/restore"),
            editor.put(path, json={"name": f"Agent {number}"}),
        ]
        answers = await asyncio.gather(*acts[number % 6 :], *acts[: number % 6])
        assert {answer.status_code for answer in answers} <= {200, 409}
        found = await states(root, workflow_id)
        assert found.get("draft", 0) <= 1
        assert found["published"] == 1
        numbers = [row[0] for row in await editor.versions(workflow_id)]
        assert numbers == sorted(set(numbers), reverse=True)


class TestExpectedRevision:
    @pytest.fixture
    async def read(self, editor: Editor) -> dict[str, Any]:
        """What both browsers have read."""
        return await editor.create()

    async def save(self, editor: Editor, read: dict[str, Any], **how: Any) -> Response:
        body = {"workflow_definition": simple(greeting="Mine"), **how.pop("body", {})}
        return await editor.put(f"/workflow/{read['id']}", json=body, **how)

    async def test_without_one_the_last_writer_wins(self, editor: Editor, read: dict[str, Any]) -> None:
        for _ in range(2):
            assert (await self.save(editor, read)).status_code == 200

    async def test_the_second_browser_is_told(self, editor: Editor, read: dict[str, Any]) -> None:
        first = await self.save(editor, read, body={"expected_revision": read["revision"]})
        assert (first.status_code, first.json()["revision"]) == (200, read["revision"] + 1)
        second = await self.save(editor, read, body={"expected_revision": read["revision"], "name": "Never"})
        assert (second.status_code, second.json()["code"]) == (409, "revision_conflict")
        detail = second.json()["detail"]
        assert (detail["expected_revision"], detail["actual_revision"]) == (read["revision"], read["revision"] + 1)
        now = await editor.fetch(read["id"])
        assert (now["name"], now["revision"]) == (read["name"], read["revision"] + 1)
        again = await self.save(editor, read, body={"expected_revision": now["revision"]})
        assert again.status_code == 200

    async def test_by_header(self, client: AsyncClient, editor: Editor, org: Any, read: dict[str, Any]) -> None:
        path = f"/workflow/{read['id']}"
        etag = (await editor.get(f"/workflow/fetch/{read['id']}")).headers["etag"]

        async def put(if_match: str) -> Response:
            return await client.put(path, json={"name": "New"}, headers={**org.key_headers, "If-Match": if_match})

        first = await put(etag)
        assert (first.status_code, first.headers["etag"]) == (200, f'"{read["revision"] + 1}"')
        assert (await put(etag)).status_code == 409
        assert (await put(f"W/{first.headers['etag']}")).status_code == 200
        assert (await put("*")).status_code == 200
        wrong = await put('"abc"')
        assert (wrong.status_code, wrong.json()["code"]) == (422, "revision_invalid")

    async def test_drafting_and_publishing_too(
        self, client: AsyncClient, editor: Editor, org: Any, read: dict[str, Any]
    ) -> None:
        path = f"/workflow/{read['id']}"
        await self.save(editor, read)
        stale = {"expected_revision": read["revision"]}
        assert (await editor.post(f"{path}/create-draft", json=stale)).status_code == 409
        headers = {**org.key_headers, "If-Match": str(read["revision"])}
        refused = await client.post(f"{path}/publish", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "revision_conflict")
        drafted = await editor.post(f"{path}/create-draft", json={"expected_revision": read["revision"] + 1})
        assert drafted.status_code == 200
        headers["If-Match"] = drafted.headers["etag"]
        published = await client.post(f"{path}/publish", headers=headers)
        assert (published.status_code, published.headers["etag"]) == (200, f'"{read["revision"] + 2}"')

    @pytest.mark.parametrize("revision", [0, -1, "x", 1.5, True, 2**31])
    async def test_bad_revisions(self, editor: Editor, read: dict[str, Any], revision: Any) -> None:
        assert (await self.save(editor, read, body={"expected_revision": revision})).status_code == 422

    async def test_of_many_at_once_one_saves(self, editor: Editor, read: dict[str, Any]) -> None:
        answers = await asyncio.gather(
            *(self.save(editor, read, body={"expected_revision": read["revision"]}) for _ in range(8))
        )
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7

    async def test_filing_and_archiving_disturb_no_editor(self, editor: Editor, read: dict[str, Any]) -> None:
        await editor.put(f"/workflow/{read['id']}/status", json={"status": "archived"})
        await editor.put(f"/workflow/{read['id']}/folder", json={"folder_id": None})
        assert (await self.save(editor, read, body={"expected_revision": read["revision"]})).status_code == 200
