"""The call slots of one process, shared so that no organization and no free test calls shut out others."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from offhook.runs.errors import ProcessIsFull
from offhook.settings import Settings

# Of all slots, the part for organizations that hold none: 1 / 8.
NEWCOMERS_PART: Final = 8


class CallSlots:
    """Counts the calls that this process carries, by organization.

    An organization may hold slots in proportion to those that stay free: with a share of one half it gets another one
    while it holds fewer than are free. An eighth of all is for organizations that hold none. While a process has seen one
    organization only, nothing is kept for others. Some slots are never taken by calls that cost nothing to open: browsers'
    and simulated phones'.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._free_modes: set[str] = set()
        self._held: dict[int, tuple[int, bool]] = {}
        self._by_organization: Counter[int] = Counter()
        self._free_calls = 0
        self._seen: set[int] = set()

    def add_free_modes(self, modes: Iterable[str]) -> None:
        """Adds modes whose calls cost nothing to open."""
        self._free_modes.update(modes)

    def take(self, run_id: int, organization_id: int, mode: str, *, weight: float = 1.0) -> None:
        """Takes a slot for the run, which ``give_back`` returns. Raises ProcessIsFull (429).

        ``weight`` is how many times the share of others this organization has.
        """
        self._seen.add(organization_id)
        places, is_free = self._settings.max_calls_per_process, mode in self._free_modes
        left = places - len(self._held)
        if left <= 0:
            raise ProcessIsFull
        reserved = int(places * self._settings.telephone_call_reserve)
        if is_free and self._free_calls >= places - reserved:
            raise ProcessIsFull("The server has no place for another test call. Try again when one has ended.")
        held, share = self._by_organization[organization_id], self._settings.org_call_share
        is_shared = held > 0 and share < 1 and len(self._seen) > 1
        if is_shared and held * (1 - share) >= (left - places // NEWCOMERS_PART) * share * weight:
            raise ProcessIsFull(
                "Your organization has its share of the server's calls, and the rest is kept for others. Try again when "
                "one of yours has ended."
            )
        self._held[run_id] = (organization_id, is_free)
        self._by_organization[organization_id] += 1
        self._free_calls += is_free

    def give_back(self, run_id: int) -> None:
        """Returns the slot of a run; nothing happens if it has none."""
        organization_id, is_free = self._held.pop(run_id, (None, False))
        if organization_id is None:
            return
        self._free_calls -= is_free
        self._by_organization[organization_id] -= 1
        if not self._by_organization[organization_id]:
            del self._by_organization[organization_id]
