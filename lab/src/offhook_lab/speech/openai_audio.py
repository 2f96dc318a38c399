"""OpenAI's ``/v1/audio/speech`` and ``/v1/audio/transcriptions`` over plain HTTP, as local servers provide them too.

Written from OpenAI's API reference: a body of raw PCM at 24 kHz in chunks, and a multipart upload of a file.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final, Self

import numpy as np

from offhook.kit.audio import Samples
from offhook_lab.http import read_request
from offhook_lab.speech.server import HandshakeRefusal, SpeechFault
from offhook_lab.speech.tones import LEXICON, ToneLexicon, read_tones, speak_tones
from offhook_lab.speech.voices import NO_VOICE, PIECE_S

RATE: Final = 24000
_REFUSALS: Final[Mapping[str, HandshakeRefusal]] = {
    "unauthorized": HandshakeRefusal(
        401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided."}}
    ),
    "forbidden": HandshakeRefusal(403, {"error": {"code": "unsupported_country", "message": "Not supported here."}}),
    "no_quota": HandshakeRefusal(
        429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}
    ),
    "rate_limited": HandshakeRefusal(
        429, {"error": {"code": "rate_limit_exceeded", "message": "Rate limit reached."}}, {"retry-after": "1"}
    ),
    "not_found": HandshakeRefusal(404, {"error": {"code": "model_not_found", "message": "There is no such model."}}),
    "bad_request": HandshakeRefusal(400, {"error": {"code": "invalid_value", "message": "There is no such voice."}}),
    "server_error": HandshakeRefusal(500, {"error": {"code": None, "message": "The server had an error."}}),
}


class OpenAiAudioServer:
    """Serves OpenAI's audio API. ``url`` is the base URL with ``/v1``. ``trouble`` and ``fault`` work as in the
    WebSocket emulators.

    ``answers_wav``: speech is a WAV file whatever format was requested, as with some local servers.
    """

    troubles: ClassVar[Mapping[str, HandshakeRefusal]] = _REFUSALS

    def __init__(
        self, api_key: str | None = "lab-key", lexicon: ToneLexicon = LEXICON, script: Sequence[str] = ("yes please",)
    ) -> None:
        self.api_key = api_key
        self.lexicon = lexicon
        self.script = script
        self.url = ""
        self.say: Callable[[str, int], Awaitable[Samples]] | None = None
        self.trouble: str | None = None
        self.fault: SpeechFault | None = None
        self.first_byte_s = 0.1
        self.piece_s = 0.02
        self.answers_wav = False
        self.spoken: list[str] = []
        self.utterances: list[str] = []
        self.fields: list[dict[str, str]] = []
        self.connections = 0
        self.pieces_sent = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Self]:
        """Serves until the block ends."""
        listener = await asyncio.start_server(self._accept_connection, host, port)
        self.url = f"http://{host}:{listener.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            listener.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await listener.wait_closed()

    @property
    def base_url(self) -> str:
        """Returns the URL that a configuration takes."""
        return self.url

    def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve_connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await read_request(reader)) is not None:
                line, headers, body = request
                await self._answer_request(writer, line.split(" ")[1], headers, body)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer_request(
        self, writer: asyncio.StreamWriter, path: str, headers: Mapping[str, str], body: bytes
    ) -> None:
        fault = self._take_fault()
        if fault is not None and fault.kind == "silent":
            await asyncio.Event().wait()
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        trouble = self.trouble
        if self.api_key is not None and headers.get("authorization") != f"Bearer {self.api_key}":
            trouble = "unauthorized"
        if trouble is None and path == "/v1/audio/speech":
            request = json.loads(body)
            if request["voice"] != NO_VOICE and request["response_format"] == "pcm":
                await self._send_speech(writer, request["input"], fault)
                return
            trouble = "bad_request"
        elif trouble is None and path == "/v1/audio/transcriptions":
            await self._send_transcription(writer, headers["content-type"], body, fault)
            return
        refusal = _REFUSALS[trouble or "not_found"]
        await _send_json(writer, refusal.status, refusal.body, refusal.headers)

    def _take_fault(self) -> SpeechFault | None:
        if self.fault is None or self.fault.times <= 0:
            return None
        self.fault.times -= 1
        return self.fault

    async def _send_speech(self, writer: asyncio.StreamWriter, text: str, fault: SpeechFault | None) -> None:
        self.spoken.append(text)
        await asyncio.sleep(self.first_byte_s)
        kind = "audio/wav" if self.answers_wav else "audio/pcm"
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        if self.answers_wav:
            _write_chunk(writer, _wav_header())
        samples = await self.say(text, RATE) if self.say else speak_tones(text, RATE, self.lexicon)
        step = int(PIECE_S * RATE)
        for number, at in enumerate(range(0, samples.size, step)):
            if fault is not None and number == fault.after:
                await self._break_down(writer, fault)
            data = samples[at : at + step].astype("<i2").tobytes()
            # an odd cut: HTTP does not respect sample boundaries
            for part in (data[:333], data[333:]):
                _write_chunk(writer, part)
            self.pieces_sent += 1
            await writer.drain()
            await asyncio.sleep(self.piece_s)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _break_down(self, writer: asyncio.StreamWriter, fault: SpeechFault) -> None:
        if fault.kind == "cut":
            writer.transport.abort()
            raise ConnectionResetError
        if fault.kind == "stall":
            await writer.drain()
            await asyncio.Event().wait()
        if fault.kind in ("garbage", "nested"):
            writer.write(b"zzz\r\nthis is no chunk\r\n")
            await writer.drain()
            raise ConnectionResetError

    async def _send_transcription(
        self, writer: asyncio.StreamWriter, kind: str, body: bytes, fault: SpeechFault | None
    ) -> None:
        if fault is not None and fault.kind == "cut":
            writer.transport.abort()
            raise ConnectionResetError
        if fault is not None and fault.kind in ("garbage", "nested"):
            await _send_json(writer, 200, {"txet": "?"})
            return
        fields, wav = _parse_multipart(kind, body)
        self.fields.append(fields)
        rate = int.from_bytes(wav[24:28], "little")
        samples = np.frombuffer(wav[44:], "<i2")
        words = read_tones(samples, rate, self.lexicon)
        known = " ".join(word for word in words if word != "?")
        text = known or (self.script[len(self.utterances) % len(self.script)] if words else "")
        self.utterances.append(text)
        await _send_json(writer, 200, {"text": text})


def _parse_multipart(kind: str, body: bytes) -> tuple[dict[str, str], bytes]:
    """Returns ``(text fields, the file)``."""
    boundary = kind.partition("boundary=")[2].strip('"').encode()
    fields: dict[str, str] = {}
    file = b""
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, data = part.strip(b"\r\n").partition(b"\r\n\r\n")
        if part.endswith(b"\r\n"):
            data = part.partition(b"\r\n\r\n")[2][:-2]
        name = re.search(rb'name="([^"]+)"', head)
        if name is None:
            continue
        if b"filename=" in head:
            file = data
        else:
            fields[name[1].decode()] = data.decode()
    return fields, file


def _write_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    if data:
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


async def _send_json(
    writer: asyncio.StreamWriter, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    raw = json.dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"HTTP/1.1 {status} Answer\r\n{head}\r\n".encode() + raw)
    await writer.drain()


def _wav_header() -> bytes:
    rate = RATE.to_bytes(4, "little")
    form = (
        (16).to_bytes(4, "little") + b"\x01\x00\x01\x00" + rate + (RATE * 2).to_bytes(4, "little") + b"\x02\x00\x10\x00"
    )
    return b"RIFF\xff\xff\xff\xffWAVEfmt " + form + b"data\xff\xff\xff\xff"
