"""Folders, and filing workflows in them."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.workflows.conftest import Editor


async def make(editor: Editor, name: str) -> dict[str, Any]:
    answer = await editor.post("/folder/", json={"name": name})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


class TestFolders:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get("/folder/")).status_code == 401
        assert (await client.post("/folder/", json={"name": "A"})).status_code == 401
        assert (await client.put("/folder/1", json={"name": "A"})).status_code == 401
        assert (await client.delete("/folder/1")).status_code == 401

    async def test_viewers_only_read(self, editor: Editor, viewer: Editor) -> None:
        folder = await make(editor, "Sales")
        assert (await viewer.get("/folder/")).json() == [folder]
        assert (await viewer.post("/folder/", json={"name": "A"})).status_code == 403
        assert (await viewer.put(f"/folder/{folder['id']}", json={"name": "A"})).status_code == 403
        assert (await viewer.delete(f"/folder/{folder['id']}")).status_code == 403

    async def test_another_organizations(self, editor: Editor, other_editor: Editor) -> None:
        folder = await make(editor, "Sales")
        assert (await other_editor.get("/folder/")).json() == []
        answer = await other_editor.put(f"/folder/{folder['id']}", json={"name": "Mine"})
        assert (answer.status_code, answer.json()["code"]) == (404, "folder_not_found")
        assert (await other_editor.delete(f"/folder/{folder['id']}")).status_code == 404
        await make(other_editor, "Sales")  # names are unique within one organization only

    @pytest.mark.parametrize(
        "body", [{}, {"name": ""}, {"name": "  "}, {"name": "x" * 101}, {"name": 1}, {"name": None}]
    )
    async def test_bad_names(self, editor: Editor, body: dict[str, Any]) -> None:
        folder = await make(editor, "Sales")
        assert (await editor.post("/folder/", json=body)).status_code == 422
        assert (await editor.put(f"/folder/{folder['id']}", json=body)).status_code == 422

    async def test_from_making_to_deleting(self, editor: Editor) -> None:
        sales, billing = await make(editor, " Sales "), await make(editor, "Billing")
        assert set(sales) == {"id", "name", "created_at", "workflow_count"}
        listed = await editor.get("/folder/")
        assert ([row["name"] for row in listed.json()], listed.headers["x-total-count"]) == (["Billing", "Sales"], "2")
        part = await editor.get("/folder", params={"limit": 1, "offset": 1})
        assert ([row["name"] for row in part.json()], part.headers["x-total-count"]) == (["Sales"], "2")
        renamed = await editor.put(f"/folder/{sales['id']}", json={"name": "Orders"})
        assert (renamed.status_code, renamed.json()) == (200, {**sales, "name": "Orders"})
        for method in (editor.post("/folder/", json={"name": "Billing"}),
                       editor.put(f"/folder/{sales['id']}", json={"name": "Billing"})):  # fmt: skip
            taken = await method
            assert (taken.status_code, taken.json()["code"]) == (409, "folder_name_taken")
        same = await editor.put(f"/folder/{billing['id']}", json={"name": "Billing"})
        assert same.status_code == 200
        gone = await editor.delete(f"/folder/{sales['id']}")
        assert (gone.status_code, gone.json()) == (200, {"success": True, "id": sales["id"]})
        assert (await editor.delete(f"/folder/{sales['id']}")).status_code == 404

    async def test_of_many_who_make_one_name_at_once_one_does(self, editor: Editor) -> None:
        answers = await asyncio.gather(*(editor.post("/folder/", json={"name": "Sales"}) for _ in range(6)))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]

    async def test_deleted_twice_at_once(self, editor: Editor) -> None:
        folder = await make(editor, "Sales")
        answers = await asyncio.gather(*(editor.delete(f"/folder/{folder['id']}") for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]


class TestMoving:
    async def test_into_a_folder_and_out(self, editor: Editor) -> None:
        folder, workflow_id = await make(editor, "Sales"), (await editor.create())["id"]
        moved = await editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": folder["id"]})
        assert moved.status_code == 200
        assert moved.json() == (await editor.get("/workflow/fetch")).json()[0]
        assert (await editor.fetch(workflow_id))["folder_id"] == folder["id"]
        assert (await editor.get("/folder/")).json()[0]["workflow_count"] == 1
        out = await editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": None})
        assert out.json()["folder_id"] is None

    async def test_deleting_a_folder_unfiles(self, editor: Editor) -> None:
        folder, workflow_id = await make(editor, "Sales"), (await editor.create())["id"]
        await editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": folder["id"]})
        await editor.delete(f"/folder/{folder['id']}")
        assert (await editor.fetch(workflow_id))["folder_id"] is None

    async def test_refusals(self, client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor) -> None:
        theirs, workflow_id = await make(other_editor, "Theirs"), (await editor.create())["id"]
        path = f"/workflow/{workflow_id}/folder"
        assert (await client.put(path, json={"folder_id": None})).status_code == 401
        assert (await viewer.put(path, json={"folder_id": None})).status_code == 403
        assert (await other_editor.put(path, json={"folder_id": theirs["id"]})).status_code == 404
        for folder_id in (theirs["id"], 999_999, 0, -1, 2**40):
            answer = await editor.put(path, json={"folder_id": folder_id})
            assert (answer.status_code, answer.json()["code"]) == (404, "folder_not_found")
        for body in ({}, {"folder_id": "x"}, {"folder_id": 1.5}, {"folder_id": True}):
            assert (await editor.put(path, json=body)).status_code == 422
        assert (await editor.fetch(workflow_id))["folder_id"] is None

    async def test_while_the_folder_goes(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        for number in range(10):
            folder = await make(editor, f"Folder {number}")
            moved, gone = await asyncio.gather(
                editor.put(f"/workflow/{workflow_id}/folder", json={"folder_id": folder["id"]}),
                editor.delete(f"/folder/{folder['id']}"),
            )
            assert moved.status_code in (200, 404)
            assert gone.status_code == 200
            assert (await editor.fetch(workflow_id))["folder_id"] is None
