"""SQLAlchemy's engine with limits: no statement, connection or idle socket keeps its caller waiting without an end."""

import time
from typing import Any, Final
from weakref import WeakKeyDictionary

import asyncpg
from pydantic_core import from_json
from sqlalchemy import Dialect, Engine, ExceptionContext, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from offhook.kit.database.connecting import make_connector
from offhook.kit.database.tcp_keepalive import keep_socket_alive

# The longest statement of a request or a job; migrations and index builds have no limit.
STATEMENT_TIMEOUT_S: Final = 60.0
# With what listens and runs jobs, a process keeps at most twelve connections after a peak.
POOL_SIZE: Final = 9
# Further connections at a peak; they are closed as soon as they are free.
MAX_OVERFLOW: Final = 11
# PostgreSQL closes a connection that was unused for this long: each takes 5 to 9 MB of its memory.
IDLE_TIMEOUT_S: Final = 20.0
# One that may be closed soon is not used again: the share of that time after which it is replaced. The rest is for a
# process that gets no processor between taking a connection and using it.
_IDLE_LIMIT: Final = 0.4
# What a standby answers to a write, as does a primary before a planned switch.
_READ_ONLY: Final = "25006"
# Classes of errors: a constraint that does not hold, a value that is wrong.
_ABOUT_ROWS: Final = frozenset({"22", "23"})
# SQLAlchemy takes part of an address for its own and the rest for arguments of the driver: it gets none.
_BY_OUR_CONNECTOR: Final = "postgresql+asyncpg://"
_OPENED_AT: Final = "offhook_opened_at"
_RETURNED_AT: Final = "offhook_returned_at"
# The unnamed statement, which the next one replaces: named ones would pile up in connections that others get.
_UNPREPARED: Final[dict[str, Any]] = {
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: "",
}


# What an administrator may have set for the role or the database: it would end a long migration, and the idle connection
# that holds its lock.
_UNLIMITED: Final = dict.fromkeys(
    ("statement_timeout", "idle_session_timeout", "idle_in_transaction_session_timeout"), "0"
)


class _ConnectionGuard:
    """Replaces the pooled connections of one engine that cannot be relied on: those that were opened before its
    connections were last distrusted, and with ``idle_timeout_s`` those that were unused for nearly that long."""

    def __init__(self, idle_timeout_s: float | None) -> None:
        self.distrusted_at = 0.0
        self.idle_timeout_s = idle_timeout_s

    def prepare_connection(self, adapted: Any, record: Any) -> None:
        record.info[_OPENED_AT] = time.monotonic()
        keep_socket_alive(adapted.driver_connection)
        if self.idle_timeout_s is not None:
            # not among the settings of a start: a pooler in between may refuse those that it does not know
            statement = f"SET idle_session_timeout = {round(self.idle_timeout_s * 1000)}"
            adapted.run_async(lambda connection: connection.execute(statement))

    def note_return(self, _adapted: Any, record: Any) -> None:
        record.info[_RETURNED_AT] = time.monotonic()

    def refuse_unreliable(self, _adapted: Any, record: Any, _proxy: Any) -> None:
        if record.info[_OPENED_AT] < self.distrusted_at:
            raise DisconnectionError
        returned_at = record.info.pop(_RETURNED_AT, None)
        if self.idle_timeout_s is None or returned_at is None:
            return
        if time.monotonic() - returned_at > self.idle_timeout_s * _IDLE_LIMIT:
            raise DisconnectionError

    def connect(self, dialect: Dialect, _record: Any, arguments: Any, named: Any) -> Any:
        """Raises ConnectionError for whatever keeps a server out of reach: a name without address, a route that is gone, or
        several addresses that fail in different ways."""
        try:
            return dialect.connect(*arguments, **named)
        except (ConnectionError, TimeoutError):
            raise
        except OSError as error:
            raise ConnectionError(str(error)) from error

    def leave_standby(self, context: ExceptionContext) -> None:
        """Has all connections replaced when their server takes no writes: another one does, at the same address."""
        if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
            context.is_disconnect = True


def _hide_rows(context: ExceptionContext) -> None:
    """Takes from an error what PostgreSQL quotes of the row that broke a constraint, or of a value: the driver would show it
    in every traceback, in the log and with failed jobs."""
    cause = context.original_exception.__cause__
    if isinstance(cause, asyncpg.PostgresError) and (cause.sqlstate or "")[:2] in _ABOUT_ROWS:
        cause.detail = None


_guards: WeakKeyDictionary[Engine, _ConnectionGuard] = WeakKeyDictionary()


def create_engine(
    url: str,
    *,
    pool_size: int = POOL_SIZE,
    statement_timeout_s: float | None = STATEMENT_TIMEOUT_S,
    idle_timeout_s: float | None = IDLE_TIMEOUT_S,
    is_pooled: bool = False,
) -> AsyncEngine:
    """An engine for ``postgresql+asyncpg://…``; it connects when it is first used, and again after it was disposed of.

    A statement that takes longer than ``statement_timeout_s`` raises TimeoutError; None is for migrations. PostgreSQL
    closes connections that were unused for ``idle_timeout_s``; None keeps them.
    ``is_pooled``: the address is PgBouncer's in transaction mode, where each transaction has another server connection.
    Statements are not prepared ahead then, and it takes transactions only.
    """
    is_unlimited = statement_timeout_s is None and not is_pooled
    engine = create_async_engine(
        _BY_OUR_CONNECTOR,
        pool_size=pool_size,
        max_overflow=MAX_OVERFLOW,
        pool_pre_ping=False,
        pool_recycle=1800,
        # The least used ones become idle for long enough to be closed.
        pool_use_lifo=True,
        # Takes a third of the time of Python's own encoder; lists of runs are mostly JSON.
        json_deserializer=from_json,
        # Errors are logged; values are people's data and secrets.
        hide_parameters=True,
        connect_args={
            "async_creator_fn": make_connector(url),
            "command_timeout": statement_timeout_s,
            "server_settings": _UNLIMITED if is_unlimited else {},
            **(_UNPREPARED if is_pooled else {}),
        },
    )
    guard = _guards[engine.sync_engine] = _ConnectionGuard(None if is_pooled else idle_timeout_s)
    event.listen(engine.sync_engine, "do_connect", guard.connect)
    event.listen(engine.sync_engine, "connect", guard.prepare_connection)
    event.listen(engine.sync_engine, "checkin", guard.note_return)
    event.listen(engine.sync_engine, "checkout", guard.refuse_unreliable)
    event.listen(engine.sync_engine, "handle_error", guard.leave_standby)
    event.listen(engine.sync_engine, "handle_error", _hide_rows)
    return engine


def distrust_connections(engine: AsyncEngine) -> None:
    """Has every pooled connection that is open now replaced before its next use.

    What silences one connection (a failover, a NAT or proxy that forgot them) mostly silences all of them.
    """
    _guards[engine.sync_engine].distrusted_at = time.monotonic()
