"""Time zones by their IANA names; rejects other entries of a machine's zone folder (``localtime``)."""

from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text().split()) - {"Factory"}


def find_zone(name: str) -> ZoneInfo | None:
    """Returns the IANA zone of this name, or None."""
    if name not in _zone_names():
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # a machine whose zone folder is older than our list
        return None
