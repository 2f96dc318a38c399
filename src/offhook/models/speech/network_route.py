"""How a vendor is reached: straight, or through the egress guard when an organization typed the address in."""

from dataclasses import dataclass

from offhook.kit.egress import EgressClient


@dataclass(frozen=True, slots=True)
class NetworkRoute:
    """``is_guarded`` without ``egress`` leads nowhere: such an address is refused."""

    is_guarded: bool = False
    egress: EgressClient | None = None


DIRECT_ROUTE = NetworkRoute()
