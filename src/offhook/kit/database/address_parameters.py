"""The parameters of a database's address (``?sslmode=require``): those of libpq that can be kept, as the driver takes
them. What cannot be kept is refused, unless nobody is worse off without it."""

from collections.abc import Callable, Iterable
from typing import Final

import structlog

log = structlog.get_logger(__name__)

SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
VERIFYING_MODES: Final = ("verify-ca", "verify-full")
# The value of sslrootcert for the authorities that this machine trusts anyway.
SYSTEM: Final = "system"
_TLS_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")
# The driver, or the server that it passes them on to, does what they say.
_KEPT: Final = frozenset(
    {"host", "port", "user", "password", "dbname", "passfile", "application_name", "options", "connect_timeout"}
    | {"target_session_attrs", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl", "sslnegotiation"}
    | {"ssl_min_protocol_version", "ssl_max_protocol_version"}
)
_FILES: Final = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
_CHOICES: Final = {
    "sslmode": SSL_MODES,
    "sslnegotiation": ("postgres", "direct"),
    "target_session_attrs": ("any", "read-write", "primary"),
    "channel_binding": ("disable", "prefer", "require"),
    "ssl_min_protocol_version": _TLS_VERSIONS,
    "ssl_max_protocol_version": _TLS_VERSIONS,
}
# What other programs' addresses have, and what this one does by itself or never.
_ALREADY_TRUE: Final[dict[str, tuple[str, ...] | None]] = {
    "gssencmode": ("disable", "prefer"),
    "sslcompression": ("0",),
    "sslsni": ("1",),
    "client_encoding": ("utf8", "UTF8", "utf-8", "UTF-8", "auto"),
    "keepalives": None,
    "keepalives_idle": None,
    "keepalives_interval": None,
    "keepalives_count": None,
    "tcp_user_timeout": None,
    "fallback_application_name": None,
    "load_balance_hosts": None,
    # of Prisma and node-postgres, in what Supabase and Vercel show
    "connection_limit": None,
    "pool_timeout": None,
    "pgbouncer": None,
    "uselibpqcompat": None,
    "supa": None,
}


class DatabaseAddressError(ValueError):
    """An address is none of a PostgreSQL database; one sentence that names the setting, without the address."""


def read_parameters(written: Iterable[tuple[str, str]], *, is_pooler: bool = False) -> dict[str, str]:
    """Returns the parameters to keep; logs those that are left out.

    Raises :class:`DatabaseAddressError` with a sentence that lacks its beginning, the setting.
    """
    parameters: dict[str, str] = {}
    for name, value in written:
        _check_choice(name, value)
        if name in parameters and parameters[name] != value:
            raise DatabaseAddressError(f"has {name} twice, with different values.")
        if name in _KEPT or name == "channel_binding":
            parameters[name] = value
        elif name not in _ALREADY_TRUE:
            raise DatabaseAddressError(f"has the parameter {name}, which Offhook does not know: remove it.")
        elif (values := _ALREADY_TRUE[name]) is not None and value not in values:
            raise DatabaseAddressError(f"has {name}={value}, which Offhook cannot do: remove it.")
        elif name == "pgbouncer" and not is_pooler:
            raise DatabaseAddressError(
                "has the parameter pgbouncer, so it is the address of a pooler: set OFFHOOK_DATABASE_POOLER_URL to it, "
                "and this one to PostgreSQL's own."
            )
        elif values is None and not is_pooler:
            log.warning("database_parameter_ignored", parameter=name)
    _check_numbers(parameters)
    _bind_channel(parameters)
    _check_tls(parameters)
    return parameters


def _check_numbers(parameters: dict[str, str]) -> None:
    timeout = parameters.get("connect_timeout", "0")
    if not timeout.isdecimal() or len(timeout) > 9:
        raise DatabaseAddressError(f"has connect_timeout={timeout}: write whole seconds.")
    ports = parameters.get("port", "0").split(",")
    if not all(port.isdecimal() and len(port) <= 5 and int(port) <= 65535 for port in ports):
        raise DatabaseAddressError("has a port that is none: write a number, or one for each host.")
    if "host" in parameters and not all(parameters["host"].split(",")):
        raise DatabaseAddressError("has a host without a name.")


def _check_choice(name: str, value: str) -> None:
    if name in _CHOICES and value not in _CHOICES[name]:
        raise DatabaseAddressError(f"has {name}={value}: write one of {', '.join(_CHOICES[name])}.")
    if name in _FILES and not value:
        raise DatabaseAddressError(f"has {name} without the path of a file.")


def _bind_channel(parameters: dict[str, str]) -> None:
    """The driver cannot bind a password to its channel. What that is for, that only the right server gets it, is what a
    certificate is verified for."""
    if parameters.pop("channel_binding", None) != "require":
        return
    if parameters.get("sslmode") == "disable":
        raise DatabaseAddressError("has channel_binding=require and sslmode=disable, which contradict each other.")
    if parameters.get("sslmode") != "verify-full":
        log.warning("database_channel_binding_replaced", by="sslmode=verify-full")
    parameters["sslmode"] = "verify-full"


def _check_tls(parameters: dict[str, str]) -> None:
    if "sslmode" not in parameters and parameters.get("sslrootcert") == SYSTEM:
        parameters["sslmode"] = "verify-full"
    mode = parameters.get("sslmode", "prefer")
    for name, is_allowed, needed in _NEEDS_MODE:
        if name in parameters and not is_allowed(mode):
            given = f"sslmode={mode}" if "sslmode" in parameters else "no sslmode"
            raise DatabaseAddressError(f"has {name} and {given}: {name} needs sslmode={needed}.")
    if parameters.get("sslrootcert") == SYSTEM and mode != "verify-full":
        raise DatabaseAddressError(
            f"has sslrootcert=system and sslmode={mode}: everyone can get a certificate of a public authority, so write "
            "sslmode=verify-full."
        )
    if "sslkey" in parameters and "sslcert" not in parameters:
        raise DatabaseAddressError("has sslkey without sslcert, the certificate that belongs to it.")
    least, most = (parameters.get(f"ssl_{end}_protocol_version") for end in ("min", "max"))
    if least is not None and most is not None and least > most:
        raise DatabaseAddressError(f"has ssl_min_protocol_version={least} above ssl_max_protocol_version={most}.")


def _is_demanding(mode: str) -> bool:
    return mode in {"require", *VERIFYING_MODES}


def _is_encrypting(mode: str) -> bool:
    return mode != "disable"


# With a weaker mode the driver would quietly check nothing, or send no certificate.
_NEEDS_MODE: Final[tuple[tuple[str, Callable[[str], bool], str], ...]] = (
    ("sslrootcert", _is_demanding, "verify-full, verify-ca or require"),
    ("sslcrl", _is_demanding, "verify-full, verify-ca or require"),
    ("sslcert", _is_encrypting, "require, verify-ca or verify-full"),
    ("sslkey", _is_encrypting, "require, verify-ca or verify-full"),
)
