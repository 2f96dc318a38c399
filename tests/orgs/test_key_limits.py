"""What a key may do, from where, and until when."""

from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs.access_rules import CALLING, QUESTIONS, is_in_networks
from offhook.root import Root
from tests.conftest import client_at
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import make_workflow, workflow_id

__all__ = ["make_workflow", "workflow_id"]

KEYS = "/organizations/api-keys"


async def make_key(client: AsyncClient, org: OrgFixture, **body: object) -> dict[str, str]:
    answer = await client.post(KEYS, json={"name": "CI", **body}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    return {"X-API-Key": answer.json()["key"]}


class TestScopes:
    async def statuses(self, client: AsyncClient, headers: dict[str, str], workflow_id: int) -> dict[str, int]:
        run = {"mode": "textchat"}
        answers = {
            "read": await client.get("/workflow/summary", headers=headers),
            "question": await client.post(f"/workflow/{workflow_id}/validate", headers=headers),
            "call": await client.post(f"/workflow/{workflow_id}/runs", json=run, headers=headers),
            "manage": await client.put(f"/workflow/{workflow_id}", json={"name": "New"}, headers=headers),
        }
        refused = [a.json()["code"] for a in answers.values() if a.status_code == 403]
        assert set(refused) <= {"api_key_scope_missing"}
        return {name: answer.status_code for name, answer in answers.items()}

    @pytest.mark.parametrize(
        ("scopes", "allowed"),
        [
            (["read"], {"read", "question"}),
            (["call"], {"call"}),
            (["manage"], {"manage"}),
            (["read", "call"], {"read", "question", "call"}),
            (["read", "call", "manage"], {"read", "question", "call", "manage"}),
        ],
    )
    async def test_each(
        self, client: AsyncClient, org: OrgFixture, workflow_id: int, scopes: list[str], allowed: set[str]
    ) -> None:
        headers = await make_key(client, org, scopes=scopes)
        statuses = await self.statuses(client, headers, workflow_id)
        assert {name for name, status in statuses.items() if status == 200} == allowed
        assert {status for name, status in statuses.items() if name not in allowed} <= {403}

    async def test_the_named_operations_exist(self, app: FastAPI) -> None:
        described = app.openapi()["paths"].values()
        names = {operation["operationId"] for operations in described for operation in operations.values()}
        assert names >= CALLING | QUESTIONS


class TestExpiry:
    async def test_it_ends_the_key(
        self, client: AsyncClient, root: Root, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        expires_at = (root.clock.now() + timedelta(hours=1)).isoformat()
        headers = await make_key(client, org, expires_at=expires_at)
        assert (await client.get("/auth/me", headers=headers)).status_code == 200
        shifted_clock.advance(minutes=61)
        refused = await client.get("/auth/me", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "invalid_api_key")

    async def test_not_in_the_past(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        past = (root.clock.now() - timedelta(hours=1)).isoformat()
        answer = await client.post(KEYS, json={"name": "CI", "expires_at": past}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "api_key_expiry_invalid")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"expires_at": "2099-01-01T00:00:00"},
            {"scopes": []},
            {"scopes": ["everything"]},
            {"networks": ["example.com"]},
            {"networks": ["10.0.0.0/8"] * 21},
            {"expiry": "2099-01-01T00:00:00Z"},
        ],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, wrong: dict[str, Any]) -> None:
        assert (await client.post(KEYS, json={"name": "CI", **wrong}, headers=org.owner_headers)).status_code == 422


class TestNetworks:
    async def test_elsewhere_it_opens_nothing(self, app: FastAPI, client: AsyncClient, org: OrgFixture) -> None:
        headers = await make_key(client, org, networks=["203.0.113.7/24", "2001:db8::/48"])
        for address, status in (
            ("203.0.113.99", 200),
            ("::ffff:203.0.113.99", 200),
            ("2001:db8::5", 200),
            ("203.0.114.1", 403),
            ("127.0.0.1", 403),
        ):
            async with client_at(app, address) as there:
                assert (await there.get("/auth/me", headers=headers)).status_code == status, address
        (listed,) = [
            key for key in (await client.get(KEYS, headers=org.owner_headers)).json()["api_keys"] if key["networks"]
        ]
        assert listed["networks"] == ["203.0.113.0/24", "2001:db8::/48"]

    def test_an_address_that_is_none(self) -> None:
        assert is_in_networks(None, [])
        assert not is_in_networks(None, ["0.0.0.0/0"])
        assert not is_in_networks("testclient", ["0.0.0.0/0"])
