"""Reports of a call in every order in which they may come, some of them twice: one end of the run, one slot freed once, one bill."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import asyncpg
import pytest

from offhook.campaigns import CampaignServices
from offhook_lab.carriers import CloudonixEmulator, OutgoingCallback
from tests.calls.carrier_desk import PUBLIC
from tests.campaigns.desk import Desk, numbers
from tests.telephony.emulator_desk import TWILIO_QUICKLY
from tests.telephony.platform_desk import MACHINE, ONE_WHO_HANGS_UP, Platform

# So many callbacks, each told twice where they are few: all 120 orders of five are among the slow tests.
LENGTHS = [2, pytest.param(5, marks=pytest.mark.slow)]
MOST = 5
ONE_BY_ONE = bool(os.environ.get("OFFHOOK_TEST_EVERY_ORDER"))
# How long a call lasted whose carrier does not say it is measured between its reports.
MEASURED = {"telnyx": frozenset({"duration", "duration_ms", "billable_ms", "usage", "quantity"})}
# Everything that reports of a call change, and what of it says what became of the call.
TABLES = {
    "runs": "status outcome end_reason call_id duration cost_cents gathered_context carrier_bill usage lease_until",
    "run_events": "",
    "run_values": "",
    "run_usage": "run_id cost_cents duration_ms outcome",
    "run_cost_lines": "run_id kind provider model unit quantity unit_price_cents",
    "ledger_entries": "run_id kind amount_cents",
    "billing_accounts": "organization_id balance_cents",
    "usage_buckets": "organization_id calls duration_ms billable_ms cost_cents",
    "agent_days": "organization_id workflow_id outcome calls duration_ms cost_cents",
    "outcome_buckets": "organization_id outcome calls",
    "campaigns": "id status",
    "campaign_attempts": "run_id number state outcome reason",
    "campaign_contacts": "id state outcome reason hold dials",
    "webhook_events": "type",
    "seen_webhooks": "",
    "pgqueuer": "",
}


@dataclass
class Books:
    """Those tables, which can be put back to what they were at one of a few moments."""

    connection: Any
    _copies: list[str] = field(default_factory=list)
    _swaps: list[str] = field(default_factory=list)

    async def open(self, moments: int) -> None:
        columns = await self.connection.fetch(
            "SELECT table_name, string_agg(quote_ident(column_name), ', ') FROM information_schema.columns"
            " WHERE table_schema = 'public' AND is_generated = 'NEVER' AND table_name = ANY($1) GROUP BY 1",
            list(TABLES),
        )
        for moment in range(moments):
            then = f"at_{moment}"
            made = [f"CREATE TABLE {then}.{table} AS SELECT {names} FROM {table}" for table, names in columns]
            await self.connection.execute(";".join([f"CREATE SCHEMA {then}", *made]))
            copies = [
                f"DELETE FROM {then}.{table}; INSERT INTO {then}.{table} SELECT {names} FROM {table}"
                for table, names in columns
            ]
            swaps = [
                f"DELETE FROM {table}; INSERT INTO {table} ({names}) TABLE {then}.{table}" for table, names in columns
            ]
            self._copies.append(";".join(copies))
            # without triggers: what they would note was noted before
            self._swaps.append(";".join(["BEGIN; SET LOCAL session_replication_role = replica", *swaps, "COMMIT"]))

    async def keep(self, moment: int) -> None:
        await self.connection.execute(self._copies[moment])

    async def put_back(self, moment: int) -> None:
        await self.connection.execute(self._swaps[moment])

    async def read(self, but: frozenset[str]) -> str:
        """What is told apart."""
        found: dict[str, list[str]] = {}
        for table, names in TABLES.items():
            wanted = frozenset(names.split()) - but
            rows = await self.connection.fetch(f"SELECT to_jsonb(t) AS row FROM {table} t") if wanted else []
            parts = [{name: value for name, value in json.loads(row["row"]).items() if name in wanted} for row in rows]
            # a count that went back to nothing is none
            found[table] = sorted(json.dumps(part, sort_keys=True) for part in parts if part.get("calls") != 0)
        return json.dumps(found)


@asynccontextmanager
async def books(url: str) -> AsyncIterator[Books]:
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        yield Books(connection)
    finally:
        await connection.close()


async def called_by_a_campaign(platform: Platform, name: str) -> list[OutgoingCallback]:
    """What the carrier says of a campaign's only call, which a machine takes; nothing of it is told yet."""
    carrier, (number,) = platform.carrier, numbers(1)
    desk = Desk(platform.client, {}, platform.workflow_id)
    campaign = await desk.made(
        f"phone_number,name\n{number},Ann\n".encode(), telephony_configuration_id=platform.configuration_id
    )
    assert (await desk.ask("POST", f"/{campaign['id']}/start")).status_code == 200
    carrier.chaos.holds_callbacks = True
    # Cloudonix detects no machines.
    carrier.phones[number] = ONE_WHO_HANGS_UP if name == "cloudonix" else MACHINE
    assert await platform.root.get(CampaignServices).engine.run_dial_pass(platform.organization_id) == 1
    (call,) = carrier.calls
    async with asyncio.timeout(60):
        await call.ended.wait()
    await carrier.wait_settled(60)
    # of the call itself, not of its stream
    told = [
        callback
        for callback in carrier.held_callbacks
        if "stream" not in callback.kind and b"wss:" not in callback.body
    ]
    return told[-MOST:]


