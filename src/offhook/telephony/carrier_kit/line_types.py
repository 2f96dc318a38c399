"""Carriers' names for kinds of telephone lines, and their prices, in ours."""

from typing import Final

from offhook.kit.phone_numbers import LineType

_LINES: Final[dict[str, LineType]] = {
    "mobile": "mobile",
    "landline": "landline",
    "fixed": "landline",
    "fixedline": "landline",
    "voip": "voip",
    "fixedvoip": "voip",
    "nonfixedvoip": "voip",
    "virtual": "voip",
    "tollfree": "toll_free",
    "premium": "premium",
    "premiumrate": "premium",
    "sharedcost": "premium",
}


def line_type(said: object) -> LineType:
    """``fixed line``, ``fixedVoip``, ``toll_free`` and the like; ``unknown`` for what may be either or is neither."""
    if not isinstance(said, str):
        return "unknown"
    return _LINES.get("".join(char for char in said.lower() if char.isalpha()), "unknown")


def parse_cents(amount: object) -> int | None:
    """A price in units of its currency, as a number or as text; None when it is none."""
    try:
        return round(float(str(amount)) * 100)
    except (ValueError, OverflowError):
        return None
