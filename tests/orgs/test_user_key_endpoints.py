"""Dograh's shape of API keys at ``/user/api-keys``: the same keys by another name."""

from httpx2 import AsyncClient

from tests.fixtures_orgs import OrgFixture

PATH = "/user/api-keys"


async def test_anonymous(client: AsyncClient) -> None:
    for method, path in (("GET", PATH), ("POST", PATH), ("DELETE", f"{PATH}/1"), ("PUT", f"{PATH}/1/reactivate")):
        assert (await client.request(method, path)).status_code == 401


async def test_needs_admin(client: AsyncClient, org: OrgFixture) -> None:
    assert (await client.get(PATH, headers=org.headers_for("member"))).status_code == 403


async def test_bad_input(client: AsyncClient, org: OrgFixture) -> None:
    assert (await client.post(PATH, json={}, headers=org.owner_headers)).status_code == 422
    assert (await client.get(f"{PATH}?include_archived=maybe", headers=org.owner_headers)).status_code == 422


async def test_other_organization(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    for method, path in (("DELETE", f"{PATH}/{org.key_id}"), ("PUT", f"{PATH}/{org.key_id}/reactivate")):
        answer = await client.request(method, path, headers=other_org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "api_key_not_found")


async def test_valid(client: AsyncClient, org: OrgFixture) -> None:
    made = (await client.post(PATH, json={"name": "SDK"}, headers=org.owner_headers)).json()
    assert set(made) == {"id", "name", "key_prefix", "api_key", "created_at"}
    assert made["api_key"].startswith(made["key_prefix"])
    sdk = {"X-API-Key": made["api_key"]}
    assert (await client.get("/workflow/fetch", headers=sdk)).status_code == 200
    for _ in range(2):
        archived = await client.delete(f"{PATH}/{made['id']}", headers=org.owner_headers)
        assert archived.json() == {"success": True, "message": "API key archived successfully"}
    assert (await client.get("/workflow/fetch", headers=sdk)).status_code == 401
    listed = (await client.get(PATH, headers=org.owner_headers)).json()
    assert [key["id"] for key in listed] == [org.key_id]
    everything = (await client.get(f"{PATH}?include_archived=true", headers=org.owner_headers)).json()
    assert [(key["id"], key["is_active"]) for key in everything] == [(made["id"], False), (org.key_id, True)]
    assert set(everything[0]) == {
        "id", "name", "key_prefix", "is_active", "created_at", "last_used_at", "archived_at",
    }  # fmt: skip
    restored = await client.put(f"{PATH}/{made['id']}/reactivate", headers=org.owner_headers)
    assert restored.json() == {"success": True, "message": "API key reactivated successfully"}
    assert (await client.get("/workflow/fetch", headers=sdk)).status_code == 200
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [entry["action"] for entry in log] == ["api_key.reactivated", "api_key.archived", "api_key.created"]
