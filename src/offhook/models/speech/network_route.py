"""The route to a vendor: direct, or through the egress guard for an address that an organization entered."""

from dataclasses import dataclass

from offhook.kit.egress import EgressClient


@dataclass(frozen=True, slots=True)
class NetworkRoute:
    """A route. ``is_guarded`` without ``egress`` refuses the address."""

    is_guarded: bool = False
    egress: EgressClient | None = None


DIRECT_ROUTE = NetworkRoute()
