"""How much of the event loop's time requests may take while agents speak: less, the later frames are sent."""

from typing import Final

# A frame that is sent later than this is heard as a gap where its caller's end keeps little in store.
LATE_S: Final = 0.004
# One late frame takes as much as a hundred on time give back: a share under which one in a hundred is late stays.
LESS: Final = 0.8
MORE: Final = 0.8**-0.01
# Requests are still answered, however late frames are for reasons of other processes.
MIN_SHARE: Final = 0.15
# What a page asks for when it opens, or a carrier when it rings, waits for nothing.
BURST_S: Final = 0.05
# A timer that is due sooner costs more than it waits.
MIN_WAIT_S: Final = 0.001
# Beats come every 20 ms while an agent speaks.
SILENT_AFTER_S: Final = 0.5


class RequestShare:
    """Counts what requests take of the loop's time, in seconds, and says how long the next one waits.

    ``note_beat`` hears how late frames are. No request waits while no agent speaks, nor when frames have been on time
    for 17 s.
    """

    def __init__(self) -> None:
        self.share = 1.0
        self._left_s = BURST_S
        self._counted_at = 0.0
        self._beat_at = float("-inf")

    def note_beat(self, now: float, late_s: float) -> None:
        """Adapts the share to frames that were sent ``late_s`` after their time."""
        self._beat_at = now
        self.share = max(MIN_SHARE, self.share * LESS) if late_s > LATE_S else min(1.0, self.share * MORE)

    def spend(self, spent_s: float) -> None:
        """Counts a step. However long it was, what it costs the next one is limited."""
        self._left_s = max(self._left_s - spent_s, -BURST_S)

    def current_share(self, now: float) -> float:
        """Returns the share that holds now, 0.15 to 1: the whole loop while no agent speaks."""
        return 1.0 if now - self._beat_at > SILENT_AFTER_S else self.share

    def wait_s(self, now: float) -> float:
        """Returns how long the next step of a request has to wait: 0 when it may be taken."""
        if now - self._beat_at > SILENT_AFTER_S:
            self._left_s, self._counted_at = BURST_S, now
            return 0.0
        self._left_s = min(BURST_S, self._left_s + (now - self._counted_at) * self.share)
        self._counted_at = now
        return 0.0 if self._left_s >= 0 else max(MIN_WAIT_S, -self._left_s / self.share)
