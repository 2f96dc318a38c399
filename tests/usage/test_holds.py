"""Money is set aside before it is spent: what runs at the same time cannot spend it twice."""

import asyncio
import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import text

from offhook.root import Root
from offhook.runs.finishing.costs import next_answer_cents
from offhook.settings import Settings
from offhook.telephony.ports import CarrierFailed, CarrierRegistry
from offhook.usage import ledger
from offhook.usage import service as usage
from offhook.usage.errors import DailySpendLimitReached, OutOfCredit
from offhook.usage.periods import start_of_day
from tests.fakes.carrier import FakeCarrier
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, make_run, make_workflow, workflow_id
from tests.usage.conftest import Record
from tests.usage.test_enforcement import enforce

__all__ = ["make_run", "make_workflow", "workflow_id"]


async def count_holds(root: Root) -> list[int]:
    async with root.db.transaction() as session:
        return list((await session.execute(text("SELECT cents FROM credit_holds ORDER BY cents"))).scalars())


async def balance(root: Root, organization_id: int) -> int:
    async with root.db.transaction() as session:
        return (await usage.get_balance_status(session, organization_id)).balance_cents


async def dial(client: AsyncClient, org: OrgFixture, workflow_id: int) -> Response:
    body = {"workflow_id": workflow_id, "phone_number": "+12015550101"}
    return await client.post("/telephony/initiate-call", json=body, headers=org.key_headers)


class TestWithOneCent:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"org_concurrency_limit": 50})

    async def test_one_of_twelve_parallel_calls_begins(
        self, client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int
    ) -> None:
        await enforce(root, org.id, cents=1)
        answers = await asyncio.gather(*(dial(client, org, workflow_id) for _ in range(12)))
        assert sorted(one.status_code for one in answers) == [200] + [402] * 11
        assert {one.json()["code"] for one in answers if one.status_code == 402} == {"out_of_credit"}
        assert await count_holds(root) == [1]

    async def test_one_of_twelve_parallel_chats_begins(self, root: Root, org: OrgFixture, make_run: MakeRun) -> None:
        await enforce(root, org.id, cents=1)
        begun = await asyncio.gather(*(make_run(mode="textchat") for _ in range(12)), return_exceptions=True)
        assert sum(isinstance(one, OutOfCredit) for one in begun) == 11


async def test_a_chat_pays_for_each_answer_before_it(root: Root, org: OrgFixture, make_run: MakeRun) -> None:
    await enforce(root, org.id, cents=3)
    run = await make_run(mode="textchat")

    async def extend(cents: int) -> None:
        async with root.db.transaction() as session:
            await usage.extend_chat(session, org.id, run.id, cents)

    await extend(3)
    assert await count_holds(root) == [3]
    await extend(2)
    with pytest.raises(OutOfCredit):
        await extend(4)
    assert await count_holds(root) == [3]


async def test_an_answer_is_expected_to_cost_what_the_ones_before_did(root: Root, make_run: MakeRun) -> None:
    run = await make_run(mode="textchat")
    counted = {"llm": [{"provider": "openai", "model": "gpt-4o", "prompt_tokens": 400_000, "completion_tokens": 0}]}
    async with root.db.transaction() as session:
        spent = await next_answer_cents(session, run, counted, 10**6)
        assert spent > 20
        assert await next_answer_cents(session, run, counted, 2) == math.ceil(1.5 * (spent - 1))
        assert await next_answer_cents(session, run, None, 1) == 1


async def test_the_end_of_a_run_replaces_its_hold(
    root: Root, org: OrgFixture, make_run: MakeRun, record: Record
) -> None:
    await enforce(root, org.id, cents=30)
    first = await make_run(mode="browser")
    second = await make_run(mode="browser")
    assert await count_holds(root) == [5, 25]
    with pytest.raises(OutOfCredit):
        await make_run(mode="browser")
    await record(run_id=first.id, duration_ms=0, cost_cents=Decimal(3))
    assert await count_holds(root) == [5]
    assert (await balance(root, org.id), second.id > first.id) == (27, True)
    await make_run(mode="browser")
    assert await count_holds(root) == [5, 22]


async def test_a_live_call_takes_more_until_there_is_none(root: Root, org: OrgFixture, make_run: MakeRun) -> None:
    await enforce(root, org.id, cents=40)
    run = await make_run(mode="browser")

    async def extend(used: str) -> tuple[int, bool]:
        async with root.db.transaction() as session:
            found = (await usage.extend_calls(session, org.id, {run.id: Decimal(used)}))[run.id]
        return found.held_cents, found.is_last

    assert await extend("0.5") == (26, False)
    assert await extend("14.2") == (40, False)
    assert await extend("15.5") == (40, True)
    async with root.db.transaction() as session:
        await ledger.add_credit(session, org.id, 100)
    assert await extend("39.9") == (65, False)


