"""Workflows over HTTP: who may do what, what is refused, and what the answers look like."""

from datetime import datetime
from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.workflows.conftest import Editor
from tests.workflows.definitions import agent, definition, edge, end, node, simple, start, trigger

WORKFLOW_FIELDS = {
    "id",
    "name",
    "status",
    "folder_id",
    "created_at",
    "updated_at",
    "workflow_uuid",
    "workflow_definition",
    "definition",
    "workflow_configurations",
    "template_context_variables",
    "version_number",
    "version_status",
    "current_definition_id",
    "published_version_number",
    "has_draft",
    "total_runs",
    "revision",
}
ROUTES = [
    ("POST", "/workflow/create/definition", {"name": "A", "workflow_definition": simple()}),
    ("GET", "/workflow/count", None),
    ("GET", "/workflow/fetch", None),
    ("GET", "/workflow/summary", None),
    ("GET", "/workflow/fetch/{id}", None),
    ("PUT", "/workflow/{id}", {"name": "B"}),
    ("PUT", "/workflow/{id}/status", {"status": "archived"}),
    ("POST", "/workflow/{id}/create-draft", None),
    ("POST", "/workflow/{id}/publish", None),
    ("POST", "/workflow/{id}/validate", None),
    ("GET", "/workflow/{id}/versions", None),
    ("POST", "/workflow/{id}/versions/1/restore", None),
    ("GET", "/node-types", None),
    ("GET", "/node-types/startCall", None),
]
OF_ONE = [route for route in ROUTES if "{id}" in route[1]]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_anonymous(client: AsyncClient, method: str, path: str, body: Any) -> None:
    answer = await client.request(method, path.format(id=1), json=body)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


@pytest.mark.parametrize(("method", "path", "body"), OF_ONE)
async def test_another_organization_finds_nothing(
    client: AsyncClient, editor: Editor, other_org: Any, method: str, path: str, body: Any
) -> None:
    workflow_id = (await editor.create())["id"]
    for wrong_id in (workflow_id, 999_999, 2**40):
        answer = await client.request(method, path.format(id=wrong_id), json=body, headers=other_org.key_headers)
        assert answer.status_code == 404
    assert (await editor.fetch(workflow_id))["name"] == "Agent"


@pytest.mark.parametrize(("method", "path", "body"), [route for route in ROUTES if route[0] != "GET"])
async def test_a_viewer_only_reads(
    client: AsyncClient, editor: Editor, org: Any, method: str, path: str, body: Any
) -> None:
    workflow_id = (await editor.create())["id"]
    answer = await client.request(method, path.format(id=workflow_id), json=body, headers=org.headers_for("viewer"))
    assert answer.status_code == (200 if path.endswith("/validate") else 403)