@dataclass
class Telling:
    """Tells what is left in every order. Orders of the same reports that have led to the same books go on alike, so that
    they go on once; with OFFHOOK_TEST_EVERY_ORDER each of them does."""

    platform: Platform
    reports: list[OutgoingCallback]
    kept: Books
    but: frozenset[str]
    known: dict[tuple[object, ...], Counter[str]] = field(default_factory=dict)

    async def tell(self, index: int) -> None:
        told = await self.platform.carrier.callback_sender.deliver_signed(self.reports[index])
        assert told.status == 200, (told.kind, told.answer)

    async def ends(self, before: list[int], left: list[int]) -> Counter[str]:
        """What comes of it, and of how many orders."""
        ended = [event.status for event in self.platform.ended]
        books = await self.kept.read(self.but)
        key = (*(before if ONE_BY_ONE else sorted(before)), books, *ended)
        if key not in self.known:
            await self.kept.keep(len(before))
            for index in before if not left else before[-1:]:  # what is over is told all of it once more
                await self.tell(index)
            assert await self.kept.read(self.but) == books, ("told twice", before)
            assert [event.status for event in self.platform.ended] == ended, before
            self.known[key] = await self._next(before, left) if left else Counter([books])
            assert left or ended == ["completed"], before
        return self.known[key]

    async def _next(self, before: list[int], left: list[int]) -> Counter[str]:
        found: Counter[str] = Counter()
        ended = list(self.platform.ended)
        for index in sorted(set(left)):
            await self.kept.put_back(len(before))
            self.platform.ended[:] = ended
            await self.tell(index)
            rest = list(left)
            rest.remove(index)
            found += await self.ends([*before, index], rest)
        return found


def describe_differences(ends: list[str]) -> str:
    """Returns the tables in which orders ended differently, with their rows."""
    read = [json.loads(books) for books in ends]
    return "; ".join(
        f"{table}: {[books[table] for books in read]}"
        for table in TABLES
        if any(books[table] != read[0][table] for books in read)
    )


@TWILIO_QUICKLY
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.slow
async def test_every_order_ends_alike(name: str, length: int, platform: Platform, database_url: str) -> None:
    if isinstance(platform.carrier, CloudonixEmulator):
        platform.carrier.domain_settings["cdr"] = f"{PUBLIC}/api/v1/telephony/cloudonix/cdr"
    reports = (await called_by_a_campaign(platform, name))[-length:]
    # where they are few, the last ones come twice
    told = [*range(len(reports)), *range(len(reports))[::-1]][:length]
    async with books(database_url) as kept:
        await kept.open(length + 1)
        ends = await Telling(platform, reports, kept, MEASURED.get(name, frozenset())).ends([], told)
    assert list(ends.values()) == [len(set(permutations(told)))], describe_differences(list(ends))
    found = {table: [json.loads(row) for row in rows] for table, rows in json.loads(next(iter(ends))).items()}
    ((run,), (attempt,), (contact,)) = (found[table] for table in ("runs", "campaign_attempts", "campaign_contacts"))
    assert (run["status"], attempt["state"]) == ("completed", "final")
    if name == "cloudonix":
        assert (run["outcome"], attempt["outcome"], contact["outcome"]) == ("answered",) * 3
    else:
        assert (run["outcome"], attempt["outcome"], contact["hold"]) == ("voicemail", "voicemail", "retry_delay")
    assert [row["calls"] for row in found["usage_buckets"]] == [1]
    assert len(found["run_usage"]) == 1
    assert len(found["ledger_entries"]) == (1 if run["cost_cents"] else 0)
