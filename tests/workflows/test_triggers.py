"""Public trigger paths: live only when published, owned by one workflow for ever."""

import asyncio
from typing import Any

import pytest

from offhook.root import Root
from offhook.workflows import service
from offhook.workflows.errors import TriggerNotFound
from tests.fixtures_orgs import OrgFixture
from tests.workflows.conftest import Editor
from tests.workflows.definitions import simple, trigger


def triggered(path: str, **data: Any) -> dict[str, Any]:
    raw = simple()
    raw["nodes"].append(trigger(path, **data))
    return raw


async def behind(root: Root, path: str) -> tuple[int, int] | None:
    async with root.db.transaction() as session:
        try:
            return await service.by_trigger(session, path)
        except TriggerNotFound:
            return None


async def test_a_trigger_is_live_when_it_is_published(root: Root, org: OrgFixture, editor: Editor) -> None:
    workflow_id = (await editor.create(triggered("front-desk")))["id"]
    assert await behind(root, "front-desk") is None
    await editor.publish(workflow_id)
    assert await behind(root, "front-desk") == (org.id, workflow_id)


async def test_editing_a_draft_never_touches_the_live_trigger(root: Root, org: OrgFixture, editor: Editor) -> None:
    workflow_id = await editor.create_published(triggered("old"))
    await editor.put(f"/workflow/{workflow_id}", json={"workflow_definition": triggered("new")})
    assert (await behind(root, "old"), await behind(root, "new")) == ((org.id, workflow_id), None)
    await editor.publish(workflow_id)
    assert (await behind(root, "old"), await behind(root, "new")) == (None, (org.id, workflow_id))


async def test_an_archived_workflow_answers_no_trigger(root: Root, org: OrgFixture, editor: Editor) -> None:
    workflow_id = await editor.create_published(triggered("desk"))
    await editor.put(f"/workflow/{workflow_id}/status", json={"status": "archived"})
    assert await behind(root, "desk") is None
    await editor.put(f"/workflow/{workflow_id}/status", json={"status": "active"})
    assert await behind(root, "desk") == (org.id, workflow_id)


async def test_a_trigger_that_is_switched_off_does_not_answer(root: Root, editor: Editor) -> None:
    await editor.create_published(triggered("desk", enabled=False))
    assert await behind(root, "desk") is None


@pytest.mark.parametrize("path", ["", "a/b", "\0", "пуск", "x" * 500])
async def test_a_path_that_nobody_has(root: Root, path: str) -> None:
    assert await behind(root, path) is None


async def test_a_path_belongs_to_one_workflow_for_ever(editor: Editor, other_editor: Editor) -> None:
    first = await editor.create_published(triggered("desk"))
    await editor.put(f"/workflow/{first}", json={"workflow_definition": triggered("elsewhere")})
    await editor.publish(first)
    second = (await other_editor.create(triggered("desk")))["id"]
    report = (await other_editor.post(f"/workflow/{second}/validate")).json()
    assert [(item["id"], item["field"], item["code"]) for item in report["errors"]] == [
        ("t", "data.trigger_path", "trigger_conflict")
    ]
    answer = await other_editor.publish(second)
    assert (answer.status_code, answer.json()["code"]) == (409, "trigger_conflict")
    assert await other_editor.versions(second) == [(1, "draft")]
    await editor.put(f"/workflow/{first}", json={"workflow_definition": triggered("desk")})
    assert (await editor.publish(first)).status_code == 200


async def test_of_two_who_publish_one_path_at_once_one_wins(root: Root, editor: Editor, other_editor: Editor) -> None:
    editors = [editor, other_editor, editor, other_editor]
    ids = [(await somebody.create(triggered("desk")))["id"] for somebody in editors]
    pairs = zip(editors, ids, strict=True)
    answers = await asyncio.gather(*(somebody.publish(workflow_id) for somebody, workflow_id in pairs))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    winner = next(answer for answer in answers if answer.status_code == 200).json()["workflow_id"]
    found = await behind(root, "desk")
    assert found is not None
    assert found[1] == winner
