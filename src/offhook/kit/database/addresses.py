"""The addresses of a database as operators write them, as this program keeps them, and as the driver does."""

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from offhook.kit.database.address_parameters import DatabaseAddressError, read_parameters
from offhook.kit.database.server_tls import make_tls

_SQLALCHEMY: Final = "postgresql+asyncpg://"
_DRIVER: Final = "postgresql://"
_SCHEMES: Final = (_SQLALCHEMY, _DRIVER, "postgres://")
# Passwords may hold anything but @ as it is; several hosts are separated by commas, and one may be an IPv6 address.
_ADDRESS: Final = re.compile(
    r"(?:(?P<user>[^:/@?]*)(?::(?P<password>[^@]*))?@)?(?P<hosts>[^/?@]*)(?:/(?P<database>[^?@]*))?(?:\?(?P<query>[^@]*))?"
)
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[^:\[\]]*)(?::(?P<port>\d{0,5}))?")


def read_database_address(address: str, setting: str, *, is_pooler: bool = False) -> str:
    """Returns the address that stands in ``setting`` as ``postgresql+asyncpg://…``, with parameters that
    :func:`~offhook.kit.database.connecting.open_connection` honors. Files that it names were read once.

    Raises :class:`DatabaseAddressError`.
    """
    scheme = next((scheme for scheme in _SCHEMES if address.startswith(scheme)), None)
    if scheme is None:
        raise DatabaseAddressError(f"{setting} must begin with postgresql://; Offhook works on PostgreSQL only.")
    found = _ADDRESS.fullmatch(address.removeprefix(scheme))
    if found is None or not _are_hosts(found["hosts"]):
        # without the value: it contains a password
        raise DatabaseAddressError(
            f"{setting} cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the "
            "password."
        )
    written = parse_qsl(found["query"] or "", keep_blank_values=True)
    try:
        parameters = read_parameters(written, is_pooler=is_pooler)
        make_tls(parameters)
    except DatabaseAddressError as error:
        raise DatabaseAddressError(f"{setting} {error}") from None
    user, password = (found[part] and quote(unquote(found[part]), safe="") for part in ("user", "password"))
    name = "" if user is None else user + ("" if password is None else f":{password}") + "@"
    path = "" if found["database"] is None else f"/{quote(unquote(found['database']), safe='')}"
    query = f"?{urlencode(parameters, safe='/,:')}" if parameters else ""
    return f"{_SQLALCHEMY}{name}{found['hosts']}{path}{query}"


def to_driver_url(url: str) -> str:
    """Returns ``postgresql+asyncpg://…`` as the driver itself takes it."""
    return url.replace(_SQLALCHEMY, _DRIVER, 1)


def _are_hosts(hosts: str) -> bool:
    """Returns whether each of several hosts has a name and each port is one."""
    names = hosts.split(",")
    found = [_HOST.fullmatch(name) for name in names]
    return all(one is not None and int(one["port"] or 0) <= 65535 for one in found) and (len(names) == 1 or all(names))
