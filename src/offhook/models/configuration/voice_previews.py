"""Renders a sample sentence in a voice, so that people can hear it before calls use it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from offhook.kit.audio import encode_wav
from offhook.models.errors import VoiceFailed, VoiceTimedOut
from offhook.models.ports import ModelError, Tts

DEFAULT_SENTENCE: Final = "Hello, thank you for calling. This is how I sound. How can I help you today?"
MAX_TEXT_CHARS: Final = 200
PREVIEW_TIMEOUT_S: Final = 20.0
# Longer than 200 characters take at the slowest speed; cuts off a vendor that never ends.
MAX_AUDIO_S: Final = 60


async def render_preview(tts: Tts, text: str) -> bytes:
    """Returns ``text`` as WAV (PCM16, mono, the voice's own rate). Raises VoiceFailed (502), VoiceTimedOut (504)."""
    most = MAX_AUDIO_S * tts.sample_rate * 2
    pcm = bytearray()
    chunks = tts.speak(text)
    try:
        async with asyncio.timeout(PREVIEW_TIMEOUT_S):
            async for chunk in chunks:
                pcm += chunk
                if len(pcm) >= most:
                    break
    except ModelError as error:
        raise VoiceFailed(f"{tts.model_ref.provider} failed: {error}") from error
    except TimeoutError:
        raise VoiceTimedOut from None
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()
    if not pcm:
        raise VoiceFailed(f"{tts.model_ref.provider} returned no audio.")
    return encode_wav(bytes(pcm[:most]), tts.sample_rate)
