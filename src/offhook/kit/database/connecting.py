"""One connection to PostgreSQL by its address, for everything that connects: the engine, LISTEN, jobs and direct reads."""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import asyncpg

from offhook.kit.database.address_parameters import DatabaseAddressError
from offhook.kit.database.addresses import to_driver_url
from offhook.kit.database.server_tls import DatabaseTlsError, describe_failure, make_tls

CONNECT_TIMEOUT_S: Final = 10.0
# Shown by pg_stat_activity.
APPLICATION_NAME: Final = "offhook"
# As libpq: less than that is too little for a network.
_MIN_TIMEOUT_S: Final = 2.0


async def open_connection(
    url: str, *, server_settings: Mapping[str, str] | None = None, **named: Any
) -> asyncpg.Connection:
    """Opens a connection to ``postgresql+asyncpg://…`` with the parameters of its address.

    ``named`` are the driver's further arguments. Raises :class:`DatabaseTlsError` beside the driver's errors.
    """
    address, _, query = to_driver_url(url).partition("?")
    parameters = dict(parse_qsl(query, keep_blank_values=True))
    timeout_s = float(parameters.get("connect_timeout", 0)) or CONNECT_TIMEOUT_S
    settings = {"application_name": parameters.get("application_name", APPLICATION_NAME), **(server_settings or {})}
    try:
        # the driver would take it for a setting of the server
        rest = urlencode({name: value for name, value in parameters.items() if name != "connect_timeout"})
        return await asyncpg.connect(
            f"{address}?{rest}" if rest else address,
            ssl=make_tls(parameters),
            timeout=max(timeout_s, _MIN_TIMEOUT_S),
            server_settings=settings,
            **named,
        )
    except DatabaseAddressError as error:
        raise DatabaseTlsError(f"The address of the database {error}") from None
    except (OSError, asyncpg.PostgresError) as error:
        sentence = describe_failure(error, parameters, _name_server(address, parameters))
        if sentence is None:
            raise
        raise DatabaseTlsError(sentence) from error


def make_connector(url: str) -> Callable[..., Coroutine[Any, Any, asyncpg.Connection]]:
    """Returns :func:`open_connection` for one address, as a pool calls it; what it says of an address is ignored."""

    async def open_for_pool(_address: Any = None, **named: Any) -> asyncpg.Connection:
        return await open_connection(url, **named)

    return open_for_pool


def _name_server(address: str, parameters: dict[str, str]) -> str:
    hosts = re.sub(r"^.*?://(?:[^@]*@)?", "", address).partition("/")[0]
    return hosts or parameters.get("host", "localhost")
