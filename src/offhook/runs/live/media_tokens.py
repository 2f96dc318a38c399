"""Single-use tokens that open one media socket of one run."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import hash_token, new_token
from offhook.runs import repository
from offhook.runs.errors import MediaTokenRefused
from offhook.runs.states import LIVE_STATES
from offhook.runs.tables import MediaToken, Run

TOKEN_TTL_S = 300


async def reissue_token(session: AsyncSession, run: Run, token: str, *, ttl_s: float = TOKEN_TTL_S) -> None:
    """A token that is named in an answer which may be asked for more than once: spent once all the same."""
    await session.execute(
        insert(MediaToken)
        .values(
            token_sha256=hash_token(token),
            run_id=run.id,
            mode=run.mode,
            expires_at=datetime.now(UTC) + timedelta(seconds=ttl_s),
        )
        .on_conflict_do_nothing()
    )


async def issue_token(session: AsyncSession, run: Run, *, ttl_s: float = TOKEN_TTL_S) -> str:
    """A new token for the socket of this run and mode; only its SHA-256 is stored."""
    token = new_token()
    session.add(
        MediaToken(
            token_sha256=hash_token(token),
            run_id=run.id,
            mode=run.mode,
            expires_at=datetime.now(UTC) + timedelta(seconds=ttl_s),
        )
    )
    await session.flush()
    return token


async def claim_token(session: AsyncSession, token: str, *, run_id: int, mode: str) -> Run:
    """Spend the token and return its run. Of two sockets with one token exactly one gets it, in any process.

    Raises :class:`MediaTokenRefused`, the same for every reason, and then nothing is spent.
    """
    now = datetime.now(UTC)
    spent = await session.execute(
        update(MediaToken)
        .where(
            MediaToken.token_sha256 == hash_token(token),
            MediaToken.run_id == run_id,
            MediaToken.mode == mode,
            MediaToken.used_at.is_(None),
            MediaToken.expires_at > now,
        )
        .values(used_at=now)
        .returning(MediaToken.run_id)
    )
    claimed = spent.scalar_one_or_none()
    run = await repository.run_of_claimed_token(session, claimed) if claimed is not None else None
    if run is None or run.status not in LIVE_STATES:
        raise MediaTokenRefused
    return run
