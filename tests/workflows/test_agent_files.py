"""Agents as files: what leaves has no secret, and what comes in finds its tools, credentials and documents by name."""

import json
import time
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.workflows.agent_files.references import references_of
from offhook.workflows.agent_files.secret_values import without_secrets
from tests.workflows.conftest import Editor
from tests.workflows.definitions import agent, definition, edge, end, node, simple, start, trigger

SECRET = "sk-do-not-leave"
CRM = "https://crm.example.com"


def test_references_are_read_in_linear_time() -> None:
    first, second = [f"a{n}" for n in range(30_000)], [f"b{n}" for n in range(30_000)]
    drawn = definition(
        agent("1", tool_uuids=first, document_uuids=first),
        agent("2", tool_uuids=[*second, *first], document_refs=second),
    )
    began = time.process_time()
    named = references_of(drawn)
    assert time.process_time() - began < 2
    assert (named.tools, named.documents) == ([*first, *second], [*first, *second])


async def make_credential(editor: Editor, name: str = "CRM", hosts: list[str] | None = None) -> str:
    body = {
        "name": name,
        "credential_type": "bearer_token",
        "credential_data": {"token": SECRET},
        "allowed_hosts": hosts,
    }
    answer = await editor.post("/credentials/", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["uuid"])


def crm_tool(credential: str | None = None, url: str = f"{CRM}/orders") -> dict[str, Any]:
    headers = {"Accept": "application/json", "X-Api-Key": SECRET}
    config = {"url": url, "method": "GET", "headers": headers, "credential_uuid": credential}
    return {"name": "Find order", "category": "http_api", "definition": {"type": "http_api", "config": config}}


async def make_agent(editor: Editor) -> dict[str, Any]:
    """With a tool, a webhook and a trigger; a secret stands in each place that can hold one."""
    credential = await make_credential(editor, hosts=["crm.example.com"])
    tool = (await editor.post("/tools/", json=crm_tool(credential))).json()["tool_uuid"]
    webhook = node(
        "w",
        "webhook",
        endpoint_url=f"{CRM}/calls?api_key={SECRET}&kind=call",
        credential_uuid=credential,
        custom_headers=[{"key": "Authorization", "value": f"Bearer {SECRET}"}, {"key": "X-Kind", "value": "call"}],
    )
    drawn = definition(
        start(), agent(tool_uuids=[tool]), end(), webhook, trigger("my-path"), edges=[edge("s", "a"), edge("a", "e")]
    )
    created = await editor.create(drawn, name="Orders")
    await editor.put(
        f"/workflow/{created['id']}",
        json={
            "workflow_configurations": {"max_call_duration": 300, "vendor_api_key": SECRET},
            "template_context_variables": {"city": "Oslo"},
        },
    )
    return created


async def export(editor: Editor, workflow_id: int) -> dict[str, Any]:
    answer = await editor.get(f"/workflow/{workflow_id}/export")
    assert answer.status_code == 200, answer.text
    exported: dict[str, Any] = answer.json()
    return exported


async def import_file(editor: Editor, file: dict[str, Any]) -> dict[str, Any]:
    answer = await editor.post("/workflow/import", json=file)
    assert answer.status_code == 200, answer.text
    imported: dict[str, Any] = answer.json()
    return imported