class TestInADay:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"daily_spend_limit_cents": 50})

    async def test_no_more_than_the_limit_is_spent_though_nothing_is_enforced(
        self, root: Root, org: OrgFixture, other_org: OrgFixture, make_run: MakeRun, record: Record
    ) -> None:
        await record(created_at=datetime.now(UTC) - timedelta(days=2), duration_ms=0, cost_cents=Decimal(500))
        await record(duration_ms=0, cost_cents=Decimal(20))
        await make_run(mode="browser")
        await make_run(mode="browser")
        assert await count_holds(root) == [5, 25]
        with pytest.raises(DailySpendLimitReached):
            await make_run(mode="browser")
        with pytest.raises(DailySpendLimitReached):
            await make_run(mode="textchat")
        async with root.db.transaction() as session:
            assert await usage.can_spend(session, other_org.id)

    @pytest.mark.parametrize(("ended_ago_h", "is_counted"), [(0, True), (30, False)])
    async def test_a_conversation_that_began_the_day_before_counts_when_it_ends(
        self, root: Root, org: OrgFixture, record: Record, ended_ago_h: int, is_counted: bool
    ) -> None:
        """Text chats that are open at midnight could each have spent the new day's limit."""
        length = timedelta(hours=30)
        began = datetime.now(UTC) - timedelta(hours=ended_ago_h) - length
        run_id = 1_000_001
        long = {"run_id": run_id, "created_at": began, "duration_ms": round(length.total_seconds() * 1000)}
        await record(**long, is_billable=False, cost_cents=Decimal(40))
        async with root.db.transaction() as session:
            left = (await usage.credit_position(session, org.id)).today_left
        assert left == (10 if is_counted else 50)
        # told again, it is not charged again
        await record(**long, is_billable=False, cost_cents=Decimal(40))
        assert await balance(root, org.id) == -40

    async def test_requests_outside_of_conversations_count_too(self, root: Root, org: OrgFixture) -> None:
        """Voice previews, generated agents and transcripts use the operator's keys."""
        for _ in range(50):
            async with root.db.transaction() as session:
                await usage.charge_model_request(session, org.id, "Voice preview")
        with pytest.raises(DailySpendLimitReached):
            async with root.db.transaction() as session:
                await usage.charge_model_request(session, org.id, "Voice preview")

    @pytest.mark.parametrize(("days_ago", "left"), [(0, 80), (1, 50)])
    async def test_what_comes_back_of_an_earlier_day_adds_nothing_to_the_limit(
        self, root: Root, org: OrgFixture, days_ago: int, left: int
    ) -> None:
        charged_at = datetime.now(UTC) - timedelta(days=days_ago)
        async with root.db.transaction() as session:
            await usage.refund_credit(session, org.id, 30, "Number", charged_at=charged_at)
            assert (await usage.credit_position(session, org.id)).today_left == left
        assert await balance(root, org.id) == 30

    async def test_over_http(
        self, client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int, record: Record
    ) -> None:
        await record(duration_ms=0, cost_cents=Decimal(50))
        refused = await dial(client, org, workflow_id)
        assert (refused.status_code, refused.json()["code"]) == (402, "daily_spend_limit")
        shown = (await client.get("/organizations/usage/current-period", headers=org.key_headers)).json()
        assert (shown["daily_limit_cents"], shown["spent_today_cents"], shown["held_cents"]) == (50, 50, 0)

    async def test_an_organization_can_only_lower_it(
        self, client: AsyncClient, org: OrgFixture, superuser: dict[str, str]
    ) -> None:
        path = "/organizations/usage/spend-limit"

        async def put(cents: int | None, role: str = "owner") -> Response:
            return await client.put(path, json={"own_limit_cents": cents}, headers=org.headers_for(role))

        assert (await put(20)).json() == {"own_limit_cents": 20, "limit_cents": 20, "spent_today_cents": 0}
        assert (await put(5_000)).json()["limit_cents"] == 50
        terms = {"daily_limit_cents": 0}
        await client.put(f"/superuser/organizations/{org.id}/billing", json=terms, headers=superuser)
        assert (await put(5_000)).json()["limit_cents"] == 5_000
        assert (await put(None)).json() == {"own_limit_cents": None, "limit_cents": None, "spent_today_cents": 0}
        assert (await put(0)).status_code == 422
        assert (await put(20, "member")).status_code == 403
        assert (await client.put(path, json={"own_limit_cents": 1})).status_code == 401
        assert (await client.get(path)).status_code == 401
        assert (await client.get(path, headers=org.headers_for("viewer"))).status_code == 200


