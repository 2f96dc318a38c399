"""Limits how fast the streams of one organization's text chats, which take no call's place, are read in total."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from weakref import WeakValueDictionary

# Of dozens of models that write at once. Each chunk takes some 0.1 ms of all calls, and organizations choose servers.
MAX_SHARED_CHUNKS_PER_S: Final = 4000
MAX_SHARED_BURST: Final = 8000


class ChunkShare:
    """The chunks that an organization may read now; the number refills over time."""

    def __init__(self) -> None:
        self._left = float(MAX_SHARED_BURST)
        self._counted_at = time.monotonic()

    def take_chunk(self) -> float:
        """Counts a chunk, and returns how many seconds its reader has to wait."""
        now = time.monotonic()
        refilled = self._left + (now - self._counted_at) * MAX_SHARED_CHUNKS_PER_S
        self._left, self._counted_at = min(refilled, MAX_SHARED_BURST) - 1, now
        return max(0.0, -self._left / MAX_SHARED_CHUNKS_PER_S)


_shares: WeakValueDictionary[int, ChunkShare] = WeakValueDictionary()
_current: ContextVar[ChunkShare | None] = ContextVar("chunk_share", default=None)


@contextmanager
def share_chunks(organization_id: int) -> Iterator[None]:
    """Counts the chunks of streams in the block, and in tasks that begin there, for the organization."""
    share = _shares.get(organization_id)
    if share is None:
        share = _shares[organization_id] = ChunkShare()
    token = _current.set(share)
    try:
        yield
    finally:
        _current.reset(token)


def take_shared_chunk() -> float:
    """Counts a chunk for the organization whose stream this is, if any; returns how many seconds to wait."""
    share = _current.get()
    return 0.0 if share is None else share.take_chunk()
