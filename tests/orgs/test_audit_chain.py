"""Entries of the audit log are chained: what somebody changes in the database afterwards shows."""

import asyncio

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from offhook.kit.database.database import Database
from offhook.orgs.audit_trail import chain_queries, sealing
from offhook.orgs.audit_trail.chain import AuditChain, ChainHead, ChainReport, ExpectedHead, compute_seal
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.audit_trail.verification import verify_chains
from offhook.orgs.caller import Caller
from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture


async def write_entries(db: Database, organization_id: int, count: int, first: int = 1) -> None:
    async with db.transaction() as session:
        for number in range(first, first + count):
            caller = Caller.system(organization_id, role="admin")
            await write_audit_entry(
                session, caller, "workflow.published", f"workflow:{number}", {"név": "Zoë", "rate": 0.1 * number}
            )


async def seal(root: Root) -> None:
    await root.jobs.handlers["audit.seal"]({})


async def verify(root: Root, *expected: str) -> list[ChainReport]:
    async with root.db.snapshot_transaction() as session:
        return await verify_chains(session, expected=[ExpectedHead.parse(head) for head in expected])


async def tamper(root: Root, *statements: str) -> None:
    async with root.db.transaction() as session:
        for statement in statements:
            await session.execute(text(statement))


@pytest.fixture
async def head(root: Root, org: OrgFixture) -> str:
    """Ten sealed entries of the organization; their head, as an operator notes it."""
    await write_entries(root.db, org.id, 10)
    await seal(root)
    (report,) = await verify(root)
    return f"{org.id}:{report.head.position}:{report.head.seal.hex()}"