class TestCreate:
    async def test_version_1_is_a_draft(self, editor: Editor) -> None:
        created = await editor.create(simple(), name="  Front desk ")
        assert set(created) == WORKFLOW_FIELDS
        assert created["name"] == "Front desk"
        assert created["workflow_definition"] == created["definition"] == simple()
        assert (created["version_number"], created["version_status"]) == (1, "draft")
        assert (created["published_version_number"], created["has_draft"], created["total_runs"]) == (None, True, 0)
        assert datetime.fromisoformat(created["created_at"]).tzinfo is not None
        assert await editor.fetch(created["id"]) == created

    async def test_a_definition_may_be_incomplete_and_under_its_other_name(self, editor: Editor) -> None:
        body = {"name": "A", "definition": {"nodes": [], "edges": []}}
        answer = await editor.post("/workflow/create/definition", json=body)
        assert answer.status_code == 200
        assert answer.json()["definition"] == {"nodes": [], "edges": []}

    async def test_unknown_keys_are_kept(self, editor: Editor) -> None:
        raw = {**simple(mcp_tool_filters={"t": ["x"]}, house=1), "note": "mine"}
        raw["nodes"][0]["width"] = 3
        assert (await editor.create(raw))["workflow_definition"] == raw

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            ({"workflow_definition": simple()}, "missing"),
            ({"name": "", "workflow_definition": simple()}, "string_too_short"),
            ({"name": "   ", "workflow_definition": simple()}, "string_too_short"),
            ({"name": "x" * 201, "workflow_definition": simple()}, "string_too_long"),
            ({"name": "A"}, "missing"),
            ({"name": "A", "workflow_definition": None}, "dict_type"),
            ({"name": "A", "workflow_definition": []}, "dict_type"),
            ({"name": "A", "workflow_definition": {}}, "definition_invalid"),
            ({"name": "A", "workflow_definition": {"nodes": []}}, "definition_invalid"),
            ({"name": "A", "workflow_definition": {"nodes": {}, "edges": []}}, "definition_invalid"),
            ({"name": "A", "workflow_definition": {"nodes": [1], "edges": []}}, "definition_invalid"),
            ({"name": "A", "workflow_definition": {"nodes": [{}] * 501, "edges": []}}, "definition_too_large"),
            ({"name": "A", "workflow_definition": {"nodes": [], "edges": [{}] * 2001}}, "definition_too_large"),
            (
                {"name": "A", "workflow_definition": definition(start(), agent(document_refs=[*range(5001)]), end())},
                "definition_too_large",
            ),
            (
                {"name": "A", "workflow_definition": {"nodes": [], "edges": [], "x": "y" * 1_100_000}},
                "definition_too_large",
            ),
        ],
    )
    async def test_what_cannot_be_a_draft_is_refused(self, editor: Editor, body: Any, kind: str) -> None:
        answer = await editor.post("/workflow/create/definition", json=body)
        assert answer.status_code == 422
        assert [problem["type"] for problem in answer.json()["detail"]] == [kind]
        assert (await editor.get("/workflow/count")).json()["total"] == 0

    async def test_a_blank_trigger_gets_a_path(self, editor: Editor) -> None:
        raw = definition(start(), trigger(" "), node("t2", "trigger"), trigger("mine", "t3"))
        nodes = (await editor.create(raw))["workflow_definition"]["nodes"]
        paths = [item["data"]["trigger_path"] for item in nodes[1:]]
        assert [len(path) for path in paths] == [36, 36, 4]
        assert paths[0] != paths[1]


