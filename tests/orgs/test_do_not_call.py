"""The do-not-call list: who may see and change it, what it takes, and that it is one organization's own."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs.do_not_call import do_not_call_list
from offhook.orgs.do_not_call.do_not_call_list import DoNotCallOrigin
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture

PATH = "/organizations/do-not-call"
ANN, BOB, CAT = "+12015550101", "+12015550102", "+12015550103"


async def add(client: AsyncClient, org: OrgFixture, *numbers: str) -> dict[str, Any]:
    response = await client.post(PATH, json={"phone_numbers": list(numbers)}, headers=org.key_headers)
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


class TestAdd:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.post(PATH, json={"phone_number": ANN})).status_code == 401

    async def test_a_viewer_may_not(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.post(PATH, json={"phone_number": ANN}, headers=org.headers_for("viewer"))
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"phone_number": ANN, "phone_numbers": [BOB]},
            {"phone_numbers": []},
            {"phone_numbers": [BOB] * 5001},
            {"phone_number": "123"},
            {"phone_number": 123},
            {"phone_number": "2015550101"},
            {"phone_number": ANN, "reason": "x" * 501},
            {"phone_numbers": [ANN, "soon"]},
        ],
    )
    async def test_bad_input_adds_nothing(self, client: AsyncClient, org: OrgFixture, body: dict[str, Any]) -> None:
        assert (await client.post(PATH, json=body, headers=org.key_headers)).status_code == 422
        assert (await client.get(PATH, headers=org.key_headers)).json()["total_count"] == 0

    async def test_names_the_bad_numbers(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.post(PATH, json={"phone_numbers": [ANN, "soon", "911"]}, headers=org.key_headers)
        assert answer.json()["code"] == "phone_numbers_invalid"
        assert [problem["loc"] for problem in answer.json()["detail"]] == [
            ["body", "phone_numbers", 1],
            ["body", "phone_numbers", 2],
        ]

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.post(
            PATH, json={"phone_number": " +1 (201) 555-0101 ", "reason": "wrote a letter"}, headers=org.owner_headers
        )
        made = answer.json()["entries"][0]
        assert (answer.status_code, made["phone_number"], made["reason"]) == (200, ANN, "wrote a letter")
        assert (made["source"], made["created_by"], made["run_id"]) == ("manual", org.user_ids["owner"], None)
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert (log[0]["action"], log[0]["target"]) == ("do_not_call.added", f"do_not_call:{made['id']}")

    async def test_twice_keeps_the_first(self, client: AsyncClient, org: OrgFixture) -> None:
        first = await add(client, org, ANN, BOB, "+1 201 555 0101")
        again = await add(client, org, BOB, CAT)
        assert (first["added"], first["already_listed"]) == (2, 0)
        assert (again["added"], again["already_listed"]) == (1, 1)
        assert [entry["phone_number"] for entry in again["entries"]] == [CAT]

    @pytest.mark.slow
    async def test_many_at_once_from_many_sides(self, client: AsyncClient, org: OrgFixture) -> None:
        numbers = [f"+1201555{n:04d}" for n in range(300)]
        answers = await asyncio.gather(*(add(client, org, *order) for order in (numbers, numbers[::-1]) for _ in "abc"))
        assert sum(answer["added"] for answer in answers) == 300
        assert (await client.get(PATH, headers=org.key_headers)).json()["total_count"] == 300


class TestList:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get(PATH)).status_code == 401

    @pytest.mark.parametrize("query", ["page=0", "limit=0", "limit=101", "search=" + "1" * 33])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        assert (await client.get(f"{PATH}?{query}", headers=org.key_headers)).status_code == 422

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        await add(client, org, ANN)
        assert (await client.get(PATH, headers=other_org.key_headers)).json()["entries"] == []
        assert (await add(client, other_org, ANN))["added"] == 1

    async def test_pages_and_search(self, client: AsyncClient, org: OrgFixture) -> None:
        await add(client, org, ANN, BOB, CAT)
        viewer = org.headers_for("viewer")
        pages = [(await client.get(f"{PATH}?limit=2&page={page}", headers=viewer)).json() for page in (1, 2)]
        assert sorted(entry["phone_number"] for page in pages for entry in page["entries"]) == [ANN, BOB, CAT]
        assert [(page["total_count"], page["total_pages"]) for page in pages] == [(3, 2)] * 2
        found = (await client.get(PATH, params={"search": "0102"}, headers=viewer)).json()["entries"]
        assert [entry["phone_number"] for entry in found] == [BOB]
        assert (await client.get(PATH, params={"search": "%"}, headers=viewer)).json()["entries"] == []


class TestRemove:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.delete(f"{PATH}/1")).status_code == 401
        assert (await client.delete(PATH, params={"phone_number": ANN})).status_code == 401

    async def test_a_viewer_may_not(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (await client.delete(f"{PATH}/1", headers=org.headers_for("viewer"))).status_code == 403

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        entry = (await add(client, org, ANN))["entries"][0]
        answers = [
            await client.delete(f"{PATH}/{entry['id']}", headers=other_org.key_headers),
            await client.delete(PATH, params={"phone_number": ANN}, headers=other_org.key_headers),
        ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(404, "do_not_call_entry_not_found")] * 2
        assert (await client.get(PATH, headers=org.key_headers)).json()["total_count"] == 1

    @pytest.mark.parametrize(("entry", "status"), [("0", 404), ("99", 404), ("x", 422)])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, entry: str, status: int) -> None:
        assert (await client.delete(f"{PATH}/{entry}", headers=org.key_headers)).status_code == status
        assert (await client.delete(PATH, headers=org.key_headers)).status_code == 422
        assert (await client.delete(PATH, params={"phone_number": "1"}, headers=org.key_headers)).status_code == 422

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        entries = (await add(client, org, ANN, BOB))["entries"]
        by_id = await client.delete(f"{PATH}/{entries[0]['id']}", headers=org.key_headers)
        number = entries[1]["phone_number"]
        by_number = await client.delete(PATH, params={"phone_number": number}, headers=org.key_headers)
        assert (by_id.json(), by_number.json()) == (entries[0], entries[1])
        assert (await client.get(PATH, headers=org.key_headers)).json()["total_count"] == 0


async def test_is_listed(root: Root, org: OrgFixture, other_org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        await do_not_call_list.add_numbers(session, org.id, [ANN, BOB], DoNotCallOrigin(reason="asked"))
        await do_not_call_list.add_numbers(session, other_org.id, [CAT], DoNotCallOrigin())
        assert await do_not_call_list.listed_numbers(session, org.id, [ANN, CAT]) == {ANN}
        assert await do_not_call_list.listed_numbers(session, org.id, []) == set()
