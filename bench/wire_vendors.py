"""Vendors with the delays of ``bench.fake_vendors``, over their wires, in a process of their own.

OpenAI's stream for the model, Cartesia's socket for the voice, Deepgram's for the recognizer, and OpenAI's socket for
speech-to-speech: the server under test runs its SDK, its sockets and its parsers. A recognizer gets fifty messages a
second from each call, more than the emulator of the lab, which looks for words in the sound, can read from a hundred
calls. The one here looks at how loud they are.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_create_server

from bench.fake_vendors import (
    CHUNK_S,
    FIRST_BYTE_S,
    FIRST_TOKEN_S,
    LOUD,
    TEXT,
    TOKEN_S,
    BenchSttStream,
    pieces_of,
)
from bench.speech import RATE, clip
from offhook.kit.audio import FRAME_S, MULAW_8K, Samples
from offhook.models.ports import SttEvent
from offhook_lab.openai_server import serve_openai
from offhook_lab.speech.openai_realtime import OpenAiVoiceModelServer
from offhook_lab.speech.realtime_conversation import ModelAnswer
from offhook_lab.speech.voice_model_server import answers_in_turn
from offhook_lab.speech.voices import CartesiaServer
from offhook_lab.sse import ScriptedAnswer

KEY: Final = "lab-key"
# Whether a byte of mu-law is louder than LOUD.
IS_LOUD: Final = bytes(abs(int(sample)) > LOUD for sample in MULAW_8K.decode(bytes(range(256))))


class _Recognition(WSListener):
    """One stream of ``/v1/listen``."""

    def __init__(self) -> None:
        self._hearing = BenchSttStream()
        self._heard = 0
        self._begins_at = 0.0
        self._sending: asyncio.Task[None] | None = None

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._sending = asyncio.create_task(self._send_results(transport))

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.BINARY:
            audio = frame.get_payload_as_bytes()
            self._heard += len(audio)
            is_loud = audio[::8].translate(IS_LOUD)
            if (first := is_loud.find(1)) >= 0:
                # by whole frames, as if each had come by itself
                began, ended = ((len(is_loud) - 1 - at) // 20 * FRAME_S for at in (first, is_loud.rfind(1)))
                self._hearing.hear_speech(began, ended)
        elif frame.msg_type == WSMsgType.CLOSE or b"CloseStream" in frame.get_payload_as_bytes():
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        if self._sending is not None:
            self._sending.cancel()
        self._hearing.stop()

    async def _send_results(self, transport: WSTransport) -> None:
        async for event in self._hearing.events():
            transport.send(WSMsgType.TEXT, self._results(event).encode())

    def _results(self, event: SttEvent) -> str:
        is_final, now = event.kind == "final", self._heard / RATE
        words = [
            {"word": word, "start": self._begins_at, "end": now, "confidence": 0.97, "punctuated_word": word}
            for word in event.text.split()
        ]
        body = {
            "type": "Results",
            "channel_index": [0, 1],
            "start": self._begins_at,
            "duration": now - self._begins_at,
            "is_final": is_final,
            "speech_final": is_final,
            "channel": {"alternatives": [{"transcript": event.text, "confidence": 0.97, "words": words}]},
        }
        if is_final:
            self._begins_at = now
        return json.dumps(body)


def _accept(request: WSUpgradeRequest) -> _Recognition:
    return _Recognition()


async def serve() -> None:
    """Serves the three vendors until standard input ends; prints their addresses by kind."""
    speech = clip(3.0)

    async def say(text: str, rate: int) -> Samples:
        return np.resize(speech, round(pieces_of(text) * CHUNK_S * RATE))

    voice = CartesiaServer()
    voice.say, voice.first_byte_s = say, FIRST_BYTE_S
    answer = ScriptedAnswer(TEXT, first_token_s=FIRST_TOKEN_S, token_s=TOKEN_S)
    recognizer = await ws_create_server(_accept, "127.0.0.1", 0)
    spoken = OpenAiVoiceModelServer(answers_in_turn(ModelAnswer(TEXT)))
    spoken.say = say
    async with serve_openai([answer]) as llm, voice.running(), spoken.running(), recognizer:
        ears = f"http://127.0.0.1:{recognizer.sockets[0].getsockname()[1]}"
        urls = {"llm": llm.base_url, "tts": voice.base_url, "stt": ears, "realtime": spoken.base_url}
        print(json.dumps(urls), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def settings_for(urls: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings of Offhook that lead to the vendors of a cascade."""
    settings = {"local_models": "on", "egress_allow": "127.0.0.1/32"}
    for kind, provider in (("llm", "openai"), ("tts", "cartesia"), ("stt", "deepgram")):
        settings |= {f"{kind}_provider": provider, f"{kind}_base_url": urls[kind], f"{kind}_api_key": KEY}
    return settings


def speech_to_speech_for(urls: Mapping[str, str]) -> dict[str, Any]:
    """Returns the model configuration of an organization whose agents hear and speak by one model."""
    return {
        "realtime": {"provider": "openai_realtime", "base_url": urls["realtime"], "api_key": KEY},
        "is_realtime": True,
    }


@contextmanager
def running_vendors() -> Iterator[dict[str, str]]:
    """Runs the vendors; yields their addresses by kind."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.wire_vendors"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(10)


if __name__ == "__main__":
    uvloop.run(serve())
