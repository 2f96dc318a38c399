"""Shares free call slots among campaigns, so that a small campaign does not wait behind a big one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlotDemand:
    """A campaign's live calls, its cap, its demand for more calls now, and the carrier account that places them."""

    campaign_id: int
    live: int
    cap: int
    wanted: int
    account: str = ""


def effective_cap(requested: int, organization_limit: int, numbers: int | None) -> int:
    """Returns the smallest of the campaign's, the organization's and the numbers' limits (None: numbers do not limit)."""
    return max(0, min(requested, organization_limit, numbers if numbers is not None else requested))


def share_slots(
    free: int, demands: Sequence[SlotDemand], numbers: Mapping[str, int] | None = None
) -> Mapping[int, int]:
    """Gives free slots one by one to the campaign that has the fewest calls; ties go to the older campaign.

    ``numbers``: the spare capacity of an account's numbers; other accounts have no such limit.
    """
    given = {demand.campaign_id: 0 for demand in demands}
    left = dict(numbers or {})
    for _ in range(max(0, free)):
        open_ones = [
            d for d in demands if given[d.campaign_id] < min(d.wanted, d.cap - d.live) and left.get(d.account, 1) > 0
        ]
        if not open_ones:
            break
        neediest = min(open_ones, key=lambda d: (d.live + given[d.campaign_id], d.campaign_id))
        given[neediest.campaign_id] += 1
        if neediest.account in left:
            left[neediest.account] -= 1
    return given
