"""Removes the oldest entries of an organization's audit log, and keeps what its chain needs to hold without them."""

from datetime import datetime
from typing import Final

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.orgs.audit_trail import chain_queries
from offhook.orgs.audit_trail.chain import AUDIT_LOG_TRIMMED, AuditChain, ChainHead
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller

BATCH: Final = 1000


async def trim_audit_log(
    db: Database, clock: Clock, organization_id: int, before: datetime, *, batch: int = BATCH, max_batches: int = 50
) -> int:
    """Removes sealed entries from the first position on, up to the first one that was made at ``before`` or later, and
    returns how many.

    Each batch is one transaction: the entries go, the checkpoint has the last seal among them, and an entry at the other end
    of the chain says so. A chain that another process is sealing is left for the next sweep.
    """
    removed = 0
    for _ in range(max_batches):
        count = await _trim_batch(db, clock, AuditChain(organization_id), before, batch)
        removed += count
        if count < batch:
            break
    return removed


async def _trim_batch(db: Database, clock: Clock, chain: AuditChain, before: datetime, batch: int) -> int:
    organization_id = chain.organization_id
    assert organization_id is not None
    async with db.transaction() as session:
        if not await chain_queries.try_lock_chain(session, chain):
            return 0
        old: list[int] = []
        last = ChainHead()
        for content, seal in await chain_queries.list_first_sealed(session, chain, batch):
            if content.created_at >= before:
                break
            old.append(content.id)
            last = ChainHead(seal.position, seal.seal)
        if old:
            await chain_queries.delete_entries(session, chain, old)
            await chain_queries.store_checkpoint(session, organization_id, last, len(old), clock.now())
            data = {"last_position": last.position, "last_seal": last.seal.hex(), "entries": len(old)}
            await write_audit_entry(session, Caller.system(organization_id), AUDIT_LOG_TRIMMED, None, data)
    return len(old)
