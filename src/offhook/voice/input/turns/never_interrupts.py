"""Nothing interrupts the agent; what the caller said meanwhile is answered afterwards."""

from offhook.voice.input.turns.rule import Listening


class NeverInterrupts:
    def interrupts(self, state: Listening) -> bool:
        return False

    def cuts_off(self, words: int) -> bool:
        return False
