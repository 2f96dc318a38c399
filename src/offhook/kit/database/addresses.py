"""The addresses of a database as operators write them, as SQLAlchemy wants them, and as the driver does."""

from typing import Final

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

_SQLALCHEMY: Final = "postgresql+asyncpg://"
_DRIVER: Final = "postgresql://"
_SCHEMES: Final = (_SQLALCHEMY, _DRIVER, "postgres://")


class DatabaseAddressError(ValueError):
    """An address is none of a PostgreSQL database; one sentence that names the setting, without the address."""


def read_database_address(address: str, setting: str) -> str:
    """Returns the address that stands in ``setting`` as ``postgresql+asyncpg://…``.

    Raises :class:`DatabaseAddressError`.
    """
    scheme = next((scheme for scheme in _SCHEMES if address.startswith(scheme)), None)
    if scheme is None:
        raise DatabaseAddressError(f"{setting} must begin with postgresql://; Offhook works on PostgreSQL only.")
    url = _SQLALCHEMY + address.removeprefix(scheme)
    try:
        make_url(url)
    except (ValueError, ArgumentError):
        # without the value: it contains a password
        raise DatabaseAddressError(
            f"{setting} cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        ) from None
    return url


def to_driver_url(url: str) -> str:
    """Returns ``postgresql+asyncpg://…`` as the driver itself takes it."""
    return url.replace(_SQLALCHEMY, _DRIVER, 1)
