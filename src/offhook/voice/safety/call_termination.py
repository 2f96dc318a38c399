"""Ends a call: transfers the caller where a tool sends them, or hangs up the line."""

import asyncio
from typing import Final

from offhook.voice.ports import CallLeg, EndCallRequest, HandoverFailed

# A carrier that does not answer the hang-up must not keep the run open.
HANG_UP_TIMEOUT_S: Final = 5.0
# End reason and outcome of a call whose caller spoke and was not understood: nobody's failure, and nothing was agreed.
NOT_UNDERSTOOD: Final = "not_understood"


class CallTermination:
    """``over``: the request by which a tool ended the conversation, whatever then actually ended the call."""

    def __init__(self, over: EndCallRequest | None, end_reason: str) -> None:
        self._over = over
        self._end_reason = end_reason
        self._is_chosen = over is not None and over.reason == end_reason

    def outcome(self, *, is_voicemail: bool) -> str:
        if self._over is not None and self._is_chosen and self._over.outcome is not None:
            return self._over.outcome
        if is_voicemail:
            return "voicemail"
        return NOT_UNDERSTOOD if self._end_reason == NOT_UNDERSTOOD else "answered"

    @property
    def tags(self) -> tuple[str, ...]:
        return self._over.tags if self._over is not None and self._is_chosen else ()

    async def execute(self, leg: CallLeg) -> list[str]:
        """Transfers the caller, or hangs up, also after a failed transfer; returns tags of failures."""
        failed: list[str] = []
        over = self._over
        try:
            async with asyncio.timeout(HANG_UP_TIMEOUT_S):
                if over is not None and not self._is_chosen and over.abandon is not None:
                    await over.abandon()
                elif over is not None and self._is_chosen and over.handover is not None:
                    await over.handover()
                    return failed
        except (HandoverFailed, TimeoutError):
            failed.append("handover_failed")
        try:
            async with asyncio.timeout(HANG_UP_TIMEOUT_S):
                await leg.hang_up()
        except TimeoutError:
            failed.append("hang_up_timed_out")
        return failed
