"""The servers that a credential may be sent to: changing an address must not be enough to collect secrets."""

import re
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from offhook.kit.egress.errors import UrlInvalid
from offhook.kit.egress.policy import EgressPolicy

MAX_HOST_CHARS: Final = 253
_ANY_URL: Final = EgressPolicy.parse("0.0.0.0/0,::/0")  # form only: every call checks the destination


def host_of(url: str) -> str:
    """Returns the host of an address or an address template, in ASCII and lower case. Raises UrlInvalid."""
    host = _ANY_URL.parse_url(re.sub(r"\{\{[^{}]*\}\}", "x", url.strip())).host
    if len(host) > MAX_HOST_CHARS:
        raise UrlInvalid(f"Hosts are limited to {MAX_HOST_CHARS} characters.")
    return host


def is_host_allowed(allowed: Sequence[str], host: str) -> bool:
    """Returns True if ``allowed`` has the host, or ``*.`` and a parent domain of it."""
    return any(host == entry or (entry.startswith("*.") and host.endswith(entry[1:])) for entry in allowed)


def _normalize_host(entry: str) -> str:
    prefix = "*." if entry.startswith("*.") else ""
    name = entry.removeprefix("*.")
    if prefix and "." not in name:
        raise ValueError("a top-level domain is too broad; use a domain such as *.example.com")
    with suppress(ValueError):
        return str(ip_address(entry.strip("[]")))
    if re.search(r"[/?#@:\s{}\[\]]", name):
        raise ValueError("must be a host without scheme, port and path, such as crm.example.com or *.example.com")
    try:
        host = host_of(f"https://{name}/")
    except UrlInvalid as error:
        raise ValueError(error.message) from None
    if len(prefix + host) > MAX_HOST_CHARS:
        raise ValueError(f"a host is limited to {MAX_HOST_CHARS} characters")
    return prefix + host


Host = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=253), AfterValidator(_normalize_host)
]
Hosts = Annotated[list[Host], Field(max_length=20)]
