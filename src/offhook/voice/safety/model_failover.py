"""Selects which of a call's models of one kind to use: the next one after a failure, and which may be retried."""

from collections.abc import Sequence
from typing import Final

from offhook.models.ports import ModelError, ModelRef
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.errors import AllModelsFailed
from offhook.voice.events import Emit

# A vendor's outage seldom passes sooner, and each attempt makes the caller wait.
RETRY_AFTER_S: Final = 20.0
# Offline models are a last resort: a vendor that failed is asked once more before them.
OFFLINE_PROVIDER: Final = "builtin"
# Errors of this request, not of the vendor.
_REQUEST_ERRORS: Final = frozenset({"llm_content_filtered", "llm_malformed_tool_call", "realtime_content_filtered"})


class ModelFailover:
    """The models of one kind in one call, by index, best first.

    A failed model is not used again in this call unless its failure was ``retryable``: then after
    ``RETRY_AFTER_S``, or as long as its vendor asked for, doubled with each further failure.
    """

    def __init__(self, refs: Sequence[ModelRef], emit: Emit) -> None:
        self._refs = refs
        self._emit = emit
        self._time = current_inputs().time
        self._closed_until: dict[int, float] = {}
        self._failures: dict[int, int] = {}
        self._has_retried = False
        self.current = 0

    @property
    def current_ref(self) -> ModelRef:
        return self._refs[self.current]

    @property
    def next_ref(self) -> ModelRef | None:
        """Returns the model that would take over now."""
        index = self._next_available()
        return None if index is None else self._refs[index]

    def should_retry(self, error: ModelError, *, even_slow: bool) -> bool:
        """Returns whether to retry the current model first: it may work, and only offline models could take over.

        ``even_slow``: also when it was too slow and there is no other model at all.
        """
        behind = self.next_ref
        if not error.retryable or self._has_retried or not (behind is None or behind.provider == OFFLINE_PROVIDER):
            return False
        if error.code.endswith(("_stalled", "_timeout")) and not (even_slow and behind is None):
            return False
        self._has_retried = True
        return True

    def report_failure(self, error: ModelError) -> None:
        """Reports the failure; the model stays the current one."""
        ref = self.current_ref
        self._emit(
            events.MODEL_FAILED,
            {
                "kind": ref.kind,
                "provider": ref.provider,
                "model": ref.model,
                "code": error.code,
                "message": str(error),
                "retryable": error.retryable,
            },
        )

    def fail_over(self, error: ModelError) -> None:
        """Closes the current model and switches to the next one. Raises AllModelsFailed when there is none."""
        self._has_retried = False
        failed, now = self.current, self._time()
        count = self._failures[failed] = self._failures.get(failed, 0) + 1
        wait_s = RETRY_AFTER_S * 2 ** (count - 1)
        if error.code in _REQUEST_ERRORS:
            wait_s = 0.001
        elif not error.retryable:
            wait_s = float("inf")
        self._closed_until[failed] = now + max(wait_s, error.retry_after_s or 0.0)
        index = self._next_available()
        if index is None:
            raise AllModelsFailed(self.current_ref.kind, error) from error
        before, self.current = self.current_ref, index
        self._emit_failover(before)

    def return_to_preferred(self) -> None:
        """Returns to a better model that may be retried."""
        index = self._next_available()
        if index is not None and index < self.current:
            before, self.current = self.current_ref, index
            self._emit_failover(before)

    def mark_success(self) -> None:
        """Records that the current model has answered."""
        self._has_retried = False
        if self._failures.pop(self.current, None) is not None:
            self._closed_until.pop(self.current, None)

    def _next_available(self) -> int | None:
        now = self._time()
        open_ones = (i for i in range(len(self._refs)) if i != self.current and self._closed_until.get(i, 0.0) <= now)
        return next(open_ones, None)

    def _emit_failover(self, before: ModelRef) -> None:
        data = {"kind": before.kind, "from": before.provider, "to": self.current_ref.provider}
        if before.provider == self.current_ref.provider:
            data |= {
                "from": f"{before.provider}/{before.model}",
                "to": f"{self.current_ref.provider}/{self.current_ref.model}",
            }
        self._emit(events.FAILED_OVER, data)
