"""What tests of usage start from: facts of finished runs, and a superuser."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.usage.run_facts import RunCost, RunFacts
from offhook.usage.service import record_runs
from tests.fixtures_orgs import OrgFixture

Record = Callable[..., Awaitable[RunCost]]
_ids = count(1)


def facts(organization_id: int, **values: Any) -> RunFacts:
    """A run of one minute that cost five cents."""
    known: dict[str, Any] = {
        "run_id": next(_ids),
        "organization_id": organization_id,
        "workflow_id": 1,
        "campaign_id": None,
        "created_at": datetime.now(UTC),
        "duration_ms": 60_000,
        "is_billable": True,
        "cost_cents": Decimal(5),
    }
    return RunFacts(**(known | values))


@pytest.fixture
def record(root: Root, org: OrgFixture) -> Record:
    """Record a finished run of ``org``: ``await record(duration_ms=1500, cost_cents=Decimal("2.4"))``."""

    async def record_one(**values: Any) -> RunCost:
        async with root.db.transaction() as session:
            organization_id = values.pop("organization_id", org.id)
            (cost,) = await record_runs(session, organization_id, [facts(organization_id, **values)])
            return cost

    return record_one


@pytest.fixture
async def superuser(root: Root, other_org: OrgFixture) -> dict[str, str]:
    """Headers of a superuser who belongs to another organization than ``org``."""
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, other_org.email("owner"))
    return other_org.owner_headers
