"""Measures each speech vendor's adapter with its emulator in another process: ``python -m bench.speech_vendors
[--json]``.

Listening: calls of 8 kHz mu-law in frames of 20 ms, in real time, for a few seconds. Speaking: sentences at 8 kHz, one
after the other, faster than real time. Both in CPU ms of this process per second of audio, less the cost of the same
loop with nothing behind it. Yardsticks: the same bytes over a bare socket, of the library that we use and of
``websockets``.
"""

import argparse
import asyncio
import base64
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import numpy as np
import uvloop
import websockets
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from offhook.kit.audio import MULAW_8K
from offhook.kit.egress import EgressClient
from offhook.models.catalog import VendorCatalog
from offhook.models.ports import Stt, Tts
from offhook.models.vendors import ModelChoice, VendorContext
from offhook.settings import Settings
from offhook_lab.speech.all_servers import every_server
from offhook_lab.speech.openai_audio import OpenAiAudioServer
from offhook_lab.speech.tones import speak_tones
from offhook_lab.speech.voices import VoiceServer

CALLS: Final = 10
SECONDS: Final = 2.5
SENTENCE: Final = "the quick brown fox jumps over a lazy dog and then it runs away"
VOICES: Final = ("elevenlabs", "cartesia", "deepgram", "rime", "openai")
EARS: Final = ("deepgram", "assemblyai", "speechmatics", "openai")
FRAME: Final = 160


def frames() -> list[bytes]:
    """Returns a caller who speaks and pauses, in PCM16 frames as the voice loop pushes them."""
    line = np.concatenate((speak_tones(SENTENCE, 8000), np.zeros(4800, np.int16)))
    line = MULAW_8K.decode(MULAW_8K.encode(line))
    return [line[at : at + FRAME].tobytes() for at in range(0, line.size - FRAME, FRAME)]


