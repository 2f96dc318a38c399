"""The model configuration over HTTP: both shapes, masks, keys that stay where they belong, formats, live checks."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text

from offhook.models.ports import ModelSource
from offhook.models.service import ModelConfigurationStore
from offhook.orgs import Caller
from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from offhook_lab.openai_server import UNAUTHORIZED, serve_openai
from tests.fixtures_orgs import OrgFixture

V2 = "/organizations/model-configurations/v2"
KEY = "sk-live-0123456789abcd"
MASK = "*" * 18 + "abcd"
OPENAI = {"provider": "openai", "model": "gpt-4.1", "api_key": KEY, "temperature": 0.5}
REALTIME = {"provider": "openai_realtime", "api_key": KEY}
SAVED = {"llm": OPENAI, "stt": {"provider": "builtin", "language": "en-GB"}}


async def put(client: AsyncClient, org: OrgFixture, body: Any, status: int = 200) -> Any:
    response = await client.put(V2, json=body, headers=org.owner_headers)
    assert response.status_code == status, response.text
    return response.json()


async def get(client: AsyncClient, org: OrgFixture, path: str = "") -> Any:
    response = await client.get(V2 + path, headers=org.owner_headers)
    assert response.status_code == 200, response.text
    return response.json()


async def stored_keys(root: Root, org: OrgFixture) -> dict[str, Any]:
    async with root.db.transaction() as session:
        return (await root.get(ModelConfigurationStore).load_configuration(session, org.id)).services


async def put_flat(root: Root, org: OrgFixture, flat: dict[str, Any]) -> None:
    async with root.db.transaction() as session:
        caller = Caller.system(org.id, role="owner")
        await root.get(ModelConfigurationStore).put_flat(session, caller, flat)


ROUTES = [
    ("GET", "/defaults"),
    ("GET", ""),
    ("PUT", ""),
    ("POST", "/check"),
    ("GET", "/migration-preview"),
    ("POST", "/migrate"),
    ("POST", "/voice-preview"),
]
# What a member may do who may not configure anything.
FOR_MEMBERS = ("/voice-preview",)


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_anonymous(client: AsyncClient, method: str, path: str) -> None:
    assert (await client.request(method, V2 + path, json={})).status_code == 401


@pytest.mark.parametrize(("method", "path"), [r for r in ROUTES if r[0] != "GET" and r[1] not in FOR_MEMBERS])
async def test_changing_needs_an_admin(client: AsyncClient, org: OrgFixture, method: str, path: str) -> None:
    response = await client.request(method, V2 + path, json={}, headers=org.headers_for("member"))
    assert response.status_code == 403


class TestReading:
    async def test_defaults(self, client: AsyncClient, org: OrgFixture) -> None:
        shown = await get(client, org, "/defaults")
        assert [p["provider"] for p in shown["providers"]["llm"]][:2] == ["builtin", "openai"]
        openai = shown["providers"]["llm"][1]
        assert {"id": "gpt-4.1", "context_tokens": 1_047_576} in openai["models"]
        assert shown["default_providers"] == dict.fromkeys(("llm", "tts", "stt", "embeddings"), "builtin")
        assert shown["local_servers"] == []

    async def test_nothing_is_configured_at_first(self, client: AsyncClient, org: OrgFixture) -> None:
        shown = await get(client, org)
        assert (shown["version"], shown["configuration"], shown["source"]) == (2, {}, "default")
        assert shown["effective"]["llm"]["provider"] == "builtin"


class TestSaving:
    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await put(client, org, SAVED)
        assert answer == await get(client, org)
        assert answer["source"] == "organization"
        assert answer["configuration"]["llm"] == {**OPENAI, "api_key": MASK}
        effective = answer["effective"]
        assert (effective["llm"]["model"], effective["llm"]["has_key"]) == ("gpt-4.1", True)
        assert [service["provider"] for service in effective["fallbacks"]["llm"]] == ["builtin"]
        assert effective["stt"]["language"] == "en-GB"

    async def test_the_other_shape(self, client: AsyncClient, org: OrgFixture) -> None:
        pipeline = {
            "llm": {"provider": "openai", "api_key": [KEY], "model": "gpt-4.1-mini"},
            "tts": {"provider": "builtin", "voice": "en-gb"},
            "stt": {"provider": "builtin", "language": "en"},
        }
        answer = await put(
            client, org, {"version": 2, "mode": "byok", "byok": {"mode": "pipeline", "pipeline": pipeline}}
        )
        assert answer["configuration"]["tts"]["voice_id"] == "en-gb"
        assert answer["effective"]["llm"]["model"] == "gpt-4.1-mini"
        assert (await stored_keys(root_of(client), org))["llm"]["api_key"] == KEY

    @pytest.mark.parametrize(
        ("body", "named"),
        [
            ({"llm": {"provider": "nobody"}}, "allowed: builtin, openai"),
            ({"llm": {**OPENAI, "model": "gpt-99"}}, "gpt-4.1-mini"),
            ({"llm": {"provider": "openai"}}, "requires an API key"),
            ({"llm": {**OPENAI, "temperature": 3}}, "less than or equal to 2"),
            ({"llm": {**OPENAI, "temperature": True}}, "number"),
            ({"llm": {**OPENAI, "max_tokens": 0}}, "greater than or equal to 1"),
            ({"llm": {**OPENAI, "api_key": "***"}}, "mask"),
            ({"llm": {**OPENAI, "api_key": "line\nbreak"}}, "match pattern"),
            ({"llm": {**OPENAI, "base_url": "ftp://models.example"}}, "must be a URL"),
            ({"llm": {**OPENAI, "base_url": "http://10.0.0.1/v1"}}, "not public"),
            ({"llm": {**OPENAI, "base_url": "http://127.0.0.1:11434/v1"}}, "not public"),
            ({"llm": {**OPENAI, "base_url": "http://169.254.169.254/latest"}}, "not public"),
            ({"llm": {**OPENAI, "surprise": 1}}, "Extra inputs"),
            ({"llm": "openai"}, "valid dictionary"),
            ({"tts": {"provider": "builtin", "voice_id": "../x"}}, "voice"),
            ({"tts": {"provider": "builtin", "speed": 3.5}}, "0.5 to 2"),
            ({"stt": {"provider": "builtin", "language": "?"}}, "match pattern"),
            ({"fallbacks": {"llm": [OPENAI] * 6}}, "at most 5"),
            ({"fallbacks": {"llm": [{"provider": "nobody"}]}}, "allowed"),
            ({"embeddings": {"provider": "nobody"}}, "builtin"),
            ({"mode": "dograh", "dograh": {"api_key": "k"}}, "byok"),
            ({"mode": "byok", "byok": {"mode": "realtime"}}, "byok.realtime is required"),
            ({"realtime": {"provider": "openai_realtime"}}, "requires an API key"),
            ({"realtime": {**REALTIME, "voice_id": "nobody"}}, "known: marin"),
            ({"realtime": {**REALTIME, "model": "gpt-99"}}, "gpt-realtime-2"),
            ({"realtime": {"provider": "grok_realtime", "api_key": KEY}}, "allowed: openai_realtime"),
            ({"is_realtime": True}, "models.realtime.provider"),
            ([], "valid dictionary"),
        ],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, body: Any, named: str) -> None:
        assert named in json.dumps(await put(client, org, body, 422))
        assert (await get(client, org))["source"] == "default"

    async def test_it_is_in_the_audit_log_without_the_key(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        await put(client, org, SAVED)
        async with root.db.transaction() as session:
            entry = (
                await session.execute(select(AuditEntry).where(AuditEntry.action == "models.configured"))
            ).scalar_one()
        assert entry.data["keys_changed"] == ["llm"]
        assert KEY not in json.dumps(entry.data)


def root_of(client: AsyncClient) -> Root:
    return client._transport.app.state.root  # type: ignore[attr-defined, no-any-return]


class TestKeys:
    @pytest.mark.parametrize("sent", [{"api_key": MASK}, {}])
    async def test_the_mask_or_nothing_keeps_it(
        self, client: AsyncClient, root: Root, org: OrgFixture, sent: dict[str, str]
    ) -> None:
        await put(client, org, SAVED)
        await put(client, org, {"llm": {"provider": "openai", "model": "gpt-4.1-mini", **sent}})
        services = await stored_keys(root, org)
        assert (services["llm"]["api_key"], services["llm"]["model"]) == (KEY, "gpt-4.1-mini")

    async def test_null_removes_it(self, client: AsyncClient, org: OrgFixture) -> None:
        await put(client, org, SAVED)
        answer = await put(client, org, {"llm": {"provider": "openai", "api_key": None}}, 422)
        assert (answer["code"], answer["field"]) == ("key_missing", "models.llm.api_key")

    async def test_another_mask_is_refused(self, client: AsyncClient, org: OrgFixture) -> None:
        await put(client, org, SAVED)
        answer = await put(client, org, {"llm": {"provider": "openai", "api_key": "*" * 18 + "zzzz"}}, 422)
        assert answer["code"] == "key_masked"

    @pytest.mark.parametrize("sent", [{"api_key": MASK}, {}])
    async def test_it_never_goes_to_another_address(
        self, client: AsyncClient, root: Root, org: OrgFixture, sent: dict[str, str]
    ) -> None:
        await put(client, org, SAVED)
        moved = {"llm": {"provider": "openai", "base_url": "https://93.184.216.34/v1", "model": "m", **sent}}
        await put(client, org, moved, 422 if sent else 200)
        services = await stored_keys(root, org)
        assert services["llm"].get("api_key") == (KEY if sent else None)

    async def test_fallbacks_keep_theirs_when_they_change_places(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        other = {
            "provider": "openai",
            "model": "m",
            "base_url": "https://93.184.216.34/v1",
            "api_key": "other-key-9999",
        }
        answer = await put(client, org, {"fallbacks": {"llm": [OPENAI, other]}})
        swapped = list(reversed(answer["configuration"]["fallbacks"]["llm"]))
        await put(client, org, {"fallbacks": {"llm": swapped}})
        kept = (await stored_keys(root, org))["fallbacks"]["llm"]
        assert [service["api_key"] for service in kept] == ["other-key-9999", KEY]

    async def test_at_rest_there_is_no_key(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await put(client, org, SAVED)
        async with root.db.transaction() as session:
            row = (
                await session.execute(text("SELECT configuration::text, sealed_keys FROM model_configurations"))
            ).one()
        assert KEY not in row[0]
        assert KEY.encode() not in bytes(row[1])

    async def test_moved_to_another_organization_it_does_not_open(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        await put(client, org, SAVED)
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE model_configurations SET organization_id = :id"), {"id": other_org.id})
        assert "api_key" not in (await get(client, other_org))["configuration"]["llm"]

    async def test_another_organization_sees_nothing(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        await put(client, org, SAVED)
        for path in ("", "/defaults", "/migration-preview"):
            assert "abcd" not in json.dumps(await get(client, other_org, path))
        assert (await get(client, other_org))["source"] == "default"


FLAT = {
    "llm_provider": "openai",
    "llm_model": "gpt-4.1",
    "llm_temperature": 0.2,
    "llm_api_key": KEY,
    "tts_provider": "builtin",
    "tts_voice": "en-gb",
    "stt_language": "en-US",
}


class TestFormats:
    async def test_at_version_2_there_is_nothing_to_do(self, client: AsyncClient, org: OrgFixture) -> None:
        before = await put(client, org, SAVED)
        preview = await get(client, org, "/migration-preview")
        assert (preview["current_version"], preview["target_version"], preview["changes"]) == (2, 2, [])
        response = await client.post(f"{V2}/migrate", headers=org.owner_headers)
        assert (response.status_code, response.json()) == (200, before)

    async def test_preview_then_migrate(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await put_flat(root, org, FLAT)
        preview = await get(client, org, "/migration-preview")
        assert preview["current_version"] == 1
        assert {"path": "tts.voice_id", "from": "en-gb", "to": "en-gb"} in preview["changes"]
        assert KEY not in json.dumps(preview)
        migrated = (await client.post(f"{V2}/migrate", headers=org.owner_headers)).json()
        assert migrated["configuration"] == preview["configuration"]
        assert (await get(client, org, "/migration-preview"))["current_version"] == 2
        assert (await stored_keys(root, org))["llm"]["api_key"] == KEY

    async def test_calls_use_the_old_format_as_well(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await put_flat(root, org, FLAT)
        assert (await get(client, org))["effective"]["llm"]["temperature"] == 0.2
        source = root.get(ModelSource)  # type: ignore[type-abstract]
        models = await source.for_organization(org.id, {"models": {"llm": {"model": "gpt-4.1-mini"}}})
        assert [llm.model_ref.model for llm in models.llm] == ["gpt-4.1-mini", "rules"]

    async def test_what_fits_no_longer_is_refused_and_calls_are_answered(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        await put_flat(root, org, FLAT)
        async with root.db.transaction() as session:
            await session.execute(
                text('UPDATE model_configurations SET configuration = configuration || \'{"llm_model": "gone"}\'')
            )
        for method, path in (("GET", "/migration-preview"), ("POST", "/migrate")):
            response = await client.request(method, V2 + path, headers=org.owner_headers)
            assert (response.status_code, response.json()["code"]) == (422, "unknown_model")
        assert (await client.get(V2, headers=org.owner_headers)).status_code == 200
        source = root.get(ModelSource)  # type: ignore[type-abstract]
        assert (await source.for_organization(org.id, {})).llm[0].model_ref.provider == "builtin"


class TestCheck:
    async def test_builtin_works(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = (await client.post(f"{V2}/check", headers=org.owner_headers)).json()
        assert answer["ok"]
        assert answer["llm"]["provider"] == "builtin"
        assert answer["llm"]["latency_ms"] >= 0

    async def test_a_bad_address_is_refused(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"llm": {**OPENAI, "base_url": "http://192.168.1.1/v1"}}
        response = await client.post(f"{V2}/check", json=body, headers=org.owner_headers)
        assert (response.status_code, response.json()["code"]) == (422, "egress_refused")

    async def test_it_is_limited(self, client: AsyncClient, org: OrgFixture) -> None:
        statuses = [(await client.post(f"{V2}/check", headers=org.owner_headers)).status_code for _ in range(22)]
        assert statuses[-1] == 429


class TestCheckOfAVendor:
    """The installation allows the emulator's address, as an operator allows a server of their own."""

    @pytest.fixture
    def settings(self, settings: Any) -> Any:
        return settings.model_copy(update={"egress_allow": "127.0.0.1/32"})

    async def test_the_key_is_asked_at_the_vendor(self, client: AsyncClient, org: OrgFixture) -> None:
        async with serve_openai([UNAUTHORIZED], api_key=KEY) as server:
            service = {"provider": "openai", "base_url": server.base_url, "model": "gpt-4.1"}
            for key, code in ((KEY, None), ("sk-wrong", "llm_unauthorized")):
                body = {"llm": {**service, "api_key": key}}
                answer = (await client.post(f"{V2}/check", json=body, headers=org.owner_headers)).json()
                assert (answer["ok"], answer["llm"]["code"]) == (code is None, code)
            assert (await get(client, org))["source"] == "default"

    async def test_nobody_there(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"llm": {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": "k"}}
        answer = (await client.post(f"{V2}/check", json=body, headers=org.owner_headers)).json()
        assert answer["llm"]["code"] == "llm_connection"


class TestWorkflowsChoice:
    @pytest.mark.parametrize(
        ("models", "named"),
        [
            ({"llm": {"provider": "nobody"}}, "allowed"),
            ({"llm": {"provider": "openai", "model": "gpt-99"}}, "gpt-4.1"),
            ({"llm": {"api_key": "sk-secret"}}, "Extra inputs"),
            ({"llm": {"base_url": "https://models.example"}}, "Extra inputs"),
            ({"fallbacks": {"llm": [{"model": "gpt-4.1"}]}}, "provider"),
            ({"surprise": {}}, "Extra inputs"),
            ({"realtime": {"provider": "openai_realtime"}}, "requires an API key"),
            ({"realtime": {"api_key": "sk-secret"}}, "Extra inputs"),
            ({"is_realtime": True}, "models.realtime.provider"),
        ],
    )
    async def test_is_checked_when_it_is_saved(
        self, client: AsyncClient, org: OrgFixture, models: dict[str, Any], named: str
    ) -> None:
        created = await client.post(
            "/workflow/create/definition",
            json={"name": "A", "workflow_definition": {"nodes": [], "edges": []}},
            headers=org.owner_headers,
        )
        body = {"workflow_configurations": {"models": models}}
        response = await client.put(f"/workflow/{created.json()['id']}", json=body, headers=org.owner_headers)
        assert response.status_code == 422
        assert named in response.text

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        created = await client.post(
            "/workflow/create/definition",
            json={"name": "A", "workflow_definition": {"nodes": [], "edges": []}},
            headers=org.owner_headers,
        )
        models = {"llm": {"temperature": 0.1}, "tts": {"provider": "builtin", "voice_id": "en-gb"}}
        body = {"workflow_configurations": {"models": models}}
        response = await client.put(f"/workflow/{created.json()['id']}", json=body, headers=org.owner_headers)
        assert response.json()["workflow_configurations"]["models"] == models


async def test_a_voice_pack_that_is_not_installed_is_refused(client: AsyncClient, org: OrgFixture) -> None:
    for kind in ("tts", "stt"):
        missing = {kind: {"provider": "voice_pack", "model": "english"}}
        answer = await put(client, org, missing, status=422)
        assert "'english' is not installed; installed: none yet" in answer["detail"]
    providers = (await get(client, org, "/defaults"))["providers"]
    assert "voice_pack" not in {vendor["provider"] for kind in ("tts", "stt") for vendor in providers[kind]}
