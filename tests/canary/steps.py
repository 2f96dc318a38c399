"""What people do with canaries over HTTP."""

from typing import Any

from tests.workflows.conftest import Editor
from tests.workflows.definitions import simple


def changed(text: str = "Hello again.") -> dict[str, Any]:
    definition = simple()
    definition["nodes"][0]["data"]["greeting"] = text
    return definition


async def save_draft(editor: Editor, workflow_id: int, text: str = "Hello again.") -> None:
    answer = await editor.put(f"/workflow/{workflow_id}", json={"name": "Agent", "workflow_definition": changed(text)})
    assert answer.status_code == 200, answer.text


async def start(editor: Editor, workflow_id: int, **body: Any) -> dict[str, Any]:
    answer = await editor.post(f"/workflow/{workflow_id}/canary", json={"share": 50, "earlier_days": 0, **body})
    assert answer.status_code == 200, answer.text
    started: dict[str, Any] = answer.json()
    return started


async def read(editor: Editor, workflow_id: int) -> dict[str, Any]:
    answer = await editor.get(f"/workflow/{workflow_id}/canary")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
