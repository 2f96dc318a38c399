"""Amazon Nova Sonic on Bedrock (InvokeModelWithBidirectionalStream) over HTTP/2: a model that hears tones, and speaks them.

Written from the vendor's user guide and from the clients of pipecat and LiveKit, with the faults that their users report.
Where they are silent, a comment with ``??`` says which reading was chosen: the stricter one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Self
from urllib.parse import unquote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamReset
from h2.exceptions import H2Error
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook_lab.speech.nova_sonic_session import NovaSonicSession
from offhook_lab.speech.nova_sonic_signing import SignatureChain, payload_of, split_messages
from offhook_lab.speech.server import SpeechFault
from offhook_lab.speech.tones import LEXICON, ToneLexicon
from offhook_lab.speech.voice_model_server import Answer, VoiceModelServer, add_tokens

ACCESS_KEY_ID: Final = "AKIALABLABLABLABLABL"
MODELS: Final = ("amazon.nova-sonic-v1:0", "amazon.nova-2-sonic-v1:0")
WINDOW_BYTES: Final = 8 * 1024 * 1024
# trouble -> status, kind of error, sentence
_REFUSALS: Final[Mapping[str, tuple[int, str, str]]] = {
    "no_quota": (403, "AccessDeniedException", "Model access is denied due to INVALID_PAYMENT_INSTRUMENT."),
    "rate_limited": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    "server_error": (503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
    "forbidden": (403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
}


class NovaSonicServer(VoiceModelServer):
    """``sessions`` are the streams in the order in which they began; ``api_key`` is the secret of ``access_key_id``.

    Faults besides :class:`VoiceModelServer`'s: ``next_exception`` is the kind and the sentence of the exception that the
    next turn ends in; ``is_filtered``: the next answer is stopped by the vendor's filter; ``interrupts_itself``: the next
    answer ends as if the caller had spoken; ``has_late_words``: the words come after the sound only; ``repeats_calls``: each
    call comes twice; ``next_audio`` replaces the next piece of audio's text of base 64; ``next_events`` are events, or
    bytes, that come before the next answer; ``answers_nothing``: the next turn ends without an answer.
    """

    def __init__(self, model: Answer | None = None, lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(model, lexicon)
        self.access_key_id = ACCESS_KEY_ID
        self.sessions: list[NovaSonicSession] = []
        self.session_s = 480.0
        self.next_exception: tuple[str, str] | None = None
        self.is_filtered = False
        self.interrupts_itself = False
        self.has_late_words = False
        self.repeats_calls = False
        self.answers_nothing = False
        self.next_audio: str | None = None
        self.next_events: list[tuple[str, Mapping[str, Any]] | bytes] = []
        self._links: set[NovaConnection] = set()

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Self]:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: NovaConnection(self), host, port)
        self.url = f"http://{host}:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self.drop_connections()

    @property
    def base_url(self) -> str:
        return self.url

    @property
    def is_connected(self) -> bool:
        return bool(self._links)

    def drop_connections(self) -> None:
        for link in list(self._links):
            link.abort()

    def is_authorized(self, headers: Headers) -> bool:
        return True  # signatures are checked with the request

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        raise NotImplementedError("this vendor has no WebSocket")

    @property
    def newest_session(self) -> NovaSonicSession:
        return self.sessions[-1]

    def start_orphan(self) -> None:
        self.newest_session.begin_turn()

    def empty_account(self) -> None:
        # ?? what a stream says when the account is closed
        self.next_exception = ("accessDeniedException", "Access is denied due to INVALID_PAYMENT_INSTRUMENT.")

    def filter_answer(self) -> None:
        self.is_filtered = True

    def counted_usage(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for usage in self.usage:
            for name, tokens in usage.items():
                add_tokens(total, name, tokens)
        return total

    def refusal_of(self, path: str, headers: Mapping[str, str], chain: SignatureChain) -> tuple[int, str, str] | None:
        """Returns the status, the kind of error and the sentence for a request that the vendor refuses."""
        problem = chain.check_request(headers)
        if problem:
            return 403, problem, "The security token included in the request is invalid."
        if self.trouble is not None:
            return _REFUSALS[self.trouble]
        model, found, _ = unquote(path.removeprefix("/model/")).partition("/invoke-with-bidirectional-stream")
        if not found:
            return 404, "UnknownOperationException", "No such operation."
        if model not in MODELS:
            return 400, "ValidationException", "The provided model identifier is invalid."
        return None

    def take_handshake_fault(self) -> SpeechFault | None:
        return self._take_fault_of("silent", "slow")

    def note_connection(self, link: "NovaConnection", *, is_open: bool) -> None:
        if is_open:
            self._links.add(link)
        else:
            self._links.discard(link)
            self.closed += 1


class NovaConnection(asyncio.Protocol):
    """One HTTP/2 connection with one stream."""

    def __init__(self, server: NovaSonicServer) -> None:
        self._server = server
        self._http = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._transport: asyncio.Transport | None = None
        self._chain = SignatureChain(server.access_key_id, server.api_key)
        self._pending = bytearray()
        self._stream_id = 0
        self._session: NovaSonicSession | None = None
        self._is_silent = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.note_connection(self, is_open=True)
        fault = self._server.take_handshake_fault()
        self._is_silent = fault is not None and fault.kind == "silent"
        if fault is None:
            self._greet()
        elif fault.kind == "slow":
            asyncio.get_running_loop().call_later(fault.seconds, self._greet)

    def _greet(self) -> None:
        self._http.initiate_connection()
        self._http.increment_flow_control_window(WINDOW_BYTES)
        self._flush()

    def _flush(self) -> None:
        if self._transport is not None and (data := self._http.data_to_send()):
            self._transport.write(data)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._server.note_connection(self, is_open=False)
        if self._session is not None:
            self._session.end()

    def data_received(self, data: bytes) -> None:
        if self._is_silent:
            return
        try:
            for event in self._http.receive_data(data):
                self._on_event(event)
            self._flush()
        except H2Error:
            self.abort()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            assert event.stream_id is not None
            self._stream_id = event.stream_id
            self._http.increment_flow_control_window(WINDOW_BYTES, self._stream_id)
            self._on_request({str(name): str(value) for name, value in event.headers or ()})
        elif isinstance(event, DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if self._session is not None:
                self._on_body(event.data)
        elif isinstance(event, StreamReset) and self._session is not None:
            self._session.end()

    def _on_request(self, headers: Mapping[str, str]) -> None:
        path = headers[":path"]
        self._server.requests.append(path)
        refusal = self._server.refusal_of(path, headers, self._chain)
        if refusal is not None:
            status, kind, sentence = refusal
            answer = [(":status", str(status)), ("x-amzn-errortype", f"{kind}:http://internal.amazon.com/")]
            self._http.send_headers(self._stream_id, answer)
            self._http.send_data(self._stream_id, json.dumps({"message": sentence}).encode(), end_stream=True)
            return
        self._server.connections += 1
        self._session = NovaSonicSession(self._server, self)
        self._server.sessions.append(self._session)
        content = ("content-type", "application/vnd.amazon.eventstream")
        self._http.send_headers(self._stream_id, [(":status", "200"), content])

    def _on_body(self, data: bytes) -> None:
        assert self._session is not None
        self._pending += data
        for raw in split_messages(self._pending):
            inner = self._chain.open_message(raw)
            if inner is None:
                self._session.refuse("validationException", "The signature of an event does not match.")
            elif inner:
                self._session.on_chunk(payload_of(inner))
            else:
                self._session.on_last_message()

    # -- for the session ------------------------------------------------------------------------------------------

    def send(self, message: bytes, *, is_last: bool = False) -> None:
        """Sends a message of the stream. The emulator's messages fit into the client's window."""
        with suppress(H2Error):
            for at in range(0, len(message), 16_000):
                self._http.send_data(self._stream_id, message[at : at + 16_000])
            if is_last:
                self._http.end_stream(self._stream_id)
        self._flush()

    def reset(self) -> None:
        """Resets the stream, as the vendor does when it fails."""
        with suppress(H2Error):
            self._http.reset_stream(self._stream_id, error_code=2)
        self._flush()
