"""Translates carriers' names of line types, and their prices."""

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


def line_type(value: object) -> LineType:
    """Translates ``fixed line``, ``fixedVoip``, ``toll_free`` and the like; ``unknown`` for an ambiguous or
    unrecognized type."""
    if not isinstance(value, str):
        return "unknown"
    return _LINES.get("".join(char for char in value.lower() if char.isalpha()), "unknown")


def parse_cents(amount: object) -> int | None:
    """Returns the cents of a price given in units of its currency, as a number or as text; None for anything else."""
    try:
        return round(float(str(amount)) * 100)
    except (ValueError, OverflowError):
        return None
