"""Speech of a certain length interrupts the agent."""

from dataclasses import dataclass

from offhook.voice.turns.rule import Listening


@dataclass(frozen=True, slots=True)
class SpeechInterrupts:
    after_s: float

    def interrupts(self, state: Listening) -> bool:
        return state.is_speaking and state.speech_s >= self.after_s
