"""What of a call is recorded: all of it, what follows a disclosure, or not what is said while a tool paused it."""

from offhook.voice import events
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.ports import CallRecorder


class RecordingSwitch:
    """Stands between a call and its recorder, and implements ``voice.ports.CallRecorder``.

    A paused stretch is silence in the recording, whose clock goes on.
    """

    def __init__(self, recorder: CallRecorder | None = None) -> None:
        self.recorder = recorder
        self._has_sound = False
        self._has_begun = True
        self._is_paused = False
        self._is_discarded = False
        self._is_recording = True
        self._emit: Emit | None = None

    @property
    def state(self) -> str:
        """Returns ``off``, ``waiting`` (for the disclosure), ``on``, ``paused`` or ``discarded``."""
        if self.recorder is None:
            return "off"
        if self._is_discarded:
            return "discarded"
        if self._is_paused:
            return "paused"
        return "on" if self._has_begun else "waiting"

    @property
    def is_kept(self) -> bool:
        """Returns whether the call has a recording: not one that never began, or that was deleted."""
        return self._has_sound or self.state == "on"

    # -- by the call ----------------------------------------------------------------------------------------------

    def connect(self, emit: Emit, *, waits: bool) -> None:
        """Connects the switch to its call; ``waits``: nothing is recorded before :meth:`begin`."""
        self._emit = emit
        self._has_begun = not waits
        self._update()

    def begin(self, because: str) -> None:
        self._has_begun = True
        self._update()
        if self.recorder is not None and not self._is_discarded:
            self._report(events.RECORDING_STARTED, because=because)

    def go_on(self, state: str) -> None:
        """Goes on with the recording of a call that was cut off in this state."""
        if state in ("on", "paused"):
            self._has_begun = self._has_sound = True
            self._is_paused = state == "paused"
            self._update()

    def record_caller(self, at_s: float, payload: bytes) -> None:
        if self._is_recording and self.recorder is not None:
            self._has_sound = True
            self.recorder.record_caller(at_s, payload)

    def record_agent(self, at_s: float, payload: bytes) -> None:
        if self._is_recording and self.recorder is not None:
            self._has_sound = True
            self.recorder.record_agent(at_s, payload)

    async def close(self) -> None:
        if self.recorder is not None:
            await self.recorder.close()

    # -- by tools -------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        if self.state in ("on", "waiting"):
            self._is_paused = True
            self._update()
            self._report(events.RECORDING_PAUSED)

    def resume(self) -> None:
        if self.state == "paused":
            self._is_paused = False
            self._update()
            self._report(events.RECORDING_RESUMED)

    def discard(self) -> None:
        """Deletes what was recorded; nothing more of this call is recorded."""
        if self.recorder is not None and not self._is_discarded:
            self._is_discarded = True
            self._has_sound = False
            self._update()
            self.recorder.discard()
            self._report(events.RECORDING_DISCARDED)

    def _update(self) -> None:
        self._is_recording = self._has_begun and not self._is_paused and not self._is_discarded

    def _report(self, kind: str, **data: str) -> None:
        if self._emit is not None:
            self._emit(kind, dict(data))
