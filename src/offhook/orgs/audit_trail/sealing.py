"""The job that seals new entries of the audit log, each organization's as its own chain (:mod:`.chain`).

Requests write entries without waiting for each other. The order of a chain is that in which this job found the entries.
"""

from collections.abc import Sequence
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS, is_permanent_error
from offhook.kit.json_values import JsonObject
from offhook.orgs.audit_trail import chain_queries
from offhook.orgs.audit_trail.chain import AuditChain, ChainHead, Seal, compute_seal
from offhook.orgs.audit_trail.recorder import write_audit_entry
from offhook.orgs.caller import Caller

log = structlog.get_logger(__name__)

SEAL_EVERY_S: Final = 15.0
BATCH: Final = 500
# Of one chain in one job: an old log is sealed over several jobs, and keeps no other organization's waiting.
MAX_BATCHES: Final = 40


async def seal_audit_log(db: Database, _: JsonObject) -> None:
    """Handles the job ``audit.seal``."""
    async with db.transaction() as session:
        chains = await chain_queries.list_unsealed_chains(session)
    for chain in chains:
        try:
            await seal_chain(db, chain)
        except Exception as error:  # whatever one log holds: only an outage concerns those of other organizations
            if isinstance(error, DATABASE_ERRORS) and not is_permanent_error(error):
                raise
            log.exception("audit_chain_not_sealed", chain=chain.name)


async def seal_chain(db: Database, chain: AuditChain, *, batch: int = BATCH) -> None:
    """Seals what the chain has, in short transactions, and logs its head: kept elsewhere, it shows what the database
    cannot show about itself."""
    head: ChainHead | None = None
    for _ in range(MAX_BATCHES):
        sealed, count = await _seal_batch(db, chain, batch)
        head = sealed or head
        if count < batch:
            break
    if head is not None:
        log.info("audit_chain_sealed", chain=chain.name, position=head.position, seal=head.seal.hex())


async def reopen_chain(session: AsyncSession, caller: Caller, entry_ids: Sequence[int]) -> None:
    """Unseals these entries of the caller's organization and all after them, because a person's data are erased in them.

    The job seals them again. An entry says where, and which head was valid until then: a head that is kept elsewhere is
    compared with that one.
    """
    chain = AuditChain(caller.organization_id)
    await chain_queries.lock_chain(session, chain)
    head = await chain_queries.find_head(session, chain)
    position = await chain_queries.unseal_from(session, chain, entry_ids)
    if position is not None:
        data = {"from_position": position, "last_position": head.position, "last_seal": head.seal.hex()}
        await write_audit_entry(session, caller, "audit_log.reopened", None, data)


async def _seal_batch(db: Database, chain: AuditChain, batch: int) -> tuple[ChainHead | None, int]:
    # The lock comes first: what another process sealed under it has to be seen by the statements that follow.
    async with db.transaction() as session:
        if not await chain_queries.try_lock_chain(session, chain):
            return None, 0
        found = await chain_queries.find_unsealed(session, chain, batch)
        if not found:
            return None, 0
        head = await chain_queries.find_head(session, chain)
        seals: list[tuple[int, Seal]] = []
        for content in found:
            seal = compute_seal(head, content)
            seals.append((content.id, seal))
            head = ChainHead(seal.position, seal.seal)
        await chain_queries.write_seals(session, chain, seals)
    return head, len(found)