async def in_real_time(push: Callable[[bytes], None], audio: list[bytes], seconds: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(int(seconds * 50)):
        push(audio[number % len(audio)])
        await asyncio.sleep(max(0.0, began + (number + 1) * 0.02 - loop.time()))


async def cpu_of(work: list[Awaitable[Any]]) -> float:
    before = time.process_time()
    await asyncio.gather(*work)
    return (time.process_time() - before) * 1000


async def listening(stt: Stt, audio: list[bytes]) -> float:
    streams = [await stt.open_stream(sample_rate=8000, language="en-US") for _ in range(CALLS)]

    async def read(stream: Any) -> None:
        async for _ in stream.events():
            pass

    readers = [asyncio.create_task(read(stream)) for stream in streams]
    used = await cpu_of([in_real_time(stream.push_audio, audio, SECONDS) for stream in streams])
    for stream in streams:
        await stream.close()
    await asyncio.gather(*readers)
    return used / CALLS / SECONDS


async def speaking(say: Callable[[str], AsyncIterator[bytes]], seconds: float) -> float:
    """Runs ten calls that speak ``seconds`` of audio each; the first sentence opens the connections and is not
    measured."""

    async def talk(wanted_s: float) -> None:
        heard = 0
        while heard < wanted_s * 16000:
            async for piece in say(SENTENCE):
                heard += len(piece)

    await asyncio.gather(*(talk(0.1) for _ in range(CALLS)))
    return await cpu_of([talk(seconds) for _ in range(CALLS)]) / CALLS / seconds


class _Bare(WSListener):
    def __init__(self) -> None:
        self.texts: asyncio.Queue[bytes] = asyncio.Queue()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type in (WSMsgType.TEXT, WSMsgType.BINARY):
            self.texts.put_nowait(frame.get_payload_as_bytes())


def _listen_url(url: str) -> str:
    return f"{url}/v1/listen?model=nova-3&encoding=mulaw&sample_rate=8000&endpointing=300"


async def bare_picows_listening(url: str, audio: list[bytes]) -> float:
    key = {"Authorization": "Token lab-key"}
    lines = [await ws_connect(_Bare, _listen_url(url), extra_headers=key, use_aiofastnet=False) for _ in range(CALLS)]
    mulaw = [MULAW_8K.encode(np.frombuffer(frame, "<i2")) for frame in audio]
    used = await cpu_of(
        [in_real_time(lambda frame, t=t: t.send(WSMsgType.BINARY, frame), mulaw, SECONDS) for t, _ in lines]  # type: ignore[misc]
    )
    for transport, _ in lines:
        transport.disconnect()
    return used / CALLS / SECONDS


async def bare_websockets_listening(url: str, audio: list[bytes]) -> float:
    key = {"Authorization": "Token lab-key"}
    connect = websockets.connect
    lines = [await connect(_listen_url(url), additional_headers=key, compression=None) for _ in range(CALLS)]
    mulaw = [MULAW_8K.encode(np.frombuffer(frame, "<i2")) for frame in audio]

    async def send(line: Any) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(int(SECONDS * 50)):
            await line.send(mulaw[number % len(mulaw)])
            await asyncio.sleep(max(0.0, began + (number + 1) * 0.02 - loop.time()))

    async def read(line: Any) -> None:
        async for message in line:
            json.loads(message)

    readers = [asyncio.create_task(read(line)) for line in lines]
    used = await cpu_of([send(line) for line in lines])
    for line in lines:
        await line.close()
    await asyncio.gather(*readers, return_exceptions=True)
    return used / CALLS / SECONDS


async def bare_speaking(url: str, seconds: float, *, is_picows: bool) -> float:
    """Measures Cartesia's messages: read, parse, decode, nothing else."""
    address = f"{url}/tts/websocket"
    key = {"X-API-Key": "lab-key"}
    output = {"container": "raw", "encoding": "pcm_mulaw", "sample_rate": 8000}
    body = {"transcript": SENTENCE, "voice": {"mode": "id", "id": "x"}, "output_format": output, "context_id": "c"}
    ask = json.dumps(body)
    free: asyncio.Queue[Any] = asyncio.Queue()
    for _ in range(CALLS):
        if is_picows:
            free.put_nowait(await ws_connect(_Bare, address, extra_headers=key, use_aiofastnet=False))
        else:
            free.put_nowait(await websockets.connect(address, additional_headers=key, compression=None))

    async def say(text: str) -> AsyncIterator[bytes]:
        line = await free.get()
        if is_picows:
            line[0].send(WSMsgType.TEXT, ask.encode())
        else:
            await line.send(ask)
        while True:
            found = json.loads(await (line[1].texts.get() if is_picows else line.recv()))
            if found["type"] != "chunk":
                break
            yield MULAW_8K.decode(base64.b64decode(found["data"])).tobytes()
        free.put_nowait(line)

    return await speaking(say, seconds)


async def measure(urls: dict[str, str]) -> dict[str, dict[str, float]]:
    audio, catalog = frames(), VendorCatalog.load_providers(VendorContext(Settings(), EgressClient()))
    seconds = SECONDS * 4
    deepgram, cartesia = (urls[name].replace("http", "ws", 1) for name in ("stt deepgram", "tts cartesia"))

    def choice(kind: Any, vendor: str) -> ModelChoice:
        found = catalog.find_vendor(kind, vendor)
        voice = found.voices[0].id if found.voices else ""
        url = urls[f"{kind} {vendor}"]
        return ModelChoice(kind, vendor, found.models[0].id, "lab-key", url, is_own_network=True, voice_id=voice)

    idle = await cpu_of([in_real_time(lambda _: None, audio, SECONDS) for _ in range(CALLS)]) / CALLS / SECONDS
    listen = {
        "bare picows": await bare_picows_listening(deepgram, audio) - idle,
        "bare websockets": await bare_websockets_listening(deepgram, audio) - idle,
    }
    for vendor in EARS:
        stt = catalog.find_vendor("stt", vendor).build(choice("stt", vendor))
        listen[vendor] = await listening(stt, audio) - idle  # type: ignore[arg-type]
    speech = {
        "bare picows": await bare_speaking(cartesia, seconds, is_picows=True),
        "bare websockets": await bare_speaking(cartesia, seconds, is_picows=False),
    }
    for vendor in VOICES:
        voice = catalog.find_vendor("tts", vendor).build(choice("tts", vendor))
        speech[vendor] = await speaking(_at_8000(voice).speak, seconds)  # type: ignore[arg-type]
    for any_vendor in catalog.list_vendors():
        await any_vendor.close()
    rounded = {"listening": listen, "speaking": speech}
    return {kind: {name: round(value, 2) for name, value in found.items()} for kind, found in rounded.items()}


def _at_8000(voice: Tts) -> Tts:
    fitted = getattr(voice, "for_line", None)
    return fitted(8000) if fitted is not None else voice


async def serve() -> None:
    async with every_server() as servers:
        for _, server in servers:
            # as fast as the client takes it: the client's CPU is measured
            if isinstance(server, VoiceServer | OpenAiAudioServer):
                server.first_byte_s, server.piece_s = 0.0, 0.002
        print(json.dumps({name: server.base_url for name, server in servers}), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(serve())
        return
    emulators = subprocess.Popen(
        [sys.executable, "-m", "bench.speech_vendors", "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert emulators.stdout is not None
    assert emulators.stdin is not None
    try:
        found = uvloop.run(measure(json.loads(emulators.stdout.readline())))
    finally:
        emulators.stdin.close()
        emulators.wait(10)
    if options.json:
        print(json.dumps(found))
        return
    for kind, figures in found.items():
        print(f"{kind}, CPU ms per second of audio:")
        for name, value in figures.items():
            print(f"  {name:16} {value:.2f}")


if __name__ == "__main__":
    main()
