"""Single-use tokens that each open one media socket of one run."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token, new_token
from offhook.kit.database.database_clock import time_of
from offhook.runs import repository as runs
from offhook.runs.errors import MediaTokenRefused
from offhook.runs.live import repository
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import Run

TOKEN_TTL_S = 300


async def store_tokens(
    session: AsyncSession, mode: str, run_ids: Mapping[str, int], *, ttl_s: float = TOKEN_TTL_S
) -> None:
    """Stores the SHA-256 of new tokens; ``run_ids`` maps each token to its run."""
    expires_at = time_of(session) + timedelta(seconds=ttl_s)
    rows = [
        {"token_sha256": hash_token(token), "run_id": run_id, "mode": mode, "expires_at": expires_at}
        for token, run_id in run_ids.items()
    ]
    await repository.insert_media_tokens(session, rows)


async def reissue_token(session: AsyncSession, run: Run, token: str, *, ttl_s: float = TOKEN_TTL_S) -> None:
    """Stores a token of a response that may be requested more than once; it can be spent only once."""
    await store_tokens(session, run.mode, {token: run.id}, ttl_s=ttl_s)


async def is_spent(session: AsyncSession, run: Run, token: str) -> bool:
    """Returns whether a socket was opened with this token of the run."""
    return await repository.is_media_token_spent(session, run, hash_token(token))


async def issue_token(session: AsyncSession, run: Run, *, ttl_s: float = TOKEN_TTL_S) -> str:
    """Creates a token for the socket of this run and mode; only its SHA-256 is stored."""
    token = new_token()
    await store_tokens(session, run.mode, {token: run.id}, ttl_s=ttl_s)
    return token


async def claim_token(session: AsyncSession, token: str, *, run_id: int, mode: str) -> Run:
    """Spends the token and returns its run. Of two sockets with the same token exactly one succeeds, across processes.

    Raises MediaTokenRefused (401), identical for every reason; the transaction's rollback then keeps the token
    unspent.
    """
    is_spent = await repository.spend_media_token(
        session, hash_token(token), run_id=run_id, mode=mode, now=time_of(session)
    )
    run = await runs.run_of_bearer(session, run_id) if is_spent else None
    if run is None or run.status not in LIVE_STATES:
        raise MediaTokenRefused
    return run
