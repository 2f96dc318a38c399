"""How calls of several organizations share places; pure."""

from dataclasses import dataclass
from typing import Final

# Of all places, the part for organizations that hold none: 1 / 8.
NEWCOMERS_PART: Final = 8


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """Who asks for places: the calls that the organization has, and how many times the share of others it may hold.

    ``is_test``: the call costs nothing to open (a browser's, a simulated phone's).
    """

    held: int
    weight: float = 1.0
    is_test: bool = False


def exceeds_share(held: int, left: int, places: int, share: float, weight: float) -> bool:
    """Returns whether an organization that holds ``held`` of ``places`` has to leave those that are left to others.

    With a share of one half it gets another one while it holds fewer than are left.
    """
    return held > 0 and share < 1 and held * (1 - share) >= (left - places // NEWCOMERS_PART) * share * weight