async def test_each_organization_and_the_installation_have_a_chain(
    root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    await write_entries(root.db, org.id, 3)
    await write_entries(root.db, other_org.id, 2)
    async with root.db.transaction() as session:
        session.add(AuditEntry(organization_id=None, action="sign_in.failed", data={}))
    await seal(root)
    await write_entries(root.db, org.id, 1)
    found = {report.chain.name: (report.sealed, report.unsealed, report.broken) for report in await verify(root)}
    assert found == {"installation": (1, 0, None), str(org.id): (3, 1, None), str(other_org.id): (2, 0, None)}


async def test_a_chain_that_cannot_be_sealed_keeps_no_other_one_waiting(
    root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    for owner in (org, other_org):
        await write_entries(root.db, owner.id, 1)
    # more digits than are read as a number
    await tamper(root, f"""UPDATE audit_entries SET data = '{{"n": 1e5000}}' WHERE organization_id = {org.id}""")
    with capture_logs() as logged:
        await seal(root)
    assert [(line["event"], line["chain"]) for line in logged if line["log_level"] == "error"] == [
        ("audit_chain_not_sealed", str(org.id))
    ]
    async with root.db.transaction() as session:
        assert [chain.name for chain in await chain_queries.list_unsealed_chains(session)] == [str(org.id)]


async def test_chains_grow_from_job_to_job(root: Root, org: OrgFixture) -> None:
    for first in (1, 4, 7):
        await write_entries(root.db, org.id, 3, first)
        await seal(root)
        await seal(root)
    (report,) = await verify(root)
    assert (report.sealed, report.first_position, report.head.position, report.broken) == (9, 1, 9, None)


async def test_the_head_is_logged(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 2)
    with capture_logs() as logs:
        await seal(root)
    (report,) = await verify(root)
    (logged,) = [line for line in logs if line["event"] == "audit_chain_sealed"]
    assert (logged["chain"], logged["position"], logged["seal"]) == (str(org.id), 2, report.head.seal.hex())


@pytest.mark.parametrize(
    ("statement", "position", "reason"),
    [
        ("UPDATE audit_entries SET target = 'workflow:99' WHERE position = 4", 4, "changed_entry"),
        ("UPDATE audit_entries SET data = data || '{\"rate\": 7}' WHERE position = 1", 1, "changed_entry"),
        ("UPDATE audit_entries SET created_at = created_at - interval '1 us' WHERE position = 10", 10, "changed_entry"),
        ("UPDATE audit_entries SET seal = sha256('x') WHERE position = 6", 6, "changed_entry"),
        ("UPDATE audit_entries SET previous_seal = sha256('x') WHERE position = 6", 6, "wrong_previous_seal"),
        ("DELETE FROM audit_entries WHERE position = 5", 5, "missing_position"),
        ("DELETE FROM audit_entries WHERE position <= 2", 1, "missing_position"),
    ],
)
async def test_a_change_is_found_where_it_was_made(
    root: Root, head: str, statement: str, position: int, reason: str
) -> None:
    await tamper(root, statement)
    (report,) = await verify(root)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (position, reason)


async def test_two_entries_change_places(root: Root, head: str) -> None:
    swap = (
        "UPDATE audit_entries one SET position = -other.position, previous_seal = other.previous_seal, seal = other.seal"
        " FROM audit_entries other WHERE one.position + other.position = 9 AND one.position IN (4, 5)"
    )
    await tamper(root, swap, "UPDATE audit_entries SET position = -position WHERE position < 0")
    (report,) = await verify(root)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (4, "changed_entry")


async def test_an_entry_is_put_in_between(root: Root, head: str, org: OrgFixture) -> None:
    insert = (
        "INSERT INTO audit_entries (organization_id, action, position, previous_seal, seal)"
        " SELECT organization_id, 'member.added', {}, seal, sha256('x') FROM audit_entries WHERE position = {}"
    )
    with pytest.raises(Exception, match="uq_audit_entries_position"):
        await tamper(root, insert.format(7, 6))
    await tamper(
        root,
        "UPDATE audit_entries SET position = -(position + 1) WHERE position >= 7",
        "UPDATE audit_entries SET position = -position WHERE position < 0",
        insert.format(7, 6),
    )
    (report,) = await verify(root)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (7, "changed_entry")


async def test_a_recomputed_seal_does_not_fit_the_next(root: Root, head: str) -> None:
    await tamper(root, "UPDATE audit_entries SET target = 'workflow:99' WHERE position = 4")
    async with root.db.transaction() as session:
        chain = AuditChain(int(head.split(":", maxsplit=1)[0]))
        entries = [found async for found in chain_queries.stream_sealed(session, chain)]
    forged = compute_seal(ChainHead(3, entries[2][1].seal), entries[3][0])
    await tamper(root, f"UPDATE audit_entries SET seal = '\\x{forged.seal.hex()}' WHERE position = 4")
    (report,) = await verify(root)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (5, "wrong_previous_seal")


async def test_missing_last_entries_show_by_a_head_kept_elsewhere(root: Root, head: str, org: OrgFixture) -> None:
    await tamper(root, "DELETE FROM audit_entries WHERE position > 8")
    (report,) = await verify(root)
    assert report.broken is None
    (report,) = await verify(root, head)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (9, "truncated")
    await write_entries(root.db, org.id, 5)
    await seal(root)
    (report,) = await verify(root, head)
    assert report.broken is not None
    assert (report.broken.position, report.broken.reason) == (10, "another_head")
    assert (await verify(root))[0].broken is None


async def test_a_whole_new_chain_shows_by_a_head_kept_elsewhere(root: Root, head: str) -> None:
    await tamper(
        root,
        "UPDATE audit_entries SET position = NULL, previous_seal = NULL, seal = NULL",
        "UPDATE audit_entries SET target = 'workflow:99' WHERE target = 'workflow:3'",
    )
    await seal(root)
    assert (await verify(root))[0].broken is None
    (report,) = await verify(root, head)
    assert report.broken is not None
    assert report.broken.reason == "another_head"
    await tamper(root, "DELETE FROM audit_entries")
    (report,) = await verify(root, head)
    assert report.broken is not None
    assert report.broken.reason == "truncated"


async def test_an_older_head_stays_good(root: Root, head: str, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 5)
    await seal(root)
    assert (await verify(root, head))[0].broken is None


async def test_an_entry_that_commits_late_is_sealed_late(root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as slow:
        caller = Caller.system(org.id, role="admin")
        await write_audit_entry(slow, caller, "number.purchased")
        await write_entries(root.db, org.id, 4)
        await seal(root)
    await seal(root)
    (report,) = await verify(root)
    assert (report.sealed, report.unsealed, report.broken) == (5, 0, None)
    async with root.db.transaction() as session:
        places = await session.execute(text("SELECT action, position FROM audit_entries ORDER BY id"))
        assert next(tuple(row) for row in places) == ("number.purchased", 5)


async def test_writers_and_several_jobs_at_once(root: Root, org: OrgFixture, other_org: OrgFixture) -> None:
    async def write() -> None:
        for first in range(1, 21, 2):
            await write_entries(root.db, org.id, 2, first)
            await write_entries(root.db, other_org.id, 1, first)

    async def seal_on() -> None:
        for _ in range(8):
            for chain in (AuditChain(org.id), AuditChain(other_org.id)):
                await sealing.seal_chain(root.db, chain, batch=7)

    await asyncio.gather(*(write() for _ in range(3)), *(seal_on() for _ in range(3)))
    await seal(root)
    found = [(report.sealed, report.unsealed, report.broken) for report in await verify(root)]
    assert found == [(60, 0, None), (30, 0, None)]


async def test_a_job_that_dies_between_batches_is_continued(root: Root, org: OrgFixture) -> None:
    await write_entries(root.db, org.id, 20)
    chain = AuditChain(org.id)
    async with root.db.transaction() as holder:
        # The job waits for a row of its third batch, and ends there.
        await holder.execute(text("SELECT FROM audit_entries WHERE target = 'workflow:12' FOR UPDATE"))
        job = asyncio.create_task(sealing.seal_chain(root.db, chain, batch=4))
        while (await verify(root))[0].sealed < 8:
            await asyncio.sleep(0.01)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    (report,) = await verify(root)
    assert (report.sealed, report.unsealed, report.broken) == (8, 12, None)
    await seal(root)
    (report,) = await verify(root)
    assert (report.sealed, report.unsealed, report.broken) == (20, 0, None)
