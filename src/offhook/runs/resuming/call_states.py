"""Keeps the states of a process's live calls in the database, so that another process can go on with them."""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.crypto import Keyring, SecretUnreadable
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.resuming import resume_queries
from offhook.voice import events
from offhook.voice.call_state import CallState, ResumedCall, shorten_history

# A longer state loses the oldest part of its history.
MAX_STATE_BYTES: Final = 64 * 1024
# After these, what another process would need is not what was kept.
CHANGES: Final = frozenset(
    {
        events.CALL_STARTED,
        events.CALL_RESUMED,
        events.NODE_ENTERED,
        events.CALLER_SAID,
        events.AGENT_SAID,
        events.TURN_TIMED,
        events.TOOL_CALLED,
        events.TOOL_ANSWERED,
        events.VARIABLES_EXTRACTED,
        events.DISCLOSURE_PLAYED,
        events.RECORDING_STARTED,
        events.RECORDING_PAUSED,
        events.RECORDING_RESUMED,
        events.RECORDING_DISCARDED,
    }
)
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _KeptCall:
    organization_id: int
    take_state: Callable[[], CallState] | None


class CallStates:
    """The calls of this process whose states are kept. They are written with the next batch of events. Without a
    keyring nothing is kept."""

    def __init__(self, keyring: Keyring | None = None) -> None:
        self._keyring = keyring
        self._calls: dict[int, _KeptCall] = {}
        self._changed: set[int] = set()
        self.worker_id = ""

    def keep(self, organization_id: int, run_id: int, take_state: Callable[[], CallState] | None) -> None:
        """Keeps the state of a call from now on; without ``take_state`` only that there is one."""
        if self._keyring is not None:
            self._calls[run_id] = _KeptCall(organization_id, take_state)
            self._changed.add(run_id)

    def forget(self, run_id: int) -> None:
        """Keeps nothing more of a call."""
        self._calls.pop(run_id, None)
        self._changed.discard(run_id)

    @property
    def has_changed(self) -> bool:
        """Returns whether there are states that are not in the database yet."""
        return bool(self._changed)

    def note_event(self, run_id: int, event_type: str) -> bool:
        """Notes what an event changes, and returns whether that is anything."""
        call = self._calls.get(run_id)
        is_change = call is not None and call.take_state is not None and event_type in CHANGES
        if is_change:
            self._changed.add(run_id)
        return is_change

    def take_changed(self) -> dict[int, bytes | None]:
        """Returns the sealed states that are not in the database yet, by run."""
        changed, self._changed = self._changed, set()
        sealed: dict[int, bytes | None] = {}
        for run_id in sorted(changed):
            call = self._calls[run_id]
            try:
                state = call.take_state() if call.take_state is not None else None
            except Exception:  # one call without a state must not keep the events of all from being written
                log.exception("call_state_not_taken", run_id=run_id)
                continue
            sealed[run_id] = None if state is None else self.seal(call.organization_id, run_id, state)
        return sealed

    def put_back(self, run_ids: dict[int, bytes | None]) -> None:
        """Notes that these were not written after all."""
        self._changed.update(run_id for run_id in run_ids if run_id in self._calls)

    async def write(self, session: AsyncSession, states: dict[int, bytes | None]) -> None:
        await resume_queries.write_states(session, self.worker_id, states)

    def seal(self, organization_id: int, run_id: int, state: CallState) -> bytes:
        """Returns the state compressed and encrypted, in at most ``MAX_STATE_BYTES``."""
        assert self._keyring is not None
        while True:
            packed = zlib.compress(encode_event_data(state).encode(), 1)
            if len(packed) <= MAX_STATE_BYTES or not shorten_history(state):
                return self._keyring.seal(packed, _associated(organization_id, run_id))

    async def read(self, session: AsyncSession, organization_id: int, run_id: int) -> ResumedCall | None:
        """Returns the call that goes on with this run; None when it begins."""
        found = await resume_queries.read_state(session, organization_id, run_id)
        sealed, age_s = found or (None, 0.0)
        if sealed is None or self._keyring is None:
            return None
        try:
            opened = self._keyring.open(sealed, _associated(organization_id, run_id))
        except SecretUnreadable:
            log.warning("call_state_unreadable", run_id=run_id)
            return None
        return ResumedCall(json.loads(zlib.decompress(opened)), age_s)


def _associated(organization_id: int, run_id: int) -> bytes:
    return f"state of run {run_id} of organization {organization_id}".encode()
