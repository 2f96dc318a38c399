"""Prevents silence: watches the audio to the caller and acts when the agent owes an answer and none comes."""

from typing import Final

from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallContext
from offhook.voice.call_inputs import current_inputs
from offhook.voice.config import CallConfig
from offhook.voice.input.digit_collector import DigitCollector
from offhook.voice.input.listener import CallerListener
from offhook.voice.output.playback import Playback

PERIOD_S: Final = 0.2
# While a tool is running, the filler is repeated after this long.
FILLER_INTERVAL_S: Final = 6.0
# A call whose money ends goes on for this long after the warning.
MIN_WARNING_S: Final = 5.0


class CallWatchdog:
    """The watchdog task of one call; ``run`` until it is canceled."""

    def __init__(
        self,
        config: CallConfig,
        *,
        line: CallContext,
        turns: AgentTurns,
        playback: Playback,
        listener: CallerListener,
        digits: DigitCollector,
    ) -> None:
        self._config = config
        self._line = line
        self._turns = turns
        self._playback = playback
        self._listener = listener
        self._digits = digits
        self._sleep = current_inputs().sleep
        self._filled_for: float | None = None
        self._fill_at = 0.0
        self._idle_prompts = 0
        self._idle_from = line.started_at
        self._has_warned = False
        # When the call's money ends, on its own clock.
        self._paid_until: float | None = None
        self._is_over = False

    async def run(self) -> None:
        while not self._is_over:
            await self._sleep("watchdog", PERIOD_S)
            now = self._line.now()
            self._listener.evaluate_turn()
            self._watch_duration(now)
            self._watch_credit(now)
            self._watch_answer(now)
            self._watch_idle(now)

    # -- an answer is due -----------------------------------------------------------------------------------------

    def _watch_answer(self, now: float) -> None:
        turns, config = self._turns, self._config
        due_since = turns.reply_due_since
        if due_since is None or self._playback.is_audible or self._playback.is_paused or self._is_over:
            return
        silent = now - max(due_since, self._playback.audible_until)
        if self._filled_for != due_since:
            if silent >= config.filler_after_s:
                self._filled_for, self._fill_at = due_since, now
                self._emit_action("filler", "tool_slow" if turns.is_tool_running else "no_answer", silent)
                turns.say_filler()
        elif turns.is_tool_running:
            if now - self._fill_at >= FILLER_INTERVAL_S:
                self._fill_at = now
                self._emit_action("filler", "tool_slow", silent)
                turns.say_filler()
        elif silent >= config.give_up_after_s:
            self._is_over = True
            self._emit_action("end", "no_answer", silent)
            turns.tags.append("watchdog")
            turns.end_with_phrase(self._line.phrases.apology, "watchdog")

    def _emit_action(self, step: str, reason: str, silent_s: float) -> None:
        self._line.emit(events.WATCHDOG_ACTED, {"step": step, "reason": reason, "silent_ms": round(silent_s * 1000)})

    # -- both sides are silent -------------------------------------------------------------------------------------

    def _watch_idle(self, now: float) -> None:
        turns, playback, config = self._turns, self._playback, self._config
        active = max(self._listener.detector.stopped_at, self._digits.pressed_at, self._line.started_at)
        if active > self._idle_from:
            self._idle_prompts = 0
        self._idle_from = max(self._idle_from, active, playback.audible_until)
        is_agent_busy = turns.reply_due_since is not None or playback.is_audible
        if is_agent_busy or self._listener.is_caller_busy or self._is_over:
            self._idle_from = now
            return
        idle = now - self._idle_from
        if idle < config.idle_timeout_s:
            return
        self._idle_from = now
        if self._idle_prompts >= config.idle_prompts:
            self._is_over = True
            turns.end_with_phrase(self._line.phrases.idle_goodbye, "idle")
            return
        self._idle_prompts += 1
        self._line.emit(events.CALLER_IDLE, {"prompts": self._idle_prompts, "idle_s": round(idle, 1)})
        turns.say_phrase(self._line.phrases.idle)

    # -- the money of the call -------------------------------------------------------------------------------------

    @property
    def is_time_limited(self) -> bool:
        """Returns whether the money of the call is known to end."""
        return self._paid_until is not None

    def limit_time(self, left_s: float | None) -> None:
        """Ends the call in ``left_s`` seconds because its money ends, never without a warning; None: not for now."""
        if left_s is None:
            self._paid_until = None
            return
        lead = 0.0 if self._has_warned else MIN_WARNING_S
        self._paid_until = self._line.now() + max(left_s, lead)

    def _watch_credit(self, now: float) -> None:
        if self._paid_until is None or self._is_over:
            return
        left = self._paid_until - now
        if left <= 0 and self._has_warned:
            self._is_over = True
            self._turns.end_with_phrase(self._line.phrases.time_over, "credit_exhausted")
        elif left <= self._config.duration_warning_s:
            self._warn_of_end(left)

    # -- the longest call -----------------------------------------------------------------------------------------

    def _watch_duration(self, now: float) -> None:
        config = self._config
        left = config.max_duration_s - (now - self._line.started_at)
        if left <= 0 and not self._is_over:
            self._is_over = True
            self._turns.end_with_phrase(self._line.phrases.time_over, "max_duration")
        elif left <= config.duration_warning_s < config.max_duration_s / 2 and not self._has_warned:
            self._warn_of_end(left)

    def _warn_of_end(self, left_s: float) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        self._line.emit(events.DURATION_WARNED, {"left_s": round(left_s, 1)})
        if not self._listener.is_caller_busy:
            self._turns.say_phrase(self._line.phrases.time_warning)
