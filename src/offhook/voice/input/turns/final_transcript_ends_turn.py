"""Ends the turn when the recognizer reports its end and the caller is not talking."""

from offhook.voice.input.turns.rule import CallerTurnState


class FinalTranscriptEndsTurn:
    def is_over(self, state: CallerTurnState) -> bool:
        return bool(state.text) and state.has_endpoint and not state.is_speaking
