"""Never interrupts the agent; what the caller says is answered afterwards."""

from offhook.voice.input.turns.rule import CallerTurnState


class NeverInterrupts:
    def should_interrupt(self, state: CallerTurnState) -> bool:
        return False

    def should_cut_off(self, words: int) -> bool:
        return False
