"""The audit log after its organization's period: the oldest entries are gone, and its chain holds."""

import json
from datetime import timedelta

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.orgs.audit_trail import trimming
from offhook.orgs.audit_trail.chain import AUDIT_LOG_TRIMMED
from offhook.orgs.audit_trail.exported_entries import verify_lines
from offhook.orgs.tables import AuditCheckpoint, AuditEntry
from offhook.privacy.retention.sweep import RETENTION_JOB
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.test_audit_chain import seal, tamper, verify, write_entries
from tests.privacy.test_organization_deletion import DyingDatabase, Killed

PATH = "/organizations/retention"
DAY = timedelta(days=1)


async def age_entries(root: Root, org: OrgFixture, count: int, days: int) -> None:
    """Makes the first entries old, before they are sealed."""
    async with root.db.transaction() as session:
        first = select(AuditEntry.id).where(AuditEntry.organization_id == org.id).order_by(AuditEntry.id).limit(count)
        old = root.clock.now() - DAY * days
        await session.execute(update(AuditEntry).where(AuditEntry.id.in_(first)).values(created_at=old))


async def trim(root: Root, org: OrgFixture, days: int = 90, batch: int = 1000) -> int:
    return await trimming.trim_audit_log(root.db, root.clock, org.id, root.clock.now() - DAY * days, batch=batch)


async def count_entries(root: Root, org: OrgFixture) -> int:
    async with root.db.transaction() as session:
        rows = select(func.count()).where(AuditEntry.organization_id == org.id, AuditEntry.action != AUDIT_LOG_TRIMMED)
        return await session.scalar(rows) or 0


async def head_of(root: Root, org: OrgFixture) -> str:
    (report,) = [report for report in await verify(root) if report.chain.organization_id == org.id]
    return f"{org.id}:{report.head.position}:{report.head.seal.hex()}"


async def test_the_job_removes_what_is_old(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    days = {"recordings_days": None, "transcripts_days": None, "runs_days": None, "audit_days": 90}
    for one in (org, other_org):
        await write_entries(root.db, one.id, 5)
        await age_entries(root, one, 3, 92)
    assert (await client.put(PATH, json=days, headers=org.owner_headers)).status_code == 200
    await seal(root)
    for _ in range(3):
        await root.jobs.handlers[RETENTION_JOB]({})
        await seal(root)
    reports = {report.chain.organization_id: report for report in await verify(root)}
    # what remains: two entries, the change of the period, and that the log was trimmed
    assert (reports[org.id].sealed, reports[org.id].removed_until, reports[org.id].broken) == (4, 3, None)
    assert (reports[org.id].first_position, reports[org.id].head.position) == (4, 7)
    assert (reports[other_org.id].sealed, reports[other_org.id].broken) == (5, None)
    exported = await client.get("/organizations/audit-log/export", headers=org.owner_headers)
    lines = exported.content.splitlines(keepends=True)
    (report,) = verify_lines(lines)
    assert (report.first_position, report.broken) == (4, None)
    (said,) = [entry["data"] for entry in map(json.loads, lines) if entry["action"] == AUDIT_LOG_TRIMMED]
    assert (said["last_position"], said["entries"]) == (3, 3)


async def test_every_entry_may_be_old(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 6)
    await age_entries(root, org, 6, 100)
    await seal(root)
    before = await head_of(root, org)
    assert await trim(root, org, batch=4) == 6
    # nothing but unsealed entries follows the checkpoint
    (report,) = await verify(root, before)
    assert (report.sealed, report.unsealed, report.removed_until, report.broken) == (0, 2, 6, None)
    await seal(root)
    (report,) = await verify(root, before, await head_of(root, org))
    assert (report.sealed, report.first_position, report.broken) == (2, 7, None)


async def test_what_follows_an_old_entry_is_kept_with_it(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 5)
    await age_entries(root, org, 5, 100)
    async with root.db.transaction() as session:
        third = (
            select(AuditEntry.id).where(AuditEntry.organization_id == org.id).order_by(AuditEntry.id).offset(2).limit(1)
        )
        await session.execute(
            update(AuditEntry).where(AuditEntry.id.in_(third)).values(created_at=root.clock.now() - DAY)
        )
    assert await trim(root, org) == 0, "nothing is sealed"
    await seal(root)
    assert await trim(root, org) == 2
    assert (await count_entries(root, org), (await verify(root))[0].broken) == (3, None)


async def test_a_killed_sweep_leaves_a_chain_that_holds(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 9)
    await age_entries(root, org, 7, 100)
    await seal(root)
    before = root.clock.now() - 90 * DAY
    for rest in (7, 5, 3):
        database = DyingDatabase(root.db.url, lives=1)
        with pytest.raises(Killed):
            await trimming.trim_audit_log(database, root.clock, org.id, before, batch=2)
        await database.dispose()
        assert await count_entries(root, org) == rest
        await seal(root)
        assert (await verify(root))[0].broken is None
    assert (await trim(root, org), await trim(root, org)) == (1, 0)
    async with root.db.transaction() as session:
        checkpoint = await session.get_one(AuditCheckpoint, org.id)
        assert (checkpoint.last_position, checkpoint.entries) == (7, 7)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DELETE FROM audit_entries WHERE position = 4", "missing_position"),
        ("DELETE FROM audit_checkpoints", "missing_position"),
        ("UPDATE audit_checkpoints SET last_seal = sha256('x')", "wrong_previous_seal"),
        ("DELETE FROM audit_entries WHERE action = 'audit_log.trimmed'", "unexplained_checkpoint"),
        (
            """WITH gone AS (DELETE FROM audit_entries WHERE position = 4 RETURNING position, seal)
            UPDATE audit_checkpoints SET last_position = gone.position, last_seal = gone.seal FROM gone""",
            "unexplained_checkpoint",
        ),
    ],
)
async def test_what_somebody_removes_shows(root: Root, org: OrgFixture, statement: str, reason: str) -> None:
    await write_entries(root.db, org.id, 6)
    await age_entries(root, org, 3, 100)
    await seal(root)
    await trim(root, org)
    await seal(root)
    assert (await verify(root))[0].broken is None
    await tamper(root, statement)
    (report,) = await verify(root)
    assert report.broken is not None
    assert report.broken.reason == reason


async def test_heads_that_were_kept_elsewhere(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 3)
    await age_entries(root, org, 3, 100)
    await seal(root)
    third = await head_of(root, org)
    await write_entries(root.db, org.id, 2, first=4)
    await seal(root)
    await trim(root, org)
    await seal(root)
    (report,) = await verify(root, third, f"{org.id}:1:{'00' * 32}")
    assert report.broken is None, "what was removed cannot be compared"
    (report,) = await verify(root, f"{org.id}:3:{'00' * 32}")
    assert report.broken is not None
    assert report.broken.reason == "another_head"
