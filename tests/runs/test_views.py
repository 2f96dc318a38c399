"""Saved views of the list of runs: a person's own, shared ones, and who may change them."""

from typing import Any

from httpx2 import AsyncClient

from tests.fixtures_orgs import OrgFixture

PATH = "/organizations/usage/run-views"
SEARCH = {"result": ["Booked"], "from": "2026-11-01", "sort": "duration"}


async def save(client: AsyncClient, headers: dict[str, str], name: str = "Booked", **values: Any) -> dict[str, Any]:
    answer = await client.post(PATH, json={"name": name, "search": SEARCH} | values, headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def names(client: AsyncClient, headers: dict[str, str]) -> list[str]:
    answer = await client.get(PATH, headers=headers)
    assert answer.status_code == 200, answer.text
    return [view["name"] for view in answer.json()]


async def test_anonymous(client: AsyncClient) -> None:
    for method, path in (("GET", PATH), ("POST", PATH), ("PATCH", f"{PATH}/1"), ("DELETE", f"{PATH}/1")):
        assert (await client.request(method, path)).status_code == 401


async def test_a_view_is_of_its_person_until_it_is_shared(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture
) -> None:
    member, viewer = org.headers_for("member"), org.headers_for("viewer")
    view = await save(client, member)
    assert (view["search"], view["is_own"], view["is_shared"], view["can_edit"]) == (SEARCH, True, False, True)
    assert await names(client, viewer) == []
    hidden = await client.patch(f"{PATH}/{view['id']}", json={"name": "Mine"}, headers=viewer)
    assert hidden.json()["code"] == "view_not_found"
    shared = await client.patch(f"{PATH}/{view['id']}", json={"is_shared": True}, headers=member)
    assert (shared.status_code, shared.json()["is_shared"]) == (200, True)
    (seen,) = (await client.get(PATH, headers=viewer)).json()
    assert (seen["is_own"], seen["can_edit"]) == (False, False)
    refused = await client.delete(f"{PATH}/{view['id']}", headers=viewer)
    assert (refused.status_code, refused.json()["code"]) == (403, "view_not_editable")
    other = await client.delete(f"{PATH}/{view['id']}", headers=other_org.owner_headers)
    assert (other.status_code, other.json()["code"]) == (404, "view_not_found")
    assert (await client.delete(f"{PATH}/{view['id']}", headers=org.owner_headers)).json() == {"id": view["id"]}
    assert await names(client, member) == []


async def test_viewers_have_views_and_share_none(client: AsyncClient, org: OrgFixture) -> None:
    viewer = org.headers_for("viewer")
    view = await save(client, viewer)
    refused = await client.patch(f"{PATH}/{view['id']}", json={"is_shared": True}, headers=viewer)
    assert (refused.status_code, refused.json()["code"]) == (403, "view_not_shareable")
    changed = await client.patch(f"{PATH}/{view['id']}", json={"name": "Best", "search": {}}, headers=viewer)
    assert (changed.json()["name"], changed.json()["search"]) == ("Best", {})


async def test_a_program_shares_its_views(client: AsyncClient, org: OrgFixture) -> None:
    view = await save(client, org.key_headers)
    assert (view["is_shared"], view["is_own"], view["can_edit"]) == (True, False, True)
    assert await names(client, org.headers_for("viewer")) == ["Booked"]


async def test_names_are_taken_once_by_a_person(client: AsyncClient, org: OrgFixture) -> None:
    member = org.headers_for("member")
    await save(client, member)
    second = await save(client, member, "second")
    again = await client.post(PATH, json={"name": " booked ", "search": {}}, headers=member)
    assert (again.status_code, again.json()["code"]) == (409, "view_name_taken")
    renamed = await client.patch(f"{PATH}/{second['id']}", json={"name": "BOOKED"}, headers=member)
    assert renamed.json()["code"] == "view_name_taken"
    assert (await client.patch(f"{PATH}/{second['id']}", json={"name": "Second"}, headers=member)).status_code == 200
    await save(client, org.headers_for("viewer"))
    assert await names(client, member) == ["Booked", "Second"]


async def test_bad_input(client: AsyncClient, org: OrgFixture) -> None:
    for bad in (
        {},
        {"name": "", "search": {}},
        {"name": "a" * 81, "search": {}},
        {"name": "a\0", "search": {}},
        {"name": "a", "search": {"words": "\0"}},
        {"name": "a", "search": {"words": "x" * 9000}},
        {"name": "a", "search": []},
    ):
        answer = await client.post(PATH, json=bad, headers=org.owner_headers)
        assert answer.status_code == 422, bad
    for bad_id in ("0", "x", "99999999999"):
        assert (await client.delete(f"{PATH}/{bad_id}", headers=org.owner_headers)).status_code in {404, 422}