def data_of(workflow: dict[str, Any], node_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(node["data"] for node in workflow["definition"]["nodes"] if node["id"] == node_id)
    return found


class TestExport:
    async def test_who_may(self, client: AsyncClient, editor: Editor, other_editor: Editor, viewer: Editor) -> None:
        path = f"/workflow/{(await editor.create())['id']}/export"
        assert (await client.get(path)).status_code == 401
        assert (await other_editor.get(path)).status_code == 404
        assert (await editor.get("/workflow/0/export")).status_code in (404, 422)
        answer = await viewer.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == 'attachment; filename="Agent.agent.json"'

    async def test_no_secret_leaves_and_what_was_left_out_is_listed(self, editor: Editor) -> None:
        created = await make_agent(editor)
        file = await export(editor, created["id"])
        assert SECRET not in json.dumps(file)
        assert "my-path" not in json.dumps(file)
        assert (file["format"], file["version"], file["name"]) == ("offhook.agent", 1, "Orders")
        assert [part["name"] for part in file["credentials"]] == ["CRM"]
        assert [(part["id"], part["name"]) for part in file["tools"]] == [("tool-1", "Find order")]
        assert file["omitted"] == [
            "workflow_definition.nodes.data.endpoint_url.api_key",
            "workflow_definition.nodes.data.custom_headers.Authorization",
            "workflow_configurations.vendor_api_key",
            "tool-1.config.headers.X-Api-Key",
        ]

    async def test_the_same_agent_gives_the_same_file(self, editor: Editor) -> None:
        created = await make_agent(editor)
        first, second = [await editor.get(f"/workflow/{created['id']}/export") for _ in range(2)]
        assert first.content == second.content


class TestImport:
    async def test_who_may(self, client: AsyncClient, editor: Editor, viewer: Editor) -> None:
        file = await export(editor, (await editor.create())["id"])
        assert (await client.post("/workflow/import", json=file)).status_code == 401
        assert (await viewer.post("/workflow/import", json=file)).status_code == 403

    async def test_into_the_same_organization(self, editor: Editor) -> None:
        created = await make_agent(editor)
        imported = await import_file(editor, await export(editor, created["id"]))
        workflow = imported["workflow"]
        assert (workflow["name"], workflow["version_status"], imported["created_tools"]) == ("Orders", "draft", [])
        before = await editor.fetch(created["id"])
        assert data_of(workflow, "a") == data_of(before, "a")
        assert data_of(workflow, "w")["credential_uuid"] == data_of(before, "w")["credential_uuid"]
        assert data_of(workflow, "t")["trigger_path"] not in ("", "my-path")
        assert workflow["workflow_configurations"] == {"max_call_duration": 300}
        assert workflow["template_context_variables"] == {"city": "Oslo"}
        assert {part["kind"] for part in imported["missing"]} == {"value"}

    async def test_notes_on_the_canvas_come_along(self, editor: Editor) -> None:
        note = {"id": "n", "text": "Ask Ana first", "color": "blue", "position": {"x": 1, "y": 2}, "width": 220}
        drawn = {**definition(start(), agent(), end(), edges=[edge("s", "a"), edge("a", "e")]), "notes": [note]}
        created = await editor.create(drawn)
        checked = (await editor.post(f"/workflow/{created['id']}/validate")).json()
        assert [item for item in checked["errors"] if "note" in str(item)] == []
        published = await editor.post(f"/workflow/{created['id']}/publish")
        assert published.status_code == 200, published.text
        copied = (await import_file(editor, await export(editor, created["id"])))["workflow"]
        assert (await editor.fetch(created["id"]))["definition"]["notes"] == [note]
        assert copied["definition"]["notes"] == [note]

    async def test_into_another_organization(self, editor: Editor, other_editor: Editor) -> None:
        imported = await import_file(other_editor, await export(editor, (await make_agent(editor))["id"]))
        assert imported["created_tools"] == ["Find order"]
        [tool] = (await other_editor.get("/tools/")).json()
        assert data_of(imported["workflow"], "a")["tool_uuids"] == [tool["tool_uuid"]]
        assert tool["definition"]["config"]["credential_uuid"] is None
        assert "credential_uuid" not in data_of(imported["workflow"], "w")
        missing = {(part["kind"], part["name"]): part["message"] for part in imported["missing"]}
        assert missing["credential", "CRM"] == "Add this credential and choose it."

    @pytest.mark.parametrize("hosts", [None, ["crm.example.org"]])
    async def test_a_file_does_not_decide_where_a_secret_goes(
        self, editor: Editor, other_editor: Editor, hosts: list[str] | None
    ) -> None:
        file = await export(editor, (await make_agent(editor))["id"])
        await make_credential(other_editor, hosts=hosts)
        imported = await import_file(other_editor, file)
        [tool] = (await other_editor.get("/tools/")).json()
        assert tool["definition"]["config"]["credential_uuid"] is None
        assert "credential_uuid" not in data_of(imported["workflow"], "w")
        [credential] = (await other_editor.get("/credentials/")).json()
        assert credential["allowed_hosts"] == hosts
        assert any("crm.example.com yet" in part["message"] for part in imported["missing"])

    async def test_a_credential_that_goes_there_already_is_linked(self, editor: Editor, other_editor: Editor) -> None:
        file = await export(editor, (await make_agent(editor))["id"])
        credential = await make_credential(other_editor, hosts=["*.example.com"])
        imported = await import_file(other_editor, file)
        assert data_of(imported["workflow"], "w")["credential_uuid"] == credential

    async def test_documents_and_recordings_that_are_not_there_are_named(self, editor: Editor) -> None:
        file = await export(editor, (await editor.create())["id"])
        file |= {"documents": [{"id": "document-1", "name": "Handbook"}], "recordings": ["hello"]}
        file["workflow_definition"]["nodes"][1]["data"]["document_refs"] = ["document-1"]
        imported = await import_file(editor, file)
        assert [(part["kind"], part["name"]) for part in imported["missing"]] == [
            ("document", "Handbook"),
            ("recording", "hello"),
        ]
        assert data_of(imported["workflow"], "a")["document_refs"] == []

    async def test_models_that_are_not_offered_here_are_left_to_the_defaults(self, editor: Editor) -> None:
        file = await export(editor, (await editor.create())["id"])
        file["workflow_configurations"] = {"models": {"llm": {"provider": "acme", "model": "m"}}}
        imported = await import_file(editor, file)
        assert [part["kind"] for part in imported["missing"]] == ["models"]
        assert imported["workflow"]["workflow_configurations"] == {}

    async def test_a_turn_detector_that_is_not_installed_here_is_left_out(self, editor: Editor) -> None:
        """Otherwise, the agent's next change would be refused because of it."""
        file = await export(editor, (await editor.create())["id"])
        file["workflow_configurations"] = {"turn_detector": True, "early_answers": True}
        imported = await import_file(editor, file)
        assert [(part["kind"], part["name"]) for part in imported["missing"]] == [("models", "Turn detector")]
        assert imported["workflow"]["workflow_configurations"] == {"early_answers": True}

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"format": "other"}, "agent_file_unknown"),
            ({"version": 2}, "agent_file_version"),
            ({"name": " "}, "string_too_short"),
            ({"workflow_definition": {"nodes": 1}}, "definition_invalid"),
            ({"unknown": 1}, "extra_forbidden"),
            ({"workflow_configurations": {"max_call_duration": -1}}, "greater_than_equal"),
        ],
    )
    async def test_what_is_wrong_is_said(self, editor: Editor, change: dict[str, Any], code: str) -> None:
        file = await export(editor, (await editor.create())["id"]) | change
        answer = await editor.post("/workflow/import", json=file)
        assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, code)

    async def test_a_tool_that_cannot_be_stored_leaves_nothing_behind(self, editor: Editor) -> None:
        file = await export(editor, (await editor.create())["id"])
        good = {"id": "tool-1", "name": "Sum", "category": "calculator", "definition": {"type": "calculator"}}
        bad = {"id": "tool-2", **crm_tool(url="ftp://example.com")}
        answer = await editor.post("/workflow/import", json=file | {"tools": [good, bad]})
        assert (answer.status_code, answer.json()["code"]) == (422, "agent_file_invalid")
        assert "“Find order”" in answer.json()["detail"]
        assert (await editor.get("/tools/")).json() == []
        assert len((await editor.get("/workflow/fetch")).json()) == 1

    async def test_an_incomplete_draft_comes_in(self, editor: Editor) -> None:
        file = await export(editor, (await editor.create(definition(start())))["id"])
        assert (await import_file(editor, file))["workflow"]["has_draft"] is True


def test_secrets_are_known_by_their_names() -> None:
    value = {
        "prompt": "Ask for the password.",
        "qa_api_key": "x",
        "headers": {"Authorization": "Bearer x", "accept": "*/*", "X-Access-Token": "x"},
        "max_tokens": 5,
        "url": "https://a.example/?token={{token}}&page=2",
        "rows": [{"key": "Cookie", "value": "x"}, {"key": "Kind", "value": "x"}],
    }
    kept, omitted = without_secrets(value)
    assert kept == {
        "prompt": "Ask for the password.",
        "headers": {"accept": "*/*"},
        "max_tokens": 5,
        "url": "https://a.example/?token={{token}}&page=2",
        "rows": [{"key": "Cookie", "value": ""}, {"key": "Kind", "value": "x"}],
    }
    assert omitted == ["qa_api_key", "headers.Authorization", "headers.X-Access-Token", "rows.Cookie"]
    assert without_secrets(simple()) == (simple(), [])
