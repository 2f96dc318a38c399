"""Every operation of the interface that changes something: who may, and that the audit log has it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from httpx2 import AsyncClient
from starlette.routing import BaseRoute

from offhook.kit.database.database import _request_session
from offhook.orgs.audit_trail.recorder import CHANGING_METHODS, UNRECORDED_OPERATIONS
from offhook.orgs.dependencies import current_caller
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import make_workflow, workflow_id

__all__ = ["make_workflow", "workflow_id"]

SOURCE = Path(__file__).parents[2] / "src" / "offhook"

# operation_id: the entry that it writes itself, because it has no transaction of its request or no caller yet.
WRITES_ITS_OWN = {
    "login": "user.logged_in",
    "sign_in_by_link": "user.followed_link",
    "pass_second_step": "user.logged_in",
    "finish_provider_sign_in": "user.signed_in_by_provider",
    "put_identity_provider": "identity_provider.saved",
    "accept_invitation": "member.joined",
    "change_password": "user.password_changed",
    "add_organization_credit": "credit.added",
    "create_workflow_from_template": "workflow.created",
    "test_tool": "tool.tested",
    "test_tool_draft": "tool.tested",
    "create_recordings": "recordings.created",
    "delete_recording": "recording.deleted",
    "delete_workflow_run": "run.deleted",
    "delete_campaign": "campaign.deleted",
    "delete_campaign_contacts": "campaign.contacts_deleted",
    "create_campaign": "campaign.created",
    "start_campaign": "campaign.started",
    "refresh_mcp_tool": "tool.refreshed",
    "upload_document": "document.created",
    "add_web_page": "document.created",
    "read_web_page_again": "document.read_again",
    "create_telephony_config": "telephony_config.created",
    "update_telephony_config": "telephony_config.updated",
    "delete_telephony_config": "telephony_config.deleted",
    "set_default_telephony_config": "telephony_config.made_default",
    "reactivate_telephony_config": "telephony_config.reactivated",
    "create_telephony_phone_number": "phone_number.created",
    "update_telephony_phone_number": "phone_number.updated",
    "delete_telephony_phone_number": "phone_number.deleted",
    "set_default_caller_phone_number": "phone_number.updated",
    "quick_connect": "phone_number.bought",
    "release_managed_number": "phone_number.released",
    "update_managed_carrier": "managed_carrier.updated",
    "start_voice_pack_installation": "voices.install_started",
    "replay_run_turn": "run.turn_replayed",
    "replay_run": "run.replayed",
}
# operation_id: why there is no entry.
NO_ENTRY = UNRECORDED_OPERATIONS | {
    "signup": "a request of a stranger, who has no organization",
    "look_at_invitation": "changes nothing",
    "delete_organization": "the log goes with the organization: the receipt is the record",
    "start_provider_sign_in": "a stranger, until the provider says who it is",
    "create_recording_upload_urls": "signs links; the recording is made, and recorded, by another request",
    "transcribe_recording": "a question: changes nothing",
    "search_knowledge": "a question: changes nothing",
    "check_scenarios": "a question: changes nothing",
    "propose_scenarios": "a question: changes nothing",
    "check_model_configurations": "a question to the vendors: changes nothing",
    "preview_voice": "a question: changes nothing, and what it costs is bounded",
    "test_webhook": "changes nothing: a letter that is neither stored nor numbered",
    "test_phone_call": "the run is the record: who, when, to which number, at what cost",
    "place_campaign_test_call": "the run is the record: who, when, to which number, at what cost",
    "trigger_agent": "the run is the record, with the key in its context",
    "hang_up_call": "the run is the record: its events and its end",
    "start_text_chat": "the run is the record",
}
# Reads of what is the same for every organization.
OF_THE_PRODUCT = {
    "get_model_configuration_defaults", "get_node_type", "get_telephony_providers_metadata", "get_voice_pack_offer",
    "list_node_types", "list_workflow_templates",
}  # fmt: skip
# Changing operations that need no role: what a person may do for himself, and questions asked by POST.
FOR_EVERYONE = {
    "signup", "login", "sign_in_by_link", "accept_invitation", "look_at_invitation", "logout",
    "change_own_name", "change_password", "delete_account", "end_session", "switch_organization", "remove_member", "validate_workflow",
    "search_knowledge", "check_scenarios", "pass_second_step", "enroll_second_factor", "confirm_second_factor", "renew_recovery_codes",
    "remove_second_factor", "create_run_view", "update_run_view", "delete_run_view",
    "start_provider_sign_in", "finish_provider_sign_in",
}  # fmt: skip
FOR_ANYONE_AT_ALL = {
    "signup", "login", "sign_in_by_link", "pass_second_step", "accept_invitation", "look_at_invitation",
    "start_provider_sign_in", "finish_provider_sign_in",
}  # fmt: skip
ADMIN_ONLY = re.compile(
    r"^/(organizations/(api-keys|members|invitations|webhooks|telephony-configs|audit-log|current|deletion|second-factor-demand|identity-provider)|user/api-keys|superuser)\b"
)
ADMIN_ONLY_OPERATIONS = {"put_publish_gate"}
ADMIN_ONLY_EXCEPT = {"remove_member"}
# Without a caller of ours: a carrier's or a link's signature is the permission.
OF_CARRIERS = re.compile(
    r"^/(telephony/(inbound|transfer-result|cloudonix|plivo|telnyx|twilio|vobiz|vonage)|s3/|files/|workflow-recordings/uploads/)"
)


def changing(app: FastAPI) -> Iterator[tuple[str, str, str]]:
    """(method, path under /api/v1, operation_id) as the description has them."""
    for path, operations in app.openapi()["paths"].items():
        for method, operation in operations.items():
            short = path.removeprefix("/api/v1")
            if method.upper() in CHANGING_METHODS and not OF_CARRIERS.match(short):
                yield method.upper(), short, operation["operationId"]


def built(route: APIRoute) -> APIRoute:
    return APIRoute(
        route.path,
        route.endpoint,
        operation_id=route.operation_id,
        methods=route.methods,
        dependencies=route.dependencies,
        response_model=None,
    )


def routes(app: FastAPI) -> dict[str, APIRoute]:
    """By operation_id, each built as it is where its router is included."""
    found: dict[str, APIRoute] = {}

    def walk(items: list[BaseRoute]) -> None:
        for route in items:
            if isinstance(route, APIRoute):
                found[str(route.operation_id)] = built(route)
            inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
            if inner:
                walk(list(inner))

    walk(list(app.routes))
    return found


def calls(dependant: Dependant) -> Iterator[Any]:
    yield dependant.call
    for below in dependant.dependencies:
        yield from calls(below)


def test_every_change_is_in_the_audit_log(app: FastAPI) -> None:
    by_id = routes(app)
    silent = []
    for method, path, operation_id in changing(app):
        if operation_id in NO_ENTRY:
            continue
        if operation_id in WRITES_ITS_OWN:
            action = f'"{WRITES_ITS_OWN[operation_id]}"'
            assert any(action in file.read_text() for file in SOURCE.rglob("*.py")), operation_id
            continue
        used = set(calls(by_id[operation_id].dependant))
        if not {_request_session, current_caller} <= used:
            silent.append(f"{operation_id} ({method} {path}): no Session or no caller, and no reason")
    assert not silent, "\n".join(silent)


def test_reads_can_be_in_the_audit_log(app: FastAPI) -> None:
    # The entry of a read, of which superusers leave one everywhere, is written in the request's transaction.
    silent = []
    for operation_id, route in routes(app).items():
        used = set(calls(route.dependant))
        if "GET" in (route.methods or ()) and current_caller in used and _request_session not in used:
            silent.append(operation_id)
    assert set(silent) == OF_THE_PRODUCT


def test_no_reason_is_left_over(app: FastAPI) -> None:
    known = {operation_id for _, _, operation_id in changing(app)}
    assert not (NO_ENTRY.keys() | WRITES_ITS_OWN.keys()) - known - UNRECORDED_OPERATIONS.keys()
    assert not FOR_EVERYONE - known


def address(path: str) -> str:
    return re.sub(r"\{[^}]*uuid[^}]*\}", "9b2f4c1e-0000-4000-8000-000000000000", path).replace("{", "").replace("}", "")


async def ask(client: AsyncClient, method: str, path: str, headers: dict[str, str] | None) -> int:
    numbered = re.sub(r"\{(?![^}]*uuid)[^}]*\}", "1", path)
    answer = await client.request(method, address(numbered), json={}, headers=headers or {})
    return answer.status_code


async def test_anonymous_changes_nothing(app: FastAPI, client: AsyncClient) -> None:
    answers = [
        (operation_id, await ask(client, method, path, None))
        for method, path, operation_id in changing(app)
        if operation_id not in FOR_ANYONE_AT_ALL
    ]
    assert [(name, status) for name, status in answers if status != 401] == []


async def test_a_viewer_only_reads(app: FastAPI, client: AsyncClient, org: OrgFixture) -> None:
    headers = org.headers_for("viewer")
    answers = [
        (operation_id, await ask(client, method, path, headers))
        for method, path, operation_id in changing(app)
        if operation_id not in FOR_EVERYONE
    ]
    assert [(name, status) for name, status in answers if status != 403] == []


async def test_what_needs_an_admin(app: FastAPI, client: AsyncClient, org: OrgFixture) -> None:
    headers = org.headers_for("member")
    answers = [
        (operation_id, await ask(client, method, path, headers))
        for method, path, operation_id in changing(app)
        if (ADMIN_ONLY.match(path) or operation_id in ADMIN_ONLY_OPERATIONS) and operation_id not in ADMIN_ONLY_EXCEPT
    ]
    assert len(answers) > 5
    assert [(name, status) for name, status in answers if status != 403] == []


async def entries(client: AsyncClient, org: OrgFixture, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get("/organizations/audit-log", params=params, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["entries"]
    return found


class TestWhatNobodyPutIntoWords:
    """Operations whose domain writes no entry of its own."""

    async def test_is_recorded_under_the_operations_name(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int
    ) -> None:
        answer = await client.post(f"/workflow/{workflow_id}/runs", json={"mode": "browser"}, headers=org.key_headers)
        assert answer.status_code == 200
        (entry,) = await entries(client, org)
        assert (entry["action"], entry["target"]) == ("workflow_run.create", f"workflow:{workflow_id}")
        assert (entry["actor_key_id"], entry["actor_key_name"]) == (org.key_id, "Test key")
        assert entry["ip"] is not None

    async def test_a_question_by_post_leaves_nothing(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int
    ) -> None:
        answer = await client.post(f"/workflow/{workflow_id}/validate", headers=org.owner_headers)
        assert answer.status_code == 200
        assert await entries(client, org) == []

    async def test_a_refused_change_leaves_nothing(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (
            await client.post("/workflow/99/runs", json={"mode": "browser"}, headers=org.key_headers)
        ).status_code == 404
        assert await entries(client, org) == []


async def test_filters(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await client.put("/organizations/preferences", json={"timezone": "Asia/Tokyo"}, headers=org.headers_for("member"))
    await client.post("/organizations/api-keys", json={"name": "x"}, headers=org.owner_headers)
    only = '[{"field": "action", "type": "text", "value": "api_key"}]'
    assert [entry["action"] for entry in await entries(client, org, filters=only)] == ["api_key.created"]
    member = org.user_ids["member"]
    by = f'[{{"field": "actor_user_id", "type": "number", "value": {member}}}]'
    (entry,) = await entries(client, org, filters=by)
    assert (entry["action"], entry["actor_email"]) == ("preferences.updated", org.email("member"))
    for bad in ("{", "[1]", '[{"field": "secret", "type": "text", "value": "x"}]'):
        answer = await client.get("/organizations/audit-log", params={"filters": bad}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "filter_invalid")
