"""Prevents silence: watches the audio to the caller and acts when the agent owes an answer and none comes."""

import asyncio
from typing import Final, Protocol

from offhook.voice import events
from offhook.voice.config import CallConfig
from offhook.voice.dialog.llm_chain import Emit

PERIOD_S: Final = 0.2
# While a tool is running, the filler is repeated after this long.
FILLER_INTERVAL_S: Final = 6.0


class WatchedCall(Protocol):
    """The call as the watchdog sees and controls it. Times are loop times; it depends on no other part of the turn."""

    @property
    def reply_due_since(self) -> float | None:
        """Returns since when an answer is due; None when it is the caller's turn."""
        ...

    @property
    def last_audible_at(self) -> float: ...
    @property
    def is_audible(self) -> bool: ...
    @property
    def is_tool_running(self) -> bool: ...
    @property
    def caller_active_at(self) -> float: ...
    @property
    def is_caller_speaking(self) -> bool: ...
    def poll_turn(self) -> None: ...
    def say_filler(self) -> None: ...
    def give_up(self) -> None: ...
    def prompt_idle(self, count: int) -> None: ...
    def end_idle(self) -> None: ...
    def warn_duration(self, left_s: float) -> None: ...
    def end_duration(self) -> None: ...


class CallWatchdog:
    """The watchdog task of one call; ``run`` until it is canceled."""

    def __init__(self, watched: WatchedCall, config: CallConfig, emit: Emit, started_at: float) -> None:
        self._watched = watched
        self._config = config
        self._emit = emit
        self._started_at = started_at
        self._filled_for: float | None = None
        self._fill_at = 0.0
        self._idle_prompts = 0
        self._idle_from = started_at
        self._has_warned = False
        self._is_over = False

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._is_over:
            await asyncio.sleep(PERIOD_S)
            now = loop.time()
            self._watched.poll_turn()
            self._watch_duration(now)
            self._watch_answer(now)
            self._watch_idle(now)

    # -- an answer is due -----------------------------------------------------------------------------------------

    def _watch_answer(self, now: float) -> None:
        watched, config = self._watched, self._config
        owes = watched.reply_due_since
        if owes is None or watched.is_audible or self._is_over:
            return
        silent = now - max(owes, watched.last_audible_at)
        if self._filled_for != owes:
            if silent >= config.filler_after_s:
                self._filled_for, self._fill_at = owes, now
                self._emit_action("filler", "tool_slow" if watched.is_tool_running else "no_answer", silent)
                watched.say_filler()
        elif watched.is_tool_running:
            if now - self._fill_at >= FILLER_INTERVAL_S:
                self._fill_at = now
                self._emit_action("filler", "tool_slow", silent)
                watched.say_filler()
        elif silent >= config.give_up_after_s:
            self._is_over = True
            self._emit_action("end", "no_answer", silent)
            watched.give_up()

    def _emit_action(self, step: str, reason: str, silent_s: float) -> None:
        self._emit(events.WATCHDOG_ACTED, {"step": step, "reason": reason, "silent_ms": round(silent_s * 1000)})

    # -- both sides are silent -------------------------------------------------------------------------------------

    def _watch_idle(self, now: float) -> None:
        watched, config = self._watched, self._config
        active = max(watched.caller_active_at, self._started_at)
        if active > self._idle_from:
            self._idle_prompts = 0
        self._idle_from = max(self._idle_from, active, watched.last_audible_at)
        if watched.reply_due_since is not None or watched.is_audible or watched.is_caller_speaking or self._is_over:
            self._idle_from = now
            return
        idle = now - self._idle_from
        if idle < config.idle_timeout_s:
            return
        self._idle_from = now
        if self._idle_prompts >= config.idle_prompts:
            self._is_over = True
            watched.end_idle()
            return
        self._idle_prompts += 1
        self._emit(events.CALLER_IDLE, {"prompts": self._idle_prompts, "idle_s": round(idle, 1)})
        watched.prompt_idle(self._idle_prompts)

    # -- the longest call -----------------------------------------------------------------------------------------

    def _watch_duration(self, now: float) -> None:
        left = self._config.max_duration_s - (now - self._started_at)
        if left <= 0 and not self._is_over:
            self._is_over = True
            self._watched.end_duration()
        elif left <= self._config.duration_warning_s < self._config.max_duration_s / 2 and not self._has_warned:
            self._has_warned = True
            self._emit(events.DURATION_WARNED, {"left_s": round(left, 1)})
            self._watched.warn_duration(left)