async def test_the_day_begins_at_midnight_utc() -> None:
    at = datetime(2026, 3, 1, 1, 30, tzinfo=UTC)
    assert start_of_day(at) == datetime(2026, 3, 1, tzinfo=UTC)


class TestWhatThePlatformBuys:
    """With its own account at a carrier that takes money."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"platform_carrier": "twilio", "lookup_cents": 2, "org_number_limit": 2})

    @pytest.fixture(autouse=True)
    def carrier(self, root: Root) -> FakeCarrier:
        fake = FakeCarrier()
        root.get(CarrierRegistry).add(fake.spec("twilio"))
        return fake

    async def buy(self, client: AsyncClient, org: OrgFixture, **body: str) -> Response:
        return await client.post("/telephony/quick-connect", json={"mode": "new", **body}, headers=org.owner_headers)

    async def look_up(self, client: AsyncClient, org: OrgFixture, role: str = "member") -> Response:
        query = {"number": "+12015550123"}
        return await client.get("/telephony/carrier-lookup", params=query, headers=org.headers_for(role))

    async def test_nothing_without_credit(
        self, client: AsyncClient, root: Root, org: OrgFixture, carrier: FakeCarrier
    ) -> None:
        await enforce(root, org.id)
        for answer in (await self.buy(client, org), await self.look_up(client, org)):
            assert (answer.status_code, answer.json()["code"]) == (402, "out_of_credit")
        assert carrier.asked_for("buy") == carrier.asked_for("look_up") == []

    async def test_numbers_are_charged_and_counted(
        self, client: AsyncClient, root: Root, org: OrgFixture, carrier: FakeCarrier
    ) -> None:
        await enforce(root, org.id, cents=1000)
        assert (await self.buy(client, org)).status_code == 200
        assert await balance(root, org.id) == 1000 - 115
        assert (await self.buy(client, org, phone_number="+12015550141")).status_code == 200
        third = await self.buy(client, org, phone_number="+12015550142")
        assert (third.status_code, third.json()["code"]) == (409, "number_limit")
        assert await balance(root, org.id) == 1000 - 2 * 115

    async def test_two_at_once_do_not_share_the_price_of_one(
        self, client: AsyncClient, root: Root, org: OrgFixture, carrier: FakeCarrier
    ) -> None:
        await enforce(root, org.id, cents=120)
        answers = await asyncio.gather(
            self.buy(client, org, phone_number="+12015550141"), self.buy(client, org, phone_number="+12015550142")
        )
        assert sorted(one.status_code for one in answers) == [200, 402]

    async def test_one_that_is_not_sold_is_refunded(
        self, client: AsyncClient, root: Root, org: OrgFixture, carrier: FakeCarrier
    ) -> None:
        await enforce(root, org.id, cents=1000)
        carrier.refuses["buy"] = CarrierFailed("refused", "Not today.", retryable=False)
        assert (await self.buy(client, org)).status_code == 502
        assert await balance(root, org.id) == 1000

    async def test_look_ups_are_charged_and_for_members(
        self, client: AsyncClient, root: Root, org: OrgFixture, carrier: FakeCarrier
    ) -> None:
        await enforce(root, org.id, cents=5)
        assert (await self.look_up(client, org, "viewer")).status_code == 403
        answers = await asyncio.gather(*(self.look_up(client, org) for _ in range(6)))
        assert sorted(one.status_code for one in answers) == [200, 200, 402, 402, 402, 402]
        assert await balance(root, org.id) == 1
        carrier.refuses["look_up"] = CarrierFailed("refused", "Not today.", retryable=False)
        await enforce(root, org.id, cents=5)
        assert (await self.look_up(client, org)).json()["source"] == "offline"
        assert await balance(root, org.id) == 6


async def test_models_outside_of_conversations_cost_something(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await enforce(root, org.id)
    template = {"call_type": "inbound", "use_case": "Bakery", "activity_description": "Takes orders for cakes."}
    preview = {"tts": {"provider": "builtin"}, "text": "Hello."}
    previews = "/organizations/model-configurations/v2/voice-preview"
    for path, asked in (
        ("/workflow/create/template", {"json": template}),
        (previews, {"json": preview}),
        ("/workflow-recordings/transcribe", {"files": {"file": ("a.wav", b"RIFF")}}),
    ):
        answer = await client.post(path, headers=org.owner_headers, **asked)
        assert (answer.status_code, answer.json()["code"]) == (402, "out_of_credit"), path