class TestFetch:
    async def test_lists_are_newest_first_and_one_organization_s(self, editor: Editor, other_editor: Editor) -> None:
        await other_editor.create(name="Theirs")
        first, second = (await editor.create(name="One"))["id"], await editor.create_published(name="Two")
        answer = await editor.get("/workflow/fetch")
        assert answer.headers["X-Total-Count"] == "2"
        rows = answer.json()
        assert [row["id"] for row in rows] == [second, first]
        assert set(rows[0]) == {
            "id",
            "name",
            "status",
            "folder_id",
            "created_at",
            "total_runs",
            "workflow_uuid",
            "published_version_number",
            "has_draft",
        }
        assert [(row["published_version_number"], row["has_draft"]) for row in rows] == [(1, False), (None, True)]
        assert (await editor.get("/workflow/summary")).json() == [
            {"id": second, "name": "Two"},
            {"id": first, "name": "One"},
        ]

    async def test_any_name_can_be_read(self, editor: Editor) -> None:
        name = 'a "b" \\ c\'; :d %s {e} \u2028 \x7f Élise 日本 🎉'
        created = await editor.create(name=name)
        [shown] = (await editor.get("/workflow/fetch")).json()
        assert (shown["name"], shown["folder_id"]) == (name, None)
        assert datetime.fromisoformat(shown["created_at"]) == datetime.fromisoformat(created["created_at"])

    async def test_by_status(self, editor: Editor) -> None:
        active, archived = (await editor.create())["id"], (await editor.create())["id"]
        await editor.put(f"/workflow/{archived}/status", json={"status": "archived"})
        for text, expected in [
            ("active", [active]),
            ("archived", [archived]),
            ("archived, active", [archived, active]),
            ("", [archived, active]),
        ]:
            for path in ("/workflow/fetch", "/workflow/summary"):
                answer = await editor.get(path, params={"status": text})
                assert [row["id"] for row in answer.json()] == expected
        assert (await editor.get("/workflow/count")).json() == {"total": 2, "active": 1, "archived": 1}
        answer = await editor.get("/workflow/fetch", params={"status": "archived", "limit": 1})
        assert answer.headers["X-Total-Count"] == "1"

    @pytest.mark.parametrize("path", ["/workflow/fetch", "/workflow/summary"])
    async def test_an_unknown_status_is_named(self, editor: Editor, path: str) -> None:
        answer = await editor.get(path, params={"status": "active,gone"})
        assert (answer.status_code, answer.json()["code"]) == (422, "status_filter_invalid")
        assert "gone" in answer.json()["detail"]

    async def test_in_parts(self, editor: Editor) -> None:
        ids = [(await editor.create())["id"] for _ in range(3)]
        answer = await editor.get("/workflow/fetch", params={"limit": 1, "offset": 1})
        assert ([row["id"] for row in answer.json()], answer.headers["X-Total-Count"]) == ([ids[1]], "3")
        assert (await editor.get("/workflow/fetch", params={"limit": 0})).status_code == 422

    async def test_secrets_are_masked_and_a_mask_keeps_the_secret(self, editor: Editor) -> None:
        raw = definition(start(), node("q", "tuner", tuner_api_key="sk-1234567890"))
        created = await editor.create(raw)
        shown = created["workflow_definition"]["nodes"][1]["data"]["tuner_api_key"]
        assert shown == "*********7890"
        renamed = {**created["workflow_definition"], "note": "changed"}
        await editor.put(f"/workflow/{created['id']}", json={"workflow_definition": renamed})
        fetched = await editor.fetch(created["id"])
        assert fetched["workflow_definition"]["nodes"][1]["data"]["tuner_api_key"] == shown
        versions = await editor.get(f"/workflow/{created['id']}/versions")
        assert "sk-1234" not in versions.text

    async def test_a_key_for_qa_is_refused(self, editor: Editor) -> None:
        raw = definition(start(), node("q", "qa", qa_api_key="sk-1234567890"))
        body = {"name": "Desk", "workflow_definition": raw}
        refused = await editor.post("/workflow/create/definition", json=body)
        assert refused.status_code == 422
        assert "model configuration" in refused.text
        assert "sk-1234" not in str([item["msg"] for item in refused.json()["detail"]])
        await editor.create(definition(start(), node("q", "qa", qa_api_key="")))


