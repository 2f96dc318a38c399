"""The recognizer says that the turn is over and nobody is talking."""

from offhook.voice.input.turns.rule import CallerTurnState


class FinalTranscriptEndsTurn:
    def is_over(self, state: CallerTurnState) -> bool:
        return bool(state.text) and state.has_endpoint and not state.is_speaking
