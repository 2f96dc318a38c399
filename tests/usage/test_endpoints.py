"""Usage and the ledger over HTTP."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.usage import ledger
from offhook.usage.run_facts import ModelUse
from tests.fixtures_orgs import OrgFixture
from tests.usage.conftest import Record

USAGE = "/organizations/usage"
READS = [f"{USAGE}/{name}" for name in ("current-period", "daily-breakdown", "by-model", "ledger")]


@pytest.mark.parametrize("path", READS)
async def test_anonymous(client: AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 401


@pytest.mark.parametrize("path", READS[:3])
async def test_viewers_read_usage(client: AsyncClient, org: OrgFixture, path: str) -> None:
    assert (await client.get(path, headers=org.headers_for("viewer"))).status_code == 200


class TestCurrentPeriod:
    async def test_nothing_used(self, client: AsyncClient, org: OrgFixture) -> None:
        shown = (await client.get(f"{USAGE}/current-period", headers=org.key_headers)).json()
        assert {key: shown[key] for key in ("total_calls", "total_minutes", "total_cost_cents", "balance_cents")} == {
            "total_calls": 0,
            "total_minutes": 0.0,
            "total_cost_cents": 0,
            "balance_cents": 0,
        }
        assert (shown["minutes_remaining"], shown["is_unlimited"]) == (0.0, True)

    async def test_valid(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, record: Record
    ) -> None:
        await record(duration_ms=90_000, cost_cents=Decimal(7))
        await record(organization_id=other_org.id)
        await record(created_at=datetime.now(UTC) - timedelta(days=32))
        async with root.db.transaction() as session:
            await ledger.add_credit(session, org.id, 512)
            await ledger.set_terms(
                session, org.id, platform_cents_per_minute=Decimal(10), included_minutes=5, is_enforced=None
            )
        shown = (await client.get(f"{USAGE}/current-period", headers=org.key_headers)).json()
        assert (shown["total_calls"], shown["total_minutes"], shown["total_cost_cents"]) == (1, 1.5, 7)
        assert (shown["balance_cents"], shown["is_unlimited"]) == (500, False)
        assert shown["minutes_remaining"] == 53.5  # 3.5 of the included ones, 50 for the balance
        assert shown["period_start"] <= datetime.now(UTC).isoformat() < shown["period_end"]
        assert (shown["total_duration_seconds"], shown["used_amount_usd"]) == (90.0, 0.07)

    async def test_included_minutes_say_until_when_whatever_the_time_zone(
        self, client: AsyncClient, root: Root, org: OrgFixture, record: Record
    ) -> None:
        await record(duration_ms=90_000)
        async with root.db.transaction() as session:
            await ledger.set_terms(
                session, org.id, platform_cents_per_minute=Decimal(10), included_minutes=5, is_enforced=None
            )
            await session.execute(update(Organization).values(time_zone="Pacific/Kiritimati"))
        shown = (await client.get(f"{USAGE}/current-period", headers=org.key_headers)).json()
        assert (shown["included_minutes"], shown["included_minutes_left"]) == (5, 3.5)
        until = datetime.fromisoformat(shown["included_until"])
        assert (until.day, until.hour, until.utcoffset()) == (1, 0, timedelta())
        assert datetime.fromisoformat(shown["period_end"]).hour == 10


class TestDailyBreakdown:
    @pytest.mark.parametrize("days", ["0", "-1", "367", "x", "9" * 30])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, days: str) -> None:
        response = await client.get(f"{USAGE}/daily-breakdown?days={days}", headers=org.key_headers)
        assert response.status_code == 422

    @pytest.mark.parametrize(("query", "count"), [("", 30), ("?days=1", 1), ("?days=366", 366)])
    async def test_empty_days_are_shown(self, client: AsyncClient, org: OrgFixture, query: str, count: int) -> None:
        days = (await client.get(f"{USAGE}/daily-breakdown{query}", headers=org.key_headers)).json()
        assert len({day["date"] for day in days}) == count
        assert days == sorted(days, key=lambda day: day["date"], reverse=True)
        assert {(day["call_count"], day["total_minutes"], day["total_cost_cents"]) for day in days} == {(0, 0.0, 0)}

    async def test_days_are_the_organizations(
        self, client: AsyncClient, root: Root, org: OrgFixture, record: Record
    ) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(Organization).where(Organization.id == org.id).values(time_zone="Asia/Tokyo"))
        now = datetime.now(UTC)
        evening = (now - timedelta(days=2)).replace(hour=15, minute=0, second=0)  # midnight in Tokyo
        await record(created_at=evening, duration_ms=30_000)
        await record(created_at=evening - timedelta(seconds=1), duration_ms=45_000)
        days = (await client.get(f"{USAGE}/daily-breakdown?days=5", headers=org.key_headers)).json()
        used = {day["date"]: day["total_minutes"] for day in days if day["call_count"]}
        tokyo_day = (evening + timedelta(hours=9)).date()
        assert used == {tokyo_day.isoformat(): 0.5, (tokyo_day - timedelta(days=1)).isoformat(): 0.75}


class TestByModel:
    async def test_valid(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, record: Record) -> None:
        gpt = ModelUse("llm", "openai", "gpt-4.1", prompt_tokens=9, calls=1, cost_cents=Decimal("0.25"))
        own = ModelUse("tts", "mine", "voice", characters=12, is_priced=False)
        await record(models=[gpt, own])
        await record(models=[gpt])
        await record(organization_id=other_org.id, models=[gpt])
        items = (await client.get(f"{USAGE}/by-model", headers=org.key_headers)).json()
        assert [(item["kind"], item["provider"], item["model"], item["runs"]) for item in items] == [
            ("llm", "openai", "gpt-4.1", 2),
            ("tts", "mine", "voice", 1),
        ]
        assert (items[0]["prompt_tokens"], items[0]["calls"], items[0]["cost_cents"]) == (18, 2, 0.5)
        assert (items[1]["characters"], items[1]["cost_cents"], items[1]["is_priced"]) == (12, None, False)


class TestLedger:
    @pytest.mark.parametrize("role", ["member", "viewer"])
    async def test_needs_admin(self, client: AsyncClient, org: OrgFixture, role: str) -> None:
        assert (await client.get(f"{USAGE}/ledger", headers=org.headers_for(role))).status_code == 403

    @pytest.mark.parametrize("query", ["page=0", "limit=0", "limit=101", "page=x"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        assert (await client.get(f"{USAGE}/ledger?{query}", headers=org.key_headers)).status_code == 422

    async def test_valid(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, record: Record
    ) -> None:
        async with root.db.transaction() as session:
            await ledger.add_credit(session, org.id, 100, note="Welcome")
            await ledger.add_credit(session, other_org.id, 999)
        await record(run_id=4242)
        shown = (await client.get(f"{USAGE}/ledger?limit=1", headers=org.key_headers)).json()
        assert (shown["balance_cents"], shown["total_count"], shown["total_pages"]) == (95, 2, 2)
        (newest,) = shown["entries"]
        assert (newest["kind"], newest["amount_cents"], newest["balance_cents"], newest["run_id"]) == (
            "run",
            -5,
            95,
            4242,
        )


class TestAddCredit:
    def path(self, org: OrgFixture) -> str:
        return f"/superuser/organizations/{org.id}/credits"

    async def test_anonymous(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (await client.post(self.path(org), json={"cents": 5})).status_code == 401

    async def test_needs_superuser(self, client: AsyncClient, org: OrgFixture) -> None:
        for headers in (org.owner_headers, org.key_headers):
            response = await client.post(self.path(org), json={"cents": 5}, headers=headers)
            assert (response.status_code, response.json()["code"]) == (403, "superuser_required")

    async def test_unknown_organization(self, client: AsyncClient, superuser: dict[str, str]) -> None:
        for number in (999_999, 2**40):
            response = await client.post(
                f"/superuser/organizations/{number}/credits", json={"cents": 5}, headers=superuser
            )
            assert response.status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"cents": 0},
            {"cents": "x"},
            {"cents": 1.5},
            {"cents": 10**13},
            {"cents": 5, "note": "n" * 501},
            {"cents": 5, "note": "\x00"},
        ],
    )
    async def test_bad_input(
        self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str], body: dict[str, Any]
    ) -> None:
        assert (await client.post(self.path(org), json=body, headers=superuser)).status_code == 422

    async def test_valid(self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str]) -> None:
        added = await client.post(self.path(org), json={"cents": 500, "note": "Invoice 7"}, headers=superuser)
        assert added.status_code == 200
        shown = added.json()
        assert (shown["kind"], shown["balance_cents"], shown["organization_id"]) == ("credit", 500, org.id)
        taken = (await client.post(self.path(org), json={"cents": -200}, headers=superuser)).json()
        assert (taken["kind"], taken["balance_cents"]) == ("adjustment", 300)
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert [entry["action"] for entry in log] == ["credit.added", "credit.added"]

    async def test_a_repeated_request_adds_once(
        self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str]
    ) -> None:
        headers = superuser | {"Idempotency-Key": "invoice-7"}
        answers = [(await client.post(self.path(org), json={"cents": 500}, headers=headers)).json() for _ in range(2)]
        assert answers[0] == answers[1]
        other = await client.post(self.path(org), json={"cents": 600}, headers=headers)
        assert other.status_code == 409
        shown = (await client.get(f"{USAGE}/ledger", headers=org.key_headers)).json()
        assert shown["balance_cents"] == 500


class TestBilling:
    def path(self, org: OrgFixture) -> str:
        return f"/superuser/organizations/{org.id}/billing"

    async def test_anonymous_and_wrong_role(self, client: AsyncClient, org: OrgFixture) -> None:
        for method in ("GET", "PUT"):
            assert (await client.request(method, self.path(org), json={})).status_code == 401
            assert (await client.request(method, self.path(org), json={}, headers=org.key_headers)).status_code == 403

    async def test_unknown_organization(self, client: AsyncClient, superuser: dict[str, str]) -> None:
        for method in ("GET", "PUT"):
            path = "/superuser/organizations/999999/billing"
            assert (await client.request(method, path, json={}, headers=superuser)).status_code == 404

    @pytest.mark.parametrize(
        "body", [{"included_minutes": -1}, {"platform_cents_per_minute": -1}, {"platform_cents_per_minute": "NaN"}]
    )
    async def test_bad_input(
        self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str], body: dict[str, Any]
    ) -> None:
        assert (await client.put(self.path(org), json=body, headers=superuser)).status_code == 422

    async def test_valid(self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str]) -> None:
        before = (await client.get(self.path(org), headers=superuser)).json()
        assert before["is_enforced"] is None
        assert before["effective"]["is_enforced"] is False
        body = {"platform_cents_per_minute": 2.5, "included_minutes": 100, "is_enforced": True}
        after = (await client.put(self.path(org), json=body, headers=superuser)).json()
        assert after == (await client.get(self.path(org), headers=superuser)).json()
        assert (float(after["effective"]["platform_cents_per_minute"]), after["included_minutes"]) == (2.5, 100)