class TestUpdate:
    async def test_a_name_takes_effect_at_once_and_makes_no_draft(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        answer = await editor.put(f"/workflow/{workflow_id}", json={"name": "New"})
        assert (answer.json()["name"], answer.json()["has_draft"]) == ("New", False)

    async def test_everything_else_goes_into_the_draft(self, editor: Editor) -> None:
        workflow_id = await editor.create_published()
        body = {
            "workflow_definition": definition(start()),
            "workflow_configurations": {"max_call_duration": 60, "mine": [1]},
            "template_context_variables": {"city": "Oslo"},
        }
        answer = (await editor.put(f"/workflow/{workflow_id}", json=body)).json()
        assert (answer["version_number"], answer["version_status"], answer["published_version_number"]) == (
            2,
            "draft",
            1,
        )
        assert {key: answer[key] for key in body} == body
        assert await editor.versions(workflow_id) == [(2, "draft"), (1, "published")]

    async def test_what_was_not_sent_is_kept(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": {"dictionary": "Offhook"}})
        answer = (await editor.put(f"/workflow/{workflow_id}", json={"template_context_variables": {"a": 1}})).json()
        assert answer["workflow_configurations"] == {"dictionary": "Offhook"}
        assert answer["workflow_definition"] == simple()
        assert (await editor.put(f"/workflow/{workflow_id}", json={})).json() == answer

    async def test_a_blanked_trigger_keeps_its_path(self, editor: Editor) -> None:
        created = await editor.create(definition(start(), trigger()))
        path = created["workflow_definition"]["nodes"][1]["data"]["trigger_path"]
        body = {"workflow_definition": definition(start(), trigger(""), trigger("", "new"))}
        nodes = (await editor.put(f"/workflow/{created['id']}", json=body)).json()["workflow_definition"]["nodes"]
        assert nodes[1]["data"]["trigger_path"] == path
        assert nodes[2]["data"]["trigger_path"] not in ("", path)

    @pytest.mark.parametrize(
        "body",
        [
            {"name": ""},
            {"name": 3},
            {"workflow_definition": {"nodes": 1}},
            {"workflow_configurations": []},
            {"template_context_variables": "x"},
            {"template_context_variables": {"x": "y" * 1_100_000}},
        ],
    )
    async def test_bad_input(self, editor: Editor, body: Any) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.put(f"/workflow/{workflow_id}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")


class TestStatus:
    async def test_archive_and_back(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        for status in ("archived", "archived", "active"):
            answer = await editor.put(f"/workflow/{workflow_id}/status", json={"status": status})
            assert (answer.status_code, answer.json()["status"]) == (200, status)

    @pytest.mark.parametrize("status", ["gone", "", None, 3])
    async def test_bad_input(self, editor: Editor, status: Any) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.put(f"/workflow/{workflow_id}/status", json={"status": status})
        assert answer.status_code == 422


class TestValidate:
    async def test_valid(self, editor: Editor) -> None:
        workflow_id = (await editor.create())["id"]
        answer = await editor.post(f"/workflow/{workflow_id}/validate")
        clean = {"is_valid": True, "errors": [], "warnings": [], "findings": []}
        assert answer.status_code == 200
        assert answer.json() | clean == answer.json()

    async def test_findings_of_the_graph_stand_beside_and_do_not_prevent_publishing(self, editor: Editor) -> None:
        edges = [edge("s", "a", "Begin"), edge("a", "e", "Finish", condition="never")]
        workflow_id = (await editor.create(definition(start(), agent(), end(), edges=edges)))["id"]
        report = (await editor.post(f"/workflow/{workflow_id}/validate")).json()
        assert (report["is_valid"], report["errors"], report["warnings"]) == (True, [], [])
        found = [(item["severity"], item["kind"], item["id"], item["code"]) for item in report["findings"]]
        assert found == [("error", "edge", "a-e", "edge_never_taken"), ("error", "node", "e", "end_cut_off")]
        assert (await editor.publish(workflow_id)).status_code == 200

    async def test_invalid_is_200_and_says_what(self, editor: Editor) -> None:
        raw = definition(start(prompt=""), end(), edges=[edge("s", "nowhere")])
        answer = await editor.post(f"/workflow/{(await editor.create(raw))['id']}/validate")
        assert (answer.status_code, answer.json()["is_valid"]) == (200, False)
        assert [(item["kind"], item["id"], item["field"], item["code"]) for item in answer.json()["errors"]] == [
            ("node", "s", "data.prompt", "prompt_required"),
            ("edge", "s-nowhere", "target", "edge_dangling"),
        ]
        assert set(answer.json()["errors"][0]) == {"kind", "id", "field", "code", "message"}

    async def test_variables_that_the_workflow_sets_are_known(self, editor: Editor) -> None:
        workflow_id = (await editor.create(simple(greeting="Hi {{ city }}")))["id"]
        answer = await editor.post(f"/workflow/{workflow_id}/validate")
        assert [item["code"] for item in answer.json()["warnings"]] == ["variable_never_set"]
        await editor.put(f"/workflow/{workflow_id}", json={"template_context_variables": {"city": "Oslo"}})
        assert (await editor.post(f"/workflow/{workflow_id}/validate")).json()["warnings"] == []


@pytest.mark.parametrize(
    "raw",
    [
        definition(start(), edges=[edge("s", "x")]),
        definition(agent()),
        definition(start(), start("s2")),
        definition(start(), trigger("a b")),
        {"nodes": [{}], "edges": [{}]},
    ],
)
async def test_an_invalid_draft_is_saved_but_not_published(editor: Editor, raw: dict[str, Any]) -> None:
    created = await editor.create(raw)
    answer = await editor.publish(created["id"])
    assert (answer.status_code, answer.json()["code"]) == (422, "workflow_invalid")
    detail = answer.json()["detail"]
    assert (detail["is_valid"], bool(detail["errors"])) == (False, True)
    assert await editor.versions(created["id"]) == [(1, "draft")]
