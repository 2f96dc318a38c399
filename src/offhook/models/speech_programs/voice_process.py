"""The server's end of a voice pack's voice program."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelError
from offhook.models.speech_programs import espeak_program as wire
from offhook.models.speech_programs.streaming_program import StreamingProgram

START_TIMEOUT_S: Final = 15.0
# The program shows a sign of life each second while it works.
SILENCE_TIMEOUT_S: Final = 6.0


class VoiceProcess(StreamingProgram):
    """One voice for all calls of a process. Raises only ModelError."""

    def __init__(self, command: Sequence[str], silence_timeout_s: float = SILENCE_TIMEOUT_S) -> None:
        super().__init__(command, start_timeout_s=START_TIMEOUT_S, silence_timeout_s=silence_timeout_s)

    async def speak_piece(self, order: JsonObject) -> bytes:
        """Returns PCM16 of one piece; replaces a program that dies once. Canceling it cancels the synthesis."""
        for is_last in (False, True):
            pcm = bytearray()
            try:
                async with aclosing(self.request_answers(wire.SPEAK, order)) as answers:
                    async for kind, payload in answers:
                        if kind == wire.PCM:
                            pcm += payload
                return bytes(pcm)
            except ModelError as error:
                if is_last or not error.retryable:
                    raise
        raise AssertionError("unreachable")
