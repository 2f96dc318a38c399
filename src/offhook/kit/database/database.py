"""The database: one engine per process, one transaction per request or job, committed only here."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Depends
from sqlalchemy import DateTime, MetaData, event, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import QueuePool
from starlette.requests import HTTPConnection

from offhook.kit.database.connection_shares import ConnectionShares
from offhook.kit.database.engine import (
    IDLE_TIMEOUT_S,
    POOL_SIZE,
    STATEMENT_TIMEOUT_S,
    create_engine,
    distrust_connections,
)
from offhook.kit.json_values import JsonObject, JsonValue

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


# A column's ``info``: the column holds ASCII (numbers, ids of carriers), so that case-insensitive search can compare
# bytes; ``lowered`` names the column of its table with the same text in lower case.
ASCII_COLUMN: Final[dict[str, Any]] = {"is_ascii": True}


class Base(DeclarativeBase):
    """Base class of all tables; times carry their zone and dicts are JSONB."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)
    type_annotation_map = {  # noqa: RUF012
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        JsonObject: JSONB,
        list[JsonValue]: JSONB,
        list[str]: JSONB,
    }


BeforeCommit = Callable[[AsyncSession], Awaitable[None]]
_BEFORE_COMMIT = "offhook_before_commit"
_ORGANIZATION = "offhook_organization"


class DatabaseSilent(TimeoutError):
    """The database did not respond within the statement timeout. The connection is replaced; try again."""


class Database:
    """One engine and its transactions. ``url`` is ``postgresql+asyncpg://…``; ``engine`` replaces a new one for it.

    ``pooler_url`` is PgBouncer's address for the same database: transactions go through it, and ``url`` has what needs
    a connection of its own: LISTEN, the job queue, migrations. A statement that takes longer than ``statement_timeout_s`` raises DatabaseSilent, and its connection is given up.
    """

    def __init__(
        self,
        url: str,
        *,
        pooler_url: str | None = None,
        pool_size: int = POOL_SIZE,
        engine: AsyncEngine | None = None,
        statement_timeout_s: float | None = STATEMENT_TIMEOUT_S,
        idle_timeout_s: float | None = IDLE_TIMEOUT_S,
    ) -> None:
        self.url = url
        self.pooler_url = pooler_url
        self.engine: AsyncEngine = engine or create_engine(
            pooler_url or url,
            pool_size=pool_size,
            statement_timeout_s=statement_timeout_s,
            idle_timeout_s=idle_timeout_s,
            is_pooled=pooler_url is not None,
        )
        self.shares = ConnectionShares()
        # In ``info`` of every session of this database, also of those without a time limit.
        self.session_info: dict[str, Any] = {}
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False, info=self.session_info)

    @asynccontextmanager
    async def transaction(self, organization_id: int | None = None) -> AsyncIterator[AsyncSession]:
        """Opens a transaction: committed when the block ends, rolled back when it raises.

        With ``organization_id`` it waits for a place of this organization first (:class:`ConnectionShares`), and raises
        SQLAlchemy's TimeoutError without one.
        """
        async with (
            self.shares.take(organization_id),
            self._sessions() as session,
            self._give_up_when_silent(session),
            session.begin(),
        ):
            yield session

    @asynccontextmanager
    async def snapshot_transaction(self) -> AsyncIterator[AsyncSession]:
        """Opens a transaction whose statements all see the same snapshot, for counts that must add up."""
        async with self._sessions() as session, self._give_up_when_silent(session), session.begin():
            await session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session

    def single_statement_engine(self) -> AsyncEngine:
        """Returns the engine for transactions of one statement, which need no BEGIN and COMMIT without a pooler.

        Use ``begin()``.
        """
        if self.pooler_url is not None:
            return self.engine
        return self.engine.execution_options(isolation_level="AUTOCOMMIT")

    async def is_pooler_elsewhere(self) -> bool:
        """Returns whether the pooler leads to another database than ``url`` does."""
        if self.pooler_url is None:
            return False
        async with self.without_time_limit() as direct:
            return await _identify_database(direct) != await _identify_database(self)

    async def run_outside_transaction(self, *statements: str) -> None:
        """Runs statements that PostgreSQL only allows outside transactions (``CREATE INDEX CONCURRENTLY``).

        They take as long as they need.
        """
        async with self.without_time_limit() as unlimited, unlimited.engine.connect() as connection:
            outside = await connection.execution_options(isolation_level="AUTOCOMMIT")
            for statement in statements:
                await outside.execute(text(statement))

    @asynccontextmanager
    async def without_time_limit(self) -> AsyncIterator["Database"]:
        """The same database with connections of its own that have no time limit: migrations, index builds, locks."""
        unlimited = Database(self.url, pool_size=1, statement_timeout_s=None, idle_timeout_s=None)
        unlimited.session_info.update(self.session_info)
        try:
            yield unlimited
        finally:
            await unlimited.dispose()

    def count_used_connections(self) -> int:
        """Returns how many connections of the pool are in use."""
        pool = self.engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    def distrust_connections(self) -> None:
        """Replaces all pooled connections before their next use, after one of them was silent for too long."""
        distrust_connections(self.engine)

    @asynccontextmanager
    async def _give_up_when_silent(self, session: AsyncSession) -> AsyncIterator[None]:
        try:
            yield
        except TimeoutError as error:
            # Not a rollback: it would wait on the same connection.
            self.distrust_connections()
            await session.invalidate()
            raise DatabaseSilent from error

    async def dispose(self) -> None:
        await self.engine.dispose()


async def _identify_database(database: Database) -> tuple[Any, ...]:
    async with database.transaction() as session:
        return tuple((await session.execute(text("SELECT current_database(), pg_postmaster_start_time()"))).one())


def before_commit(connection: HTTPConnection, hook: BeforeCommit) -> None:
    """Registers ``hook`` to run at the end of this request's transaction; it is awaited after the endpoint returned."""
    setattr(connection.state, _BEFORE_COMMIT, hook)


def count_for_organization(connection: HTTPConnection, organization_id: int) -> None:
    """Takes the transaction of this request, which begins later, from the connections of this organization."""
    setattr(connection.state, _ORGANIZATION, organization_id)


def after_commit(session: AsyncSession, action: Callable[[], None]) -> None:
    """Calls ``action`` once this transaction is committed; never when it is rolled back."""
    event.listen(session.sync_session, "after_commit", lambda _: action(), once=True)


async def _request_session(connection: HTTPConnection) -> AsyncIterator[AsyncSession]:
    # of requests and of WebSocket handshakes alike
    database: Database = connection.app.state.root.db
    async with database.transaction(getattr(connection.state, _ORGANIZATION, None)) as session:
        yield session
        hook: BeforeCommit | None = getattr(connection.state, _BEFORE_COMMIT, None)
        if hook is not None:
            await hook(session)


# scope="function": committed before the response is sent, so that a client always reads its own writes.
Session = Annotated[AsyncSession, Depends(_request_session, scope="function")]
