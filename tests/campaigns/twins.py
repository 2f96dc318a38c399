"""The database in memory and PostgreSQL side by side: the same statements, what each answers, what each then holds."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.engine.ports import CampaignTransaction, DialRoute, NoRoute
from offhook.campaigns.engine.store import PostgresTransaction, plan_from_row
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.telephony import OutboundCalls
from tests.campaigns.sim.kernel import Kernel, Pause, Process, Wait
from tests.campaigns.sim.memory import Deadlock, Memory
from tests.campaigns.sim.twin import TwinTx
from tests.fakes.clock import SetClock

BLOCKED: Final = "waits for a lock"
TABLES: Final = {
    "campaigns": "SELECT id, status FROM campaigns",
    "contacts": "SELECT id, phone_number, state, outcome, reason, dials, due_at, hold FROM campaign_contacts",
    "attempts": (
        "SELECT id, contact_id, number, state, because, run_id, outcome, reason, reserved_at, may_dial_until, check_at,"
        " ended_at FROM campaign_attempts"
    ),
    "runs": "SELECT id, status, outcome, end_reason AS reason, call_id FROM runs",
}
Statement = Callable[[CampaignTransaction], Awaitable[Any]]


class Differs(AssertionError):
    """The twin is not what it is taken for."""


def step(work: Awaitable[Any]) -> Any:
    """Drive one statement of the twin to its answer; BLOCKED when it would wait for a lock."""
    steps = work.__await__()
    try:
        while True:
            signal = next(steps)
            if isinstance(signal, Wait):
                steps.close()
                return BLOCKED
            assert isinstance(signal, Pause)
    except StopIteration as end:
        return end.value
    except Deadlock:
        return BLOCKED


@dataclass
class Both:
    """One open transaction in each."""

    twin: TwinTx
    real: PostgresTransaction
    is_broken: bool = False
    last: Any = None

    async def ask(self, name: str, statement: Statement) -> Any:
        """The answer of both. After a wait both transactions are over, as PostgreSQL's is after an error."""
        mine = step(statement(self.twin))
        try:
            theirs = await statement(self.real)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in {"55P03", "40P01"}:
                raise
            theirs = BLOCKED
        if mine != theirs:
            raise Differs(f"{name}: the twin says {mine}, PostgreSQL {theirs}")
        if mine == BLOCKED:
            self.is_broken = True
            self.twin.rollback()
        return mine


class Twins:
    """Two databases that begin with the same campaigns."""

    def __init__(self, root: Root, clock: SetClock, seed: int) -> None:
        self.root = root
        self.clock = clock
        self.rng = Random(seed)
        self.kernel = Kernel(Random(seed))
        self.memory = Memory(self.kernel, clock.now)

    async def begin(self, organization_id: int, campaigns: list[Campaign], limit: int) -> None:
        """Copy what PostgreSQL holds, and let both give the next rows the same ids."""
        self.memory.limits[organization_id] = limit
        async with self.root.db.transaction() as session:
            for table in ("campaign_attempts", "runs"):
                name = table.removeprefix("campaign_")
                next_id = await session.scalar(text(f"SELECT nextval(pg_get_serial_sequence('{table}', 'id'))"))
                self.memory.sequences[name] = int(next_id or 0)
            contacts = (await session.execute(text("SELECT * FROM campaign_contacts ORDER BY id"))).all()
        for campaign in campaigns:
            plan = plan_from_row(campaign)
            self.memory.tables["campaigns"][campaign.id] = {
                "id": campaign.id, "organization_id": organization_id, "status": campaign.status, "plan": plan,
                "reason": None, "starts": 0, "moves": 0,
            }  # fmt: skip
            self.memory.routes[campaign.id] = DialRoute("sandbox:0", None, None)
        for row in contacts:
            names = ("id", "campaign_id", "organization_id", "phone_number", "state", "outcome", "reason", "dials")
            copy = {name: getattr(row, name) for name in (*names, "due_at", "hold")}
            self.memory.tables["contacts"][row.id] = copy
        self.memory.count_unfinished()

    def open(self, session: AsyncSession) -> Both:
        twin = TwinTx(self.memory)
        twin.process = Process("w0")
        return Both(twin, PostgresTransaction(session, self.root.get(OutboundCalls), self.clock))

    async def compare(self) -> None:
        """Every committed row of both."""
        async with self.root.db.transaction() as session:
            for table, query in TABLES.items():
                rows = (await session.execute(text(query))).mappings().all()
                mine = self.memory.tables[table]
                if {row["id"] for row in rows} != set(mine):
                    raise Differs(f"{table}: the twin has {sorted(mine)}, PostgreSQL {sorted(r['id'] for r in rows)}")
                for row in rows:
                    twin = {name: mine[row["id"]].get(name) for name in row}
                    if twin != dict(row):
                        raise Differs(f"{table} {row['id']}: the twin has {twin}, PostgreSQL {dict(row)}")


def plain_route(found: DialRoute | NoRoute) -> tuple[Any, ...]:
    """A route without what only its store can read."""
    if isinstance(found, NoRoute):
        return ("none", found.code)
    return (found.numbers, found.calls_per_second)


def without_call(placings: Any) -> Any:
    """Placings without what only their store can read."""
    return placings if placings == BLOCKED else [replace(one, call=None) for one in placings]
