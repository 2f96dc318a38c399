"""Scenarios that an agent keeps: they are part of its draft, and go where its versions go."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.kit.redaction.redactor import RedactionRules
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.root import Root
from offhook.scenarios import Scenario, build_scenario_agent, run_suite
from offhook.scenarios.agents import load_agent, load_scenarios, load_version
from offhook.scenarios.files import parse_scenarios, read_scenarios
from offhook.scenarios.stored.from_runs import PastCall, build_call_scenario
from offhook.scenarios.templates import template_scenarios
from offhook.workflows.demo import SLUGS, demo_agent, ensure_demo
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION, agent, play
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer"]

GREETS: dict[str, Any] = {"name": "greets", "caller": {"turns": ["sales please"]}, "expect": {"edges": ["start-sales"]}}
PRESSES: dict[str, Any] = {"name": "presses", "caller": {"turns": [{"press": "2"}]}, "expect": {"end": "support"}}
FILE = """
scenarios:
  - name: greets
    title: Says no
    caller: {turns: [no]}
    expect: {is_over: false}
  - name: another
    caller: {turns: [{press: 2}]}
    expect: {end: support}
"""


@pytest.fixture
async def workflow_id(editor: Editor) -> int:
    return await editor.create_published(DEFINITION, "Shop")


def path(workflow_id: int, more: str = "scenarios") -> str:
    return f"/workflow/{workflow_id}/{more}"


async def names(editor: Editor, workflow_id: int, version: int | None = None) -> list[str]:
    answer = await editor.get(path(workflow_id), params={"version": version} if version else {})
    assert answer.status_code == 200, answer.text
    return [scenario["name"] for scenario in answer.json()["scenarios"]]


async def upload(editor: Editor, workflow_id: int, text: str, mode: str = "add") -> Any:
    headers = {name: value for name, value in editor._headers.items() if name != "Content-Type"}
    files, data = {"file": ("scenarios.yaml", text.encode())}, {"mode": mode}
    return await editor.client.post(path(workflow_id, "scenario-file"), files=files, data=data, headers=headers)


class TestReadingAndWriting:
    async def test_an_agent_begins_without_any(self, editor: Editor, workflow_id: int) -> None:
        answer = await editor.get(path(workflow_id))
        assert answer.json()["scenarios"] == []
        assert answer.headers["ETag"] == f'"{answer.json()["revision"]}"'

    async def test_one_is_added_changed_renamed_and_deleted(self, editor: Editor, workflow_id: int) -> None:
        added = await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS)
        assert (added.status_code, added.json()["version_status"]) == (200, "draft")
        await editor.put(path(workflow_id, "scenarios/presses"), json=PRESSES)
        await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS | {"title": "Wants to buy"})
        one = await editor.get(path(workflow_id, "scenarios/greets"))
        assert one.json() == GREETS | {"title": "Wants to buy"}
        renamed = await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS | {"name": "wants-to-buy"})
        assert [each["name"] for each in renamed.json()["scenarios"]] == ["wants-to-buy", "presses"]
        deleted = await editor.delete(path(workflow_id, "scenarios/presses"))
        assert [each["name"] for each in deleted.json()["scenarios"]] == ["wants-to-buy"]
        assert (await editor.delete(path(workflow_id, "scenarios/presses"))).json()["code"] == "scenario_not_found"
        assert (await editor.get(path(workflow_id, "scenarios/presses"))).status_code == 404

    async def test_a_name_that_is_taken_changes_nothing(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS, PRESSES]})
        answer = await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS | {"name": "presses"})
        assert (answer.status_code, answer.json()["code"]) == (422, "scenarios_invalid")
        assert answer.json()["detail"]["issues"][0]["code"] == "name_taken"
        assert await names(editor, workflow_id) == ["greets", "presses"]

    async def test_a_mistake_is_named_with_its_place(self, editor: Editor, workflow_id: int) -> None:
        wrong = GREETS | {"expect": {"edgs": ["x"]}}
        answer = await editor.put(path(workflow_id), json={"scenarios": [PRESSES, wrong]})
        (problem,) = [each for each in answer.json()["detail"] if each["type"] == "extra_forbidden"]
        assert (answer.status_code, problem["loc"]) == (422, ["body", "scenarios", 1, "expect", "edgs"])
        assert await names(editor, workflow_id) == []

    async def test_too_much_is_refused(self, editor: Editor, workflow_id: int) -> None:
        long = GREETS | {"documents": {"a": "x" * 1_100_000}}
        answer = await editor.put(path(workflow_id), json={"scenarios": [long]})
        assert answer.json()["detail"]["issues"][0]["code"] == "scenarios_too_large"

    async def test_somebody_elses_change_is_not_overwritten(self, editor: Editor, workflow_id: int) -> None:
        revision = (await editor.get(path(workflow_id))).json()["revision"]
        body = {"scenarios": [GREETS], "expected_revision": revision}
        assert (await editor.put(path(workflow_id), json=body)).status_code == 200
        assert (await editor.put(path(workflow_id), json=body | {"scenarios": []})).json()[
            "code"
        ] == "revision_conflict"

    async def test_the_same_again_makes_no_draft(self, editor: Editor, workflow_id: int) -> None:
        answer = await editor.put(path(workflow_id), json={"scenarios": []})
        assert answer.json()["version_status"] == "published"
        assert await editor.versions(workflow_id) == [(1, "published")]

    async def test_a_viewer_reads_only(self, viewer: Editor, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
        assert await names(viewer, workflow_id) == ["greets"]
        for answer in (
            await viewer.put(path(workflow_id), json={"scenarios": []}),
            await viewer.put(path(workflow_id, "scenarios/greets"), json=GREETS),
            await viewer.delete(path(workflow_id, "scenarios/greets")),
            await upload(viewer, workflow_id, FILE),
        ):
            assert answer.status_code == 403
        assert (await viewer.post(path(workflow_id, "scenario-check"), json={"yaml": FILE})).status_code == 200

    async def test_strangers_see_nothing(
        self, client: AsyncClient, editor: Editor, other_editor: Editor, workflow_id: int
    ) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
        for more in ("scenarios", "scenarios/greets", "scenario-file"):
            assert (await client.get(path(workflow_id, more))).status_code == 401
            assert (await other_editor.get(path(workflow_id, more))).json()["code"] == "workflow_not_found"
        assert (await other_editor.put(path(workflow_id), json={"scenarios": []})).status_code == 404
        assert await names(editor, workflow_id) == ["greets"]


class TestFiles:
    async def test_a_file_is_added_to_what_is_there(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS, PRESSES]})
        answer = await upload(editor, workflow_id, FILE)
        assert [each["name"] for each in answer.json()["scenarios"]] == ["greets", "presses", "another"]
        assert answer.json()["scenarios"][0]["caller"]["turns"] == ["no"]

    async def test_a_file_replaces_what_is_there(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [PRESSES]})
        await upload(editor, workflow_id, FILE, "replace")
        assert await names(editor, workflow_id) == ["greets", "another"]

    async def test_what_is_downloaded_is_what_was_uploaded(self, editor: Editor, workflow_id: int) -> None:
        await upload(editor, workflow_id, FILE)
        answer = await editor.get(path(workflow_id, "scenario-file"))
        assert answer.headers["content-type"].startswith("application/yaml")
        assert read_scenarios(answer.content) == read_scenarios(FILE)

    @pytest.mark.parametrize("text", ["scenarios: [", "a: &x 1\nb: *x", "\xff", "scenarios: [{name: A}]"])
    async def test_a_wrong_file_changes_nothing(self, editor: Editor, workflow_id: int, text: str) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [PRESSES]})
        checked = await editor.post(path(workflow_id, "scenario-check"), json={"yaml": text})
        answer = await upload(editor, workflow_id, text, "replace")
        assert (answer.status_code, answer.json()["code"]) == (422, "scenarios_invalid")
        assert checked.json() == {
            "is_valid": False,
            "issues": answer.json()["detail"]["issues"],
            "scenarios": [],
            "yaml": None,
        }
        assert await names(editor, workflow_id) == ["presses"]

    async def test_the_check_of_a_right_file_writes_it_again(self, editor: Editor, workflow_id: int) -> None:
        checked = (await editor.post(path(workflow_id, "scenario-check"), json={"yaml": FILE})).json()
        assert (checked["is_valid"], [each["name"] for each in checked["scenarios"]]) == (True, ["greets", "another"])
        assert read_scenarios(checked["yaml"]) == read_scenarios(FILE)


class TestVersions:
    async def test_each_version_keeps_its_own(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
        await editor.publish(workflow_id)
        await editor.post(path(workflow_id, "create-draft"))
        assert await names(editor, workflow_id) == ["greets"]  # a new draft begins with them
        await editor.put(path(workflow_id), json={"scenarios": [PRESSES]})
        assert [await names(editor, workflow_id, number) for number in (1, 2, 3)] == [[], ["greets"], ["presses"]]
        await editor.post(path(workflow_id, "versions/2/restore"))
        assert await names(editor, workflow_id) == ["greets"]
        assert (await editor.get(path(workflow_id), params={"version": 9})).status_code == 404

    async def test_a_change_of_the_graph_leaves_them_alone(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
        await editor.put(f"/workflow/{workflow_id}", json={"template_context_variables": {"a": 1}})
        assert await names(editor, workflow_id) == ["greets"]

    async def test_a_duplicate_has_them_too(self, editor: Editor, workflow_id: int) -> None:
        await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
        copy = (await editor.post(path(workflow_id, "duplicate"))).json()["id"]
        assert await names(editor, copy) == ["greets"]

    async def test_an_exported_agent_takes_them_along(
        self, editor: Editor, other_editor: Editor, workflow_id: int
    ) -> None:
        secret = GREETS | {"context": {"name": "Ada", "api_key": "sk-1"}}
        await editor.put(path(workflow_id), json={"scenarios": [secret, PRESSES]})
        file = (await editor.get(path(workflow_id, "export"))).json()
        assert "sk-1" not in str(file)
        assert "scenarios[0].context.api_key" in file["omitted"]
        imported = await other_editor.post("/workflow/import", json=file)
        assert imported.status_code == 200, imported.text
        kept = (await other_editor.get(path(imported.json()["workflow"]["id"]))).json()["scenarios"]
        assert kept == [GREETS | {"context": {"name": "Ada"}}, PRESSES]

    async def test_a_file_of_an_agent_with_a_wrong_one_makes_nothing(self, editor: Editor, workflow_id: int) -> None:
        file = (await editor.get(path(workflow_id, "export"))).json() | {"scenarios": [{"name": "x"}]}
        answer = await editor.post("/workflow/import", json=file)
        assert (answer.status_code, answer.json()["code"]) == (422, "scenarios_invalid")
        assert (await editor.get("/workflow/count")).json()["total"] == 1


class TestAgentsOfTheCatalog:
    async def test_an_agent_of_a_template_has_its_scenarios(self, root: Root, org: OrgFixture, editor: Editor) -> None:
        made = (await editor.post("/workflow/templates/reception/create")).json()["id"]
        assert await names(editor, made) == [scenario.name for scenario in template_scenarios("reception")]
        async with root.db.transaction() as session:
            version = await load_version(session, org.id, made, is_draft=True)
            kept, loaded = await load_scenarios(session, version), await load_agent(session, version)
        assert kept == template_scenarios("reception")
        # its document is still being read
        assert loaded.documents == {}

    async def test_a_demo_agent_has_those_that_need_no_document(
        self, root: Root, org: OrgFixture, editor: Editor
    ) -> None:
        async with root.db.transaction() as session:
            made = await ensure_demo(session, org.id, None)
        found = {name for workflow_id in made for name in await names(editor, workflow_id)}
        expected = {str(scenario["name"]) for slug in SLUGS for scenario in demo_agent(slug)["scenarios"]}
        assert found == expected
        assert len(found) > 9

    @pytest.mark.parametrize("slug", SLUGS)
    def test_they_pass(self, slug: str) -> None:
        demo = demo_agent(slug)
        made = build_scenario_agent(demo["name"], demo["definition"])
        result = run_suite(made, parse_scenarios(demo["scenarios"]), BuiltinLlm)
        assert {found.name: found.faults for found in result.results if not found.has_passed} == {}


def call_of(scenario: Scenario, **more: Any) -> PastCall:
    """The call that this scenario would have been."""
    from_agent = play(agent(), **scenario.model_dump(mode="json", exclude_defaults=True)).played
    assert from_agent is not None
    journal = [{"type": event.type, "data": event.data} for event in from_agent.journal]
    gathered: dict[str, Any] = {"extracted_variables": dict(from_agent.variables)}
    return PastCall(7, scenario.now, {"first_name": "Ada"}, gathered, journal, **more)


class TestMadeFromACall:
    def test_what_was_said_and_pressed_holds_again(self) -> None:
        call = Scenario.model_validate(
            {"name": "x", "caller": {"turns": ["sales please", "london"]}, "expect": {"is_over": True}}
        )
        made = build_call_scenario(call_of(call))
        assert made is not None
        assert (made.name, made.title, made.tags, made.context) == (
            "call-7",
            "Call 7",
            ("from-call",),
            {"first_name": "Ada"},
        )
        assert [turn.say for turn in made.caller.turns] == ["sales please", "london"]
        assert made.expect.edges == ("start-sales", "sales-bye")
        assert play(agent(), **made.model_dump(mode="json", exclude_defaults=True) | {"name": "x"}).has_passed
        other = made.model_copy(update={"caller": made.caller.model_copy(update={"turns": made.caller.turns[:1]})})
        assert not play(agent(), **other.model_dump(mode="json", exclude_defaults=True) | {"name": "x"}).has_passed

    def test_keys_and_silence_are_acts_too(self) -> None:
        silent = {"name": "x", "caller": {"turns": [{"silence_s": 500}]}, "expect": {"end_reason": "idle"}}
        made = build_call_scenario(call_of(Scenario.model_validate(silent)))
        assert made is not None
        again = play(agent(), **made.model_dump(mode="json", exclude_defaults=True) | {"name": "x"})
        assert again.played is not None
        assert again.played.end_reason == "idle"
        pressed = build_call_scenario(call_of(Scenario.model_validate(PRESSES)))
        assert pressed is not None
        assert [turn.press for turn in pressed.caller.turns] == ["2"]

    def test_tools_answer_as_they_did(self) -> None:
        journal: list[dict[str, Any]] = [
            {"type": "caller_said", "data": {"text": "Where is it?"}},
            {"type": "caller_said", "data": {"text": "hm", "ignored": "noise"}},
            {"type": "tool_called", "data": {"id": "1", "name": "look_up", "arguments": {"n": 1}}},
            {"type": "tool_answered", "data": {"id": "1", "name": "look_up", "ok": True, "result": {"at": "van"}}},
            {"type": "tool_called", "data": {"id": "2", "name": "look_up", "arguments": {"n": 2}}},
            {"type": "tool_answered", "data": {"id": "2", "name": "look_up", "ok": False, "error": "gone"}},
            {"type": "tool_called", "data": {"id": "3", "name": "hang_up", "arguments": {}}},
            {"type": "tool_called", "data": {"id": "4", "name": "connect", "arguments": {}}},
            {"type": "tool_answered", "data": {"id": "4", "name": "connect", "ok": False, "error": "busy"}},
            {"type": "call_ended", "data": {"end_reason": "agent_ended", "outcome": "answered"}},
        ]
        now = Scenario.model_validate(GREETS).now
        past = PastCall(1, now, {}, {}, journal, real_tools={"hang_up"}, transfers={"connect"})
        made = build_call_scenario(past)
        assert made is not None
        assert [turn.say for turn in made.caller.turns] == ["Where is it?"]
        assert {
            name: [mock.model_dump(exclude_defaults=True) for mock in mocks] for name, mocks in made.tools.items()
        } == {
            "look_up": [
                {"arguments": {"n": 1}, "result": {"at": "van"}},
                {"arguments": {"n": 2}, "fails": "gone"},
            ],
            "connect": [{"transfer": "no_answer"}],
        }
        assert made.expect.outcome == "answered"

    def test_what_the_organization_redacts_is_not_copied(self) -> None:
        card, phone = "4111 1111 1111 1111", "+14155550123"
        journal: list[dict[str, Any]] = [
            {"type": "agent_said", "data": {"text": "What is your card number?"}},
            {"type": "caller_said", "data": {"text": f"It is {card}, Ada"}},
            {"type": "digits_pressed", "data": {"digits": card.replace(" ", "")}},
            {"type": "digits_pressed", "data": {"digits": "2"}},
            {"type": "edge_taken", "data": {"edge_id": "4155550123"}},
            {"type": "tool_called", "data": {"id": "4155550123", "name": "pay", "arguments": {"phone": phone}}},
            {"type": "tool_answered", "data": {"id": "4155550123", "ok": True, "result": {"sent_to": phone}}},
            {"type": "call_ended", "data": {"end_reason": "agent_ended", "outcome": "answered"}},
        ]
        context: dict[str, Any] = {"first_name": "Ada", "phone_number": phone, "member_number": 12}
        gathered: dict[str, Any] = {"extracted_variables": {"card": card, "day": "Monday"}}
        now = Scenario.model_validate(GREETS).now
        made = build_call_scenario(
            PastCall(1, now, context, gathered, journal, redaction=RedactionRules({"card", "phone"}))
        )
        assert made is not None
        assert made.context == {"first_name": "Ada", "phone_number": "[phone]", "member_number": 12}
        assert [turn.say or turn.press for turn in made.caller.turns] == ["It is [card], Ada", "2"]
        assert made.expect.edges == ("4155550123",)
        assert made.expect.variables == {"card": "[card]", "day": "Monday"}
        (mock,) = made.tools["pay"]
        assert (mock.arguments, mock.result) == ({"phone": "[phone]"}, {"sent_to": "[phone]"})
        whole = build_call_scenario(PastCall(1, now, context, gathered, journal))
        assert whole is not None
        assert whole.context == context

    async def test_over_http(self, editor: Editor, other_editor: Editor, client: AsyncClient, workflow_id: int) -> None:
        chats = f"/workflow/{workflow_id}/text-chat/sessions"
        chat = (await editor.post(chats, json={})).json()["workflow_run_id"]
        asked = path(workflow_id, f"runs/{chat}/scenario")
        assert (await editor.get(asked)).json()["code"] == "run_not_over"
        await editor.post(f"{chats}/{chat}/messages", json={"text": "it is broken"})
        await editor.post(f"{chats}/{chat}/end", json={})
        answer = await editor.get(asked)
        assert answer.status_code == 200, answer.text
        assert answer.json()["caller"]["turns"][0] == "it is broken"
        assert answer.json()["expect"]["edges"] == ["start-support"]
        assert (await client.get(asked)).status_code == 401
        assert (await other_editor.get(asked)).status_code == 404
        log = (await editor.get("/organizations/audit-log")).json()["entries"]
        assert [entry["target"] for entry in log if entry["action"] == "run_scenario.read"] == [f"run:{chat}"]
        assert await names(editor, workflow_id) == []  # nothing is stored before somebody has looked at it
        stored = await editor.put(path(workflow_id, f"scenarios/call-{chat}"), json=answer.json())
        assert stored.status_code == 200, stored.text

    async def test_a_call_without_a_word_is_none(self, editor: Editor, workflow_id: int) -> None:
        chats = f"/workflow/{workflow_id}/text-chat/sessions"
        chat = (await editor.post(chats, json={})).json()["workflow_run_id"]
        await editor.post(f"{chats}/{chat}/end", json={})
        answer = await editor.get(path(workflow_id, f"runs/{chat}/scenario"))
        assert answer.json()["code"] == "run_without_words"

    async def test_a_chat_from_before_redaction_is_redacted_too(self, editor: Editor, workflow_id: int) -> None:
        chats = f"/workflow/{workflow_id}/text-chat/sessions"
        started = await editor.post(chats, json={"initial_context": {"phone": "+14155550123"}})
        chat = started.json()["workflow_run_id"]
        await editor.post(f"{chats}/{chat}/messages", json={"text": "it is broken, write to ada@example.com"})
        await editor.post(f"{chats}/{chat}/end", json={})
        asked = path(workflow_id, f"runs/{chat}/scenario")
        assert "ada@example.com" in (await editor.get(asked)).text
        await editor.put("/organizations/redaction", json={"kinds": ["email", "phone"]})
        answer = await editor.get(asked)
        assert answer.json()["caller"]["turns"][0] == "it is broken, write to [email]"
        assert answer.json()["context"]["phone"] == "[phone]"

    async def test_an_agent_that_keeps_nothing_gives_none(self, editor: Editor, workflow_id: int) -> None:
        kept = await editor.put(f"/workflow/{workflow_id}", json={"workflow_configurations": {"do_not_keep": True}})
        assert kept.status_code == 200, kept.text
        await editor.publish(workflow_id)
        chats = f"/workflow/{workflow_id}/text-chat/sessions"
        chat = (await editor.post(chats, json={})).json()["workflow_run_id"]
        await editor.post(f"{chats}/{chat}/messages", json={"text": "it is broken"})
        await editor.post(f"{chats}/{chat}/end", json={})
        answer = await editor.get(path(workflow_id, f"runs/{chat}/scenario"))
        assert (answer.status_code, answer.json()["code"]) == (409, "run_not_kept")
