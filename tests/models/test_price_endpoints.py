"""An organization's own prices over HTTP."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.usage import ledger
from tests.fixtures_orgs import OrgFixture

PATH = "/organizations/usage/prices"
OWN: dict[str, Any] = {
    "kind": "llm",
    "provider": "openai",
    "model": "gpt-4.1",
    "valid_from": "2026-01-01",
    "prompt_million": "1.5",
    "completion_million": 6,
}
NAMED = {key: OWN[key] for key in ("kind", "provider", "model", "valid_from")}


async def own(client: AsyncClient, org: OrgFixture) -> list[dict[str, Any]]:
    shown = (await client.get(PATH, headers=org.headers_for("viewer"))).json()["prices"]
    assert any(not price["is_own"] and price["provider"] == "deepgram" and price["source"] for price in shown)
    return [price for price in shown if price["is_own"]]


async def test_anonymous_and_wrong_role(client: AsyncClient, org: OrgFixture) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [("PUT", {"json": OWN}), ("DELETE", {"params": NAMED})]
    for method, more in requests:
        assert (await client.request(method, PATH, **more)).status_code == 401
        denied = await client.request(method, PATH, headers=org.headers_for("member"), **more)
        assert denied.status_code == 403
    assert (await client.get(PATH)).status_code == 401


async def test_a_realtime_model_costs_by_tokens_or_by_time(client: AsyncClient, org: OrgFixture) -> None:
    timed = {**NAMED, "kind": "realtime", "provider": "xai_voice", "model": "grok-voice-latest"}
    for amounts, status in (
        ({"minute": "0.07", "message": "0.003"}, 200),
        ({"minute": "0.07"}, 422),
        ({"minute": "0.07", "message": "0.003", "text_input_million": 1}, 422),
    ):
        answer = await client.put(PATH, json=timed | amounts, headers=org.key_headers)
        assert answer.status_code == status, answer.text
    (price,) = await own(client, org)
    assert (float(price["minute"]), float(price["message"])) == (0.07, 0.003)
    assert price["audio_input_million"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "video"},
        {"provider": ""},
        {"provider": "Open AI"},
        {"model": "x" * 65},
        {"valid_from": "soon"},
        {"valid_from": "0001-01-01"},
        {"prompt_million": -1},
        {"prompt_million": "NaN"},
        {"prompt_million": None},
        {"minute": 1},
        {"step": 0},
    ],
)
async def test_bad_input(client: AsyncClient, org: OrgFixture, change: dict[str, Any]) -> None:
    assert (await client.put(PATH, json=OWN | change, headers=org.key_headers)).status_code == 422


async def test_valid(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    for dearer in ("1.5", "1.75"):
        answer = await client.put(PATH, json=OWN | {"prompt_million": dearer}, headers=org.key_headers)
        assert answer.status_code == 200, answer.text
    (price,) = await own(client, org)
    assert (float(price["prompt_million"]), price["valid_from"], price["source"]) == (
        1.75,
        "2026-01-01",
        "organization",
    )
    assert await own(client, other_org) == []
    foreign = await client.delete(PATH, params=NAMED, headers=other_org.key_headers)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "price_not_found")
    assert (await client.delete(PATH, params=NAMED, headers=org.key_headers)).json() == {"success": True}
    assert await own(client, org) == []


@pytest.mark.parametrize("change", [{"kind": "x"}, {"valid_from": "x"}, {"provider": ""}])
async def test_bad_removal(client: AsyncClient, org: OrgFixture, change: dict[str, str]) -> None:
    assert (await client.delete(PATH, params=NAMED | change, headers=org.key_headers)).status_code == 422


async def test_where_credit_is_enforced_only_a_superuser_sets_prices(
    client: AsyncClient, root: Root, org: OrgFixture
) -> None:
    object.__setattr__(root.settings, "billing_enforced", True)  # settings are frozen once a process has begun
    denied = await client.put(PATH, json=OWN, headers=org.key_headers)
    assert (denied.status_code, denied.json()["code"]) == (403, "prices_locked")


async def test_where_credit_is_enforced_for_one_organization_alone(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    assert (await client.put(PATH, json=OWN, headers=org.key_headers)).status_code == 200
    async with root.db.transaction() as session:
        await ledger.set_terms(session, org.id, platform_cents_per_minute=None, included_minutes=None, is_enforced=True)
    for denied in (
        await client.put(PATH, json=OWN, headers=org.key_headers),
        await client.delete(PATH, params=NAMED, headers=org.key_headers),
    ):
        assert (denied.status_code, denied.json()["code"]) == (403, "prices_locked")
    assert (await client.put(PATH, json=OWN, headers=other_org.key_headers)).status_code == 200
