"""The addresses that may be called: public ones, and those that the operator allows by name or network."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx2

from offhook.kit.egress.errors import AddressRefused, UrlInvalid

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

MAX_URL_LENGTH = 4096
_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9._-]{1,253}", re.IGNORECASE)
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\.?", re.IGNORECASE)

# Networks that ``is_global`` lets through or that differ between Python's versions. Sources: the IANA special-purpose
# address registries; 168.63.129.16 is Azure's host agent, which answers with credentials.
_NEVER_PUBLIC: tuple[IPNetwork, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        "168.63.129.16/32",
        "::/8",
        "64:ff9b:1::/48",
        "100::/8",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/9",
        "ff00::/8",
    )
)
# Networks that an allowed name must not lead to: these need to be allowed as a network.
_NEVER_BY_NAME: tuple[IPNetwork, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "224.0.0.0/3",
        "::/128",
        "fd00:ec2::/32",
        "fe80::/10",
        "ff00::/8",
    )
)
_NAT64 = ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class EgressTarget:
    """A parsed URL: ``host`` in ASCII, lower case, without brackets and final dot."""

    url: httpx2.URL
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """Public addresses, plus ``hosts`` (a port of None means every port) and ``networks``."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[IPNetwork, ...] = ()

    @classmethod
    def parse(cls, allowed: str) -> "EgressPolicy":
        """Parses the setting: names (``crm.internal``, ``localhost:11434``), addresses and networks, separated by
        commas.

        Raises ValueError naming the invalid entry.
        """
        hosts: set[tuple[str, int | None]] = set()
        networks: list[IPNetwork] = []
        for entry in filter(None, (part.strip() for part in allowed.split(","))):
            try:
                networks.append(ip_network(entry, strict=False))
                continue
            except ValueError:
                pass
            name, _, port = entry.partition(":")
            if not re.fullmatch(r"(?=.*[a-z])[a-z0-9]([a-z0-9._-]*[a-z0-9])?", name.lower()) or not (
                not port or re.fullmatch(r"[0-9]{1,5}", port)
            ):
                raise ValueError(f"{entry!r} is neither a host's name nor a network")
            hosts.add((name.lower(), int(port) if port else None))
        return cls(frozenset(hosts), tuple(networks))

    def permits(self, host: str, port: int, address: IPAddress) -> bool:
        """Returns whether connecting to ``address``, which ``host`` resolved to, is allowed."""
        plain = _unwrap_ipv4(address)
        if _is_within(plain, self.networks):
            return True
        if (host, None) in self.hosts or (host, port) in self.hosts:
            return not _is_within(plain, _NEVER_BY_NAME)
        return plain.is_global and not plain.is_multicast and not _is_within(plain, _NEVER_PUBLIC)

    def parse_url(self, url: str) -> EgressTarget:
        """Parses and checks a URL without a name lookup. Raises UrlInvalid and AddressRefused.

        Hosts that are numbers in notations other than four decimals (``2130706433``, ``0x7f.1``, ``0177.0.0.1``)
        are refused: programs disagree on what they mean.
        """
        target = _parse_target(url)
        literal = literal_address(target.host)
        if literal is not None and not self.permits(target.host, target.port, literal):
            raise AddressRefused
        return target


def literal_address(host: str) -> IPAddress | None:
    """Returns the address that a literal host spells out, None for a name. Raises UrlInvalid for odd notations."""
    try:
        address = ip_address(host)
    except ValueError:
        if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]) or ":" in host or not host.rstrip("."):
            raise UrlInvalid(f"{host[:80]!r} is not a host: write an IPv4 address as four decimal numbers.") from None
        if not _NAME.fullmatch(host):
            raise UrlInvalid(f"{host[:80]!r} is not a host.") from None
        return None
    if isinstance(address, IPv6Address) and address.scope_id:
        raise UrlInvalid("IPv6 addresses with a zone are not supported.")
    return address


def _parse_target(url: str) -> EgressTarget:
    if len(url) > MAX_URL_LENGTH:
        raise UrlInvalid(f"URLs are limited to {MAX_URL_LENGTH} characters.")
    try:
        parsed = httpx2.URL(url)
        host, port = parsed.raw_host.decode("ascii").lower().rstrip("."), parsed.port
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise UrlInvalid(f"The URL is invalid: {error}") from None
    if parsed.scheme not in _PORTS or not host:
        raise UrlInvalid
    if parsed.userinfo:
        raise UrlInvalid("Store the user name and password in a credential, not in the URL.")
    port = _PORTS[parsed.scheme] if port is None else port
    if not 1 <= port <= 65535:
        raise UrlInvalid(f"{port} is not a port.")
    return EgressTarget(parsed, host, port)


def _unwrap_ipv4(address: IPAddress) -> IPAddress:
    """Returns the IPv4 address within an IPv4-mapped or NAT64 one, which is where the packets go."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_within(address: IPAddress, networks: Iterable[IPNetwork]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
