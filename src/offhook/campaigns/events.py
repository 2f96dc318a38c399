"""Events of this domain."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CampaignStatusChanged:
    """A campaign moved from ``before`` to ``status``; ``reason`` is a sentence when it stopped on its own."""

    organization_id: int
    campaign_id: int
    name: str
    before: str
    status: str
    reason: str | None = None
