"""TLS to PostgreSQL: what an address says of it as a context, and what went wrong with it as a sentence."""

import ssl
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, cast

import asyncpg

from offhook.kit.database.address_parameters import SYSTEM, VERIFYING_MODES, DatabaseAddressError

OptionalTls = Literal["disable", "allow", "prefer"]
# Where libpq looks when an address names no file.
_HOME_FILES: Final = {"sslrootcert": "root.crt", "sslcert": "postgresql.crt", "sslkey": "postgresql.key"}
# Numbers of OpenSSL: the certificate is of another name or address; it or an authority of it is unknown; it is past.
_WRONG_NAME: Final = frozenset({62, 64})
_UNKNOWN_AUTHORITY: Final = frozenset({18, 19, 20, 21})
_EXPIRED: Final = 10
# In the driver's words, the server's, and those of poolers.
_NO_TLS: Final = "rejected SSL upgrade"
_TLS_DEMANDED: Final = ("no encryption", "SSL off", "SSL required", "connection is insecure")
_CLIENT_HINT: Final = "if it asks for a client's certificate, check sslcert and sslkey"
_ALPN: Final = "postgresql"


class DatabaseTlsError(ConnectionError):
    """No connection to PostgreSQL for a reason of TLS; one sentence, without the address."""


def make_tls(parameters: Mapping[str, str]) -> ssl.SSLContext | OptionalTls | None:
    """Returns the driver's argument ``ssl``; None leaves it to the driver.

    Raises :class:`DatabaseAddressError`, with a sentence that lacks its beginning, for files that cannot be used.
    """
    mode = parameters.get("sslmode")
    if mode is None and "sslcert" not in parameters:
        return None
    files = {name: parameters.get(name) or _find_home_file(name) for name in ("sslrootcert", "sslcert", "sslkey")}
    if mode is None or mode in {"disable", "allow", "prefer"}:
        if "sslcert" in parameters:
            _load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), parameters)
        return cast(OptionalTls, mode or "prefer")
    if "sslcert" in parameters and "sslkey" not in parameters:
        files["sslkey"] = None  # it is in the same file
    chosen = {**parameters, **{name: path for name, path in files.items() if path is not None}}
    if mode == "verify-full":
        chosen.setdefault("sslrootcert", SYSTEM)
    if mode == "verify-ca" and "sslrootcert" not in chosen:
        raise DatabaseAddressError(
            "has sslmode=verify-ca: name the file of the authority's certificate in sslrootcert."
        )
    changed = tuple(_changed_at(chosen.get(name)) for name in ("sslrootcert", "sslcert", "sslkey", "sslcrl"))
    return _make_context(tuple(sorted(chosen.items())), changed)


@lru_cache(maxsize=8)
def _make_context(parameters: tuple[tuple[str, str], ...], _changed: tuple[int | None, ...]) -> ssl.SSLContext:
    """Reads certificates once and again when a file has changed: those of all authorities take 20 ms of a loop with calls."""
    chosen = dict(parameters)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = chosen["sslmode"] == "verify-full"
    context.verify_mode = ssl.CERT_REQUIRED
    if chosen.get("sslrootcert") == SYSTEM:
        context.load_default_certs()
    elif "sslrootcert" in chosen:
        _load_authorities(context, "sslrootcert", chosen["sslrootcert"])
    else:
        context.verify_mode = ssl.CERT_NONE
    if "sslcrl" in chosen:
        _load_authorities(context, "sslcrl", chosen["sslcrl"])
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_CHAIN
    if "sslcert" in chosen:
        _load_certificate(context, chosen)
    context.minimum_version = _version(chosen.get("ssl_min_protocol_version", "TLSv1.2"))
    if "ssl_max_protocol_version" in chosen:
        context.maximum_version = _version(chosen["ssl_max_protocol_version"])
    context.set_alpn_protocols([_ALPN])
    return context


def describe_failure(error: Exception, parameters: Mapping[str, str], where: str) -> str | None:
    """Returns why a connection failed if that was for TLS."""
    mode, server = parameters.get("sslmode"), f"PostgreSQL at {where}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {server} is refused: {_describe_certificate(error, parameters)}"
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).replace("_", " ").lower()
        hint = "" if "alert" not in reason else f"; {_CLIENT_HINT}"
        return f"TLS with {server} failed: {reason}{hint}."
    if isinstance(error, asyncpg.ConnectionDoesNotExistError) and mode in {"require", *VERIFYING_MODES}:
        # in TLS 1.3 a client is refused after its handshake
        return f"{server} ended the connection: {_CLIENT_HINT}."
    if isinstance(error, ConnectionError) and _NO_TLS in str(error):
        return f"{server} does not offer TLS, and its address demands it with sslmode={mode}."
    if isinstance(error, asyncpg.PostgresError) and any(words in str(error) for words in _TLS_DEMANDED):
        return f"{server} refuses connections without TLS: write sslmode=require or sslmode=verify-full in its address."
    return None


def _describe_certificate(error: ssl.SSLCertVerificationError, parameters: Mapping[str, str]) -> str:
    named = parameters.get("sslrootcert", SYSTEM)
    known = "this machine's authorities" if named == SYSTEM else named
    if error.verify_code in _WRONG_NAME:
        return "it is for another host. Connect by a name that it has; sslmode=verify-ca does not compare names."
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return f"no authority in {known} signed it. Name the right authority's certificate in sslrootcert."
    if error.verify_code == _EXPIRED:
        return "it has expired."
    return f"{error.verify_message}."


def _find_home_file(name: str) -> str | None:
    try:
        path = Path.home() / ".postgresql" / _HOME_FILES[name]
        return str(path) if path.exists() else None
    except (OSError, RuntimeError):  # a home that is closed to us, or none
        return None


def _changed_at(path: str | None) -> int | None:
    try:
        return None if path is None or path == SYSTEM else Path(path).stat().st_mtime_ns
    except OSError:
        return None


def _load_authorities(context: ssl.SSLContext, name: str, path: str) -> None:
    try:
        context.load_verify_locations(cafile=path)
    except ssl.SSLError:
        raise DatabaseAddressError(f"has {name}={path}, which is no file of certificates (PEM).") from None
    except OSError as error:
        raise _unreadable(name, path, error) from None


def _load_certificate(context: ssl.SSLContext, chosen: Mapping[str, str]) -> None:
    certificate, key = chosen["sslcert"], chosen.get("sslkey")
    for name, path in (("sslcert", certificate), ("sslkey", key)):
        try:
            if path is not None:
                Path(path).open("rb").close()
        except OSError as error:
            raise _unreadable(name, path, error) from None
    try:
        # a function, as OpenSSL would ask on the terminal without one
        context.load_cert_chain(certificate, key, password=lambda: chosen.get("sslpassword", ""))
    except (ssl.SSLError, ValueError) as error:
        reason = (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
        names = f"sslcert={certificate}" + (f" and sslkey={key}" if key is not None else "")
        raise DatabaseAddressError(f"has {names}, which cannot be used: {reason}.") from None


def _unreadable(name: str, path: str | None, error: OSError) -> DatabaseAddressError:
    return DatabaseAddressError(f"has {name}={path}, which cannot be read: {error.strerror or error}.")


def _version(name: str) -> ssl.TLSVersion:
    return ssl.TLSVersion[name.replace(".", "_")]
