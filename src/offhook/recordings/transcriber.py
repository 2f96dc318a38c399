"""Transcribes a recording with the organization's speech-to-text vendor."""

import asyncio
import wave
from pathlib import Path
from typing import Final

from offhook.models.ports import ModelError, Stt, SttStream
from offhook.recordings.errors import AudioUnusable, CannotTranscribe, TranscriptionFailed

MAX_TRANSCRIBED_S: Final = 60.0
CHUNK_S: Final = 0.1
# Silence that lets a vendor's endpointing finish, and the time limit for its last words.
TAIL_S: Final = 1.0
LAST_WORDS_TIMEOUT_S: Final = 3.0
# Streaming vendors refuse audio much faster than real time.
PACE: Final = 1.0


async def transcribe_file(stt: Stt, path: Path, language: str, *, pace: float = PACE) -> tuple[str, float]:
    """Returns the text and the length in seconds of a WAV that we made. Takes the recording's length divided by
    ``pace``.

    Raises CannotTranscribe (409), AudioUnusable (422, longer than a minute), TranscriptionFailed (502).
    """
    if stt.model_ref.provider == "builtin":
        raise CannotTranscribe
    with wave.open(str(path), "rb") as file:
        rate, count = file.getframerate(), file.getnframes()
        if count > MAX_TRANSCRIBED_S * rate:
            raise AudioUnusable(f"Only recordings of up to {MAX_TRANSCRIBED_S:g} seconds can be transcribed.")
        pcm = file.readframes(count)
    try:
        stream = await stt.open_stream(sample_rate=rate, language=language)
        text = await _collect_finals(stream, pcm + bytes(int(TAIL_S * rate) * 2), rate, pace)
    except ModelError as error:
        raise TranscriptionFailed(f"The speech-to-text vendor failed: {error}") from error
    return text, count / rate


async def _collect_finals(stream: SttStream, pcm: bytes, rate: int, pace: float) -> str:
    finals: list[str] = []

    async def collect_events() -> None:
        async for event in stream.events():
            text = event.text.strip() if event.kind == "final" else ""
            finals.extend([text] if text else [])

    reading = asyncio.create_task(collect_events())
    try:
        step = int(rate * CHUNK_S) * 2
        stream.speech_started()
        for at in range(0, len(pcm), step):
            stream.push_audio(pcm[at : at + step])
            await asyncio.wait([reading], timeout=CHUNK_S / pace)
            if reading.done():
                break
        stream.speech_ended()
        await asyncio.wait([reading], timeout=LAST_WORDS_TIMEOUT_S)
    finally:
        await stream.close()
        if not reading.done():
            await asyncio.wait([reading], timeout=LAST_WORDS_TIMEOUT_S)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    if reading.done() and not reading.cancelled() and (error := reading.exception()) is not None:
        raise error
    return " ".join(finals)
