"""Numbers on sale: the same ones each time, so that a test can name them; those ending in 0000 are unavailable."""

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

OFFERED: Final = 10
_AREAS: Final = {"415": ("San Francisco", "CA"), "212": ("New York", "NY"), "312": ("Chicago", "IL")}
_CODES: Final = {"US": "1", "CA": "1", "GB": "44", "IN": "91", "DE": "49", "AU": "61", "FR": "33", "ES": "34"}


@dataclass(frozen=True, slots=True)
class NumberOffer:
    e164: str
    friendly_name: str
    locality: str = ""
    region: str = ""


def find_offers(
    country: str, kind: str = "local", *, area: str = "", contains: str = "", owned: Container[str] = ()
) -> list[NumberOffer] | None:
    """Returns numbers on sale that are not ``owned``; None for a country that the carrier does not serve."""
    code = _CODES.get(country)
    if code is None:
        return None
    if code == "1" and not area:
        area = _area_in(contains.lstrip("+"))
    if code == "1":
        prefix = "800" if kind == "toll_free" else area or "415"
        found = [
            NumberOffer(f"+1{prefix}555{number:04}", f"({prefix}) 555-{number:04}", *_AREAS.get(prefix, ("", "")))
            for number in range(1, 200)
        ]
    else:
        prefix = area or "20"
        found = [
            NumberOffer(f"+{code}{prefix}5550{number:04}", f"+{code} {prefix} 5550 {number:04}")
            for number in range(1, 200)
        ]
    free = [offer for offer in found if offer.e164 not in owned and contains in offer.e164]
    return free[:OFFERED]


def _area_in(digits: str) -> str:
    """Returns the area code in a search for these digits, if there is one."""
    return digits if len(digits) == 3 else digits[-10:-7] if len(digits) >= 10 else ""
