"""The check of the chains in the database."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.audit_trail import chain_queries
from offhook.orgs.audit_trail.chain import AuditChain, ChainReport, ChainVerifier, ExpectedHead


async def verify_chains(
    session: AsyncSession, chain: AuditChain | None = None, expected: Sequence[ExpectedHead] = ()
) -> list[ChainReport]:
    """Checks this chain, or all of them and those of the expected heads, in a transaction of one snapshot."""
    chains = [chain] if chain else await chain_queries.list_chains(session)
    chains += [kept.chain for kept in expected if chain in (None, kept.chain)]
    return [await _verify_chain(session, found, expected) for found in dict.fromkeys(chains)]


async def _verify_chain(session: AsyncSession, chain: AuditChain, expected: Sequence[ExpectedHead]) -> ChainReport:
    checkpoint = await chain_queries.find_checkpoint(session, chain)
    verifier = ChainVerifier(chain, expected, checkpoint=checkpoint)
    async for content, seal in chain_queries.stream_sealed(session, chain):
        verifier.add_sealed(content, seal)
    verifier.add_unsealed(await chain_queries.count_unsealed(session, chain))
    if checkpoint.position and not await chain_queries.explains_checkpoint(session, chain, checkpoint):
        verifier.note_unexplained_checkpoint()
    return verifier.finish()
