"""The watch over live calls: it sets money aside for them as they use it, and lets them end when there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import text

from offhook.root import Root
from offhook.runs.finishing.costs import CallTariff, tariff_of
from offhook.runs.live.credit_watch import CreditWatch
from offhook.settings import Settings
from offhook.usage import ledger
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun
from tests.usage.test_enforcement import enforce


@dataclass
class Conversation:
    """Implements MeteredSession at a time that the test sets."""

    at_s: float = 0.0
    limits: list[float | None] = field(default_factory=list)

    def elapsed_s(self) -> float:
        return self.at_s

    def usage_so_far(self) -> Mapping[str, Any]:
        return {}

    def limit_time(self, left_s: float | None) -> None:
        self.limits.append(left_s if left_s is None else round(left_s, 1))


@dataclass
class LiveOne:
    """Implements MeteredCall."""

    run_id: int
    organization_id: int
    tariff: CallTariff
    session: Conversation = field(default_factory=Conversation)


class TestACallAtOneCentAMinute:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"call_hold_cents": 2})

    async def begin(self, org: OrgFixture, make_run: MakeRun) -> LiveOne:
        run = await make_run(mode="browser")
        return LiveOne(run.id, org.id, tariff_of(run))

    async def held(self, root: Root) -> int:
        async with root.db.transaction() as session:
            return int(await session.scalar(text("SELECT sum(cents) FROM credit_holds")) or 0)

    async def test_goes_on_while_there_is_money(self, root: Root, org: OrgFixture, make_run: MakeRun) -> None:
        await enforce(root, org.id, cents=4)
        call, watch = await self.begin(org, make_run), CreditWatch(root.db)
        for minute in (0.5, 1.5):
            call.session.at_s = minute * 60
            await watch.check_calls([call])
        assert (call.session.limits, await self.held(root)) == ([None, None], 4)
        call.session.at_s = 150.0
        await watch.check_calls([call])
        assert call.session.limits[-1] == 90.0
        async with root.db.transaction() as session:
            await ledger.add_credit(session, org.id, 100)
        await watch.check_calls([call])
        assert call.session.limits[-1] is None

    async def test_ends_at_once_when_it_has_used_more(self, root: Root, org: OrgFixture, make_run: MakeRun) -> None:
        await enforce(root, org.id, cents=1)
        call, watch = await self.begin(org, make_run), CreditWatch(root.db)
        call.session.at_s = 90.0
        await watch.check_calls([call])
        assert call.session.limits == [0.0]

    async def test_is_left_alone_where_nothing_is_limited(self, root: Root, org: OrgFixture, make_run: MakeRun) -> None:
        async with root.db.transaction() as session:
            await ledger.set_terms(
                session,
                org.id,
                platform_cents_per_minute=None,
                included_minutes=None,
                is_enforced=False,
                daily_limit_cents=0,
            )
        call, watch = await self.begin(org, make_run), CreditWatch(root.db)
        await watch.check_calls([call])
        call.session.at_s = 1000.0
        await watch.check_calls([call])
        assert (call.session.limits, await self.held(root)) == ([None], 0)
