"""Countries are those that have telephone numbers: other pairs of letters are refused wherever one is asked for."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from tests.fixtures_orgs import OrgFixture

NOT_COUNTRIES = ("ZZ", "AA", "UK", "EU", "zz")


@pytest.mark.parametrize("country", NOT_COUNTRIES)
async def test_no_numbers_of_a_country_that_does_not_exist(client: AsyncClient, org: OrgFixture, country: str) -> None:
    answer = await client.get("/telephony/available-numbers", params={"country": country}, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", "country"])


@pytest.mark.parametrize("country", NOT_COUNTRIES)
@pytest.mark.parametrize("mode", [{"mode": "new"}, {"mode": "forward", "existing_number": "+12125550001"}])
async def test_no_quick_connect_to_one(
    client: AsyncClient, org: OrgFixture, country: str, mode: dict[str, Any]
) -> None:
    body = mode | {"country": country}
    answer = await client.post("/telephony/quick-connect", json=body, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "country"])
    configurations = await client.get("/organizations/telephony-configs", headers=org.owner_headers)
    assert all(one["phone_number_count"] == 0 for one in configurations.json()["configurations"])


async def test_no_number_of_one(client: AsyncClient, org: OrgFixture) -> None:
    made = await client.post(
        "/organizations/telephony-configs",
        json={"name": "Main", "config": {"provider": "sandbox"}},
        headers=org.owner_headers,
    )
    path = f"/organizations/telephony-configs/{made.json()['id']}/phone-numbers"
    number = {"address": "+12015550170", "country_code": "ZZ"}
    answer = await client.post(path, json=number, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "country_code"])


@pytest.mark.parametrize("country", ["us", " US ", "GB", "XK"])
async def test_countries_are_read_as_people_write_them(client: AsyncClient, org: OrgFixture, country: str) -> None:
    answer = await client.get("/telephony/available-numbers", params={"country": country}, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["country"]) == (200, country.strip().upper())
