"""The call slots of one process, shared so that no organization and no free test calls shut out others."""

from collections import Counter
from collections.abc import Iterable

from offhook.runs.call_shares import exceeds_share
from offhook.runs.errors import ProcessIsFull
from offhook.settings import Settings


class CallSlots:
    """Counts the calls that this process carries, by organization.

    An organization may hold slots in proportion to those that stay free: with a share of one half it gets another one
    while it holds fewer than are free. An eighth of all is for organizations that hold none. While a process has seen one
    organization only, nothing is kept for others. Some slots are never taken by calls that cost nothing to open: browsers'
    and simulated phones'.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.free_modes: set[str] = set()
        self._held: dict[int, tuple[int, bool]] = {}
        self._holders: Counter[int] = Counter()
        self._by_organization: Counter[int] = Counter()
        self._free_calls = 0
        self._seen: set[int] = set()

    def add_free_modes(self, modes: Iterable[str]) -> None:
        """Adds modes whose calls cost nothing to open."""
        self.free_modes.update(modes)

    @property
    def taken(self) -> int:
        return len(self._held)

    def holds(self, run_id: int) -> bool:
        return run_id in self._held

    def take(
        self, run_id: int, organization_id: int, mode: str, *, weight: float = 1.0, is_promised: bool = False
    ) -> None:
        """Takes the run's slot, free again after as many ``give_back``. Raises ProcessIsFull (503).

        ``weight`` is how many times the share of others this organization has. ``is_promised``: its share of all
        processes was asked before the call began, and only a place in this one is needed now.
        """
        if run_id in self._held:
            self._holders[run_id] += 1
            return
        self._seen.add(organization_id)
        places, is_free = self._settings.max_calls_per_process, mode in self.free_modes
        left = places - len(self._held)
        if left <= 0:
            raise ProcessIsFull
        reserved = int(places * self._settings.telephone_call_reserve)
        if is_free and self._free_calls >= places - reserved:
            raise ProcessIsFull("The server cannot take another test call. Try again after one has ended.")
        held, share = self._by_organization[organization_id], self._settings.org_call_share
        is_shared = len(self._seen) > 1 and not (is_promised and not is_free)
        if is_shared and exceeds_share(held, left, places, share, weight):
            raise ProcessIsFull(
                "Your organization is using its full share of the server's calls. Try again after one "
                "of yours has ended."
            )
        self._held[run_id] = (organization_id, is_free)
        self._holders[run_id] = 1
        self._by_organization[organization_id] += 1
        self._free_calls += is_free

    def give_back(self, run_id: int) -> None:
        """Returns the slot of a run, which is free once nobody holds it; nothing happens if the run has none."""
        if run_id not in self._held:
            return
        self._holders[run_id] -= 1
        if self._holders[run_id]:
            return
        del self._holders[run_id]
        organization_id, is_free = self._held.pop(run_id)
        self._free_calls -= is_free
        self._by_organization[organization_id] -= 1
        if not self._by_organization[organization_id]:
            del self._by_organization[organization_id]
