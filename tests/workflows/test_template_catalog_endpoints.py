"""Agents from the template catalog over HTTP: listed, created with documents and tools, and talked with by text."""

from typing import Any

from httpx2 import AsyncClient
from sqlalchemy import text

from offhook.jobs.worker import run_until_empty
from offhook.root import Root
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template
from tests.workflows.conftest import Editor

PATH = "/workflow/templates"


def nodes_of(agent: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [node["data"] for node in agent["definition"]["nodes"] if node["type"] == kind]


async def create(editor: Editor, template_id: str, **body: Any) -> dict[str, Any]:
    answer = await editor.post(f"{PATH}/{template_id}/create", json=body)
    assert answer.status_code == 200, answer.text
    created: dict[str, Any] = answer.json()
    return created


async def test_the_gallery(client: AsyncClient, viewer: Editor) -> None:
    assert (await client.get(PATH)).status_code == 401
    rows = (await viewer.get(PATH)).json()
    assert [row["id"] for row in rows] == list(TEMPLATE_IDS)
    booking = next(row for row in rows if row["id"] == "appointment_booking")
    assert (booking["title"], booking["call_type"], booking["works_offline"]) == ("Appointments", "inbound", True)
    assert booking["documents"] == ["Riverside Dental practice guide"]
    assert booking["scenario_count"] == len(load_template("appointment_booking").scenarios)
    drawn = {node["id"] for node in booking["nodes"]}
    assert {"greeting", "day", "booked"} <= drawn
    assert "persona" not in drawn
    assert all({edge["source"], edge["target"]} <= drawn for edge in booking["edges"])


async def test_refusals(client: AsyncClient, viewer: Editor, editor: Editor) -> None:
    path = f"{PATH}/reception/create"
    assert (await client.post(path, json={})).status_code == 401
    assert (await viewer.post(path, json={})).status_code == 403
    bodies: list[Any] = [{"name": " "}, {"name": "x" * 201}, {"name": 1}, []]
    for body in bodies:
        assert (await editor.post(path, json=body)).status_code == 422
    for unknown in ("nothing", "%2e%2e%2f", "Reception", "x" * 64):
        answer = await editor.post(f"{PATH}/{unknown}/create", json={})
        assert answer.status_code == 404
    assert answer.json()["code"] == "template_not_found"
    assert (await editor.get("/workflow/fetch")).json() == []


async def test_agents_that_can_be_published(editor: Editor) -> None:
    for template_id in TEMPLATE_IDS:
        agent = await create(editor, template_id)
        assert (agent["name"], agent["version_status"]) == (load_template(template_id).card.agent_name, "draft")
        report = (await editor.post(f"/workflow/{agent['id']}/validate")).json()
        assert (report["is_valid"], report["errors"]) == (True, [])
        # nothing has read the documents yet
        assert {warning["code"] for warning in report["warnings"]} == {"document_processing"}
        assert (await editor.publish(agent["id"])).status_code == 200


async def test_a_name_of_its_own(editor: Editor) -> None:
    assert (await create(editor, "survey", name=" My survey "))["name"] == "My survey"
    answer = await editor.post(f"{PATH}/survey/create")
    assert answer.json()["name"] == "Guest survey"


async def test_what_it_brings_along_is_there_once(editor: Editor, other_editor: Editor) -> None:
    first, second = await create(editor, "support_triage"), await create(editor, "support_triage", name="Again")
    refs = [nodes_of(agent, "agentNode")[0]["document_refs"] for agent in (first, second)]
    assert refs[0] == refs[1] == nodes_of(first, "startCall")[0]["document_refs"]
    assert all("document_refs" not in data for data in nodes_of(first, "endCall"))
    documents = (await editor.get("/knowledge-base/")).json()
    assert [(one["id"], one["name"]) for one in documents] == [(refs[0][0], "Northline troubleshooting guide")]
    tools = (await editor.get("/tools/")).json()
    assert [(one["name"], one["category"]) for one in tools] == [("Transfer to support", "transfer_call")]
    used = [data["tool_uuids"] for data in nodes_of(second, "agentNode") if "tool_uuids" in data]
    assert used == [[tools[0]["tool_uuid"]]]
    # another organization has its own
    theirs = await create(other_editor, "support_triage")
    assert nodes_of(theirs, "startCall")[0]["document_refs"] != refs[0]
    assert (await editor.get(f"/workflow/fetch/{theirs['id']}")).status_code == 404


async def test_an_archived_document_is_not_used_again(editor: Editor) -> None:
    first = nodes_of(await create(editor, "reception"), "startCall")[0]["document_refs"]
    assert (await editor.delete(f"/knowledge-base/{first[0]}")).status_code == 200
    again = nodes_of(await create(editor, "reception"), "startCall")[0]["document_refs"]
    assert again != first


async def test_a_caller_is_answered_from_its_document(editor: Editor, root: Root) -> None:
    agent = await create(editor, "reception")
    await run_until_empty(root.db, root.jobs)
    sessions = f"/workflow/{agent['id']}/text-chat/sessions"
    chat = (await editor.post(sessions, json={})).json()["workflow_run_id"]
    for said in ("I'd like to set up a consultation", "How much is a simple will?"):
        answer = await editor.post(f"{sessions}/{chat}/messages", json={"text": said})
    assert "six hundred dollars" in answer.json()["messages"][-1]["text"]


async def test_the_audit_log_tells_it(editor: Editor, root: Root) -> None:
    await create(editor, "support_triage")
    async with root.db.transaction() as session:
        actions = (await session.execute(text("SELECT action FROM audit_entries ORDER BY id"))).scalars().all()
    assert actions[-3:] == ["document.created", "tool.created", "workflow.created"]
