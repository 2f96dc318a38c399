"""A carrier's requests to our URLs: signed, recorded, in order for each call, and disturbed by switch."""

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, Literal
from urllib.parse import urlencode, urlsplit

import httpx2

from offhook.kit.tasks import TaskTracker
from offhook_lab.carriers.core.chaos import CallbackFault, ChaosSwitches

Form = Sequence[tuple[str, str]]
ANSWER_TIMEOUT_S: Final = 15.0


@dataclass(slots=True)
class OutgoingCallback:
    """One request to us. ``kind`` names it (``"answer"``, ``"status:completed"``, ``"event:call.hangup"``); ``url``
    is the public one with its query; ``status`` is None when it got no response. ``secret``: forged requests have a
    wrong one."""

    kind: str
    method: str
    url: str
    body: bytes = b""
    content_type: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    call_id: str = ""
    # also covered by the signature: the parameters of forms, in order
    form: Form = ()
    forgery: Literal["", "forged", "unsigned", "altered"] = ""
    attempt: int = 1
    status: int | None = None
    answer: bytes = b""
    answer_type: str = ""
    error: str = ""

    @property
    def json(self) -> Any:
        """Returns the sent body, parsed as JSON."""
        return json.loads(self.body)

    @property
    def fields(self) -> dict[str, str]:
        return dict(self.form)


def form_callback(kind: str, url: str, form: Form, *, method: str = "POST", call_id: str = "") -> OutgoingCallback:
    """Returns a callback with a form in the body, or in the query when it is a GET."""
    if method.upper() == "GET":
        url = f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(form)}"
        return OutgoingCallback(kind, "GET", url, call_id=call_id, form=form)
    kind_of_body = "application/x-www-form-urlencoded; charset=UTF-8"
    return OutgoingCallback(kind, "POST", url, urlencode(form).encode(), kind_of_body, call_id=call_id, form=form)


def json_callback(kind: str, url: str, body: Any, *, call_id: str = "") -> OutgoingCallback:
    return OutgoingCallback(kind, "POST", url, json.dumps(body).encode(), "application/json", call_id=call_id)


@dataclass(slots=True)
class ProxyTunnel:
    """A public origin (``https://voice.example.org``) and its real address; its requests carry X-Forwarded-*."""

    public: str
    real: str

    def matches_url(self, url: str) -> bool:
        return _origin_of(url) == _origin_of(self.public)


def _origin_of(url: str) -> tuple[str, str]:
    """Returns scheme family and host: the socket of a public URL takes the same route as its pages."""
    parts = urlsplit(url)
    return parts.scheme.replace("ws", "http", 1), parts.netloc.lower()


def route_through(tunnels: Sequence[ProxyTunnel], url: str) -> tuple[str, dict[str, str]]:
    """Returns the real URL to connect to, and the headers that a reverse proxy adds."""
    for tunnel in tunnels:
        if tunnel.matches_url(url):
            public, real = urlsplit(url), urlsplit(tunnel.real)
            scheme = real.scheme.replace("http", "ws", 1) if public.scheme.startswith("ws") else real.scheme
            proto = "https" if public.scheme in {"https", "wss"} else "http"
            headers = {
                "Host": public.netloc,
                "X-Forwarded-Proto": proto,
                "X-Forwarded-Host": public.netloc,
                "X-Forwarded-For": "203.0.113.7",
            }
            return public._replace(scheme=scheme, netloc=real.netloc).geturl(), headers
    return url, {}


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Returns what all clients share: reading the certificates takes 20 ms of CPU."""
    return httpx2.create_ssl_context(trust_env=False)


class CallbackSender:
    """Sends callbacks. ``sent`` are all attempts with their responses; ``lost`` those that chaos dropped; ``held``
    those that wait."""

    def __init__(self, chaos: ChaosSwitches, sign: Callable[[OutgoingCallback], Mapping[str, str]]) -> None:
        self._chaos = chaos
        self._sign = sign
        self._tasks = TaskTracker()
        self._boxes: dict[str, asyncio.Queue[OutgoingCallback]] = {}
        self._swapped: dict[str, OutgoingCallback] = {}
        self._pending = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._client: httpx2.AsyncClient | None = None
        self.sent: list[OutgoingCallback] = []
        self.lost: list[OutgoingCallback] = []
        self.held: list[OutgoingCallback] = []
        self.tunnels: list[ProxyTunnel] = []
        # the transport to us (None: the network); set it before the emulator runs
        self.transport: httpx2.AsyncBaseTransport | None = None
        self.user_agent = "lab"
        # total attempts, the delay between them, and the accepted responses
        self.attempts = 1
        self.retry_after_s = 0.2
        self.is_accepted: Callable[[int], bool] = lambda status: status < 500

    def open(self) -> None:
        self._client = httpx2.AsyncClient(
            transport=self.transport, verify=_trusted_certificates(), trust_env=False, timeout=ANSWER_TIMEOUT_S
        )

    async def close(self) -> None:
        await self._tasks.close()
        if self._client is not None:
            await self._client.aclose()

    def enqueue(self, callback: OutgoingCallback) -> None:
        """Queues the callback behind the earlier ones of the same call, without waiting."""
        if not callback.url:
            return
        self._add_pending()
        box = self._boxes.get(callback.call_id)
        if box is None:
            box = self._boxes[callback.call_id] = asyncio.Queue()
            self._tasks.start(self._drain_queue(box), name="lab.callbacks")
        box.put_nowait(callback)

    async def send_now(self, callback: OutgoingCallback) -> OutgoingCallback:
        """Sends the callback now and waits for the response (a document); chaos can lose or forge it. The request
        itself runs on when its call ends meanwhile: a carrier cuts none of its requests, it ignores the response."""
        fault = self._chaos.for_callback(callback.kind)
        if fault is not None and fault.what == "late":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.what == "lost":
            self.lost.append(callback)
            return callback
        self._add_pending()
        delivery = self._tasks.start(self._deliver_with_fault(callback, fault), name="lab.document")
        delivery.add_done_callback(lambda _: self._remove_pending())
        sent: list[OutgoingCallback] = await asyncio.shield(delivery)
        return sent[0]

    async def release_held(self, *callbacks: OutgoingCallback) -> list[OutgoingCallback]:
        """Releases held callbacks in the given order (all of them in their own when none is given) and returns them
        with their responses."""
        chosen = list(callbacks) or list(self.held)
        done = []
        for callback in chosen:
            if callback in self.held:
                self.held.remove(callback)
            done.append(await self.deliver_signed(callback))
        return done

    async def send_again(self, callback: OutgoingCallback, **changes: Any) -> OutgoingCallback:
        """Sends the same request again with its signature; ``changes`` alter it after it was signed."""
        return await self._send_request(replace(callback, status=None, answer=b"", error="", **changes))

    async def wait_idle(self) -> None:
        """Waits until no callback is in flight."""
        await self._idle.wait()

    # internals

    def _add_pending(self) -> None:
        self._pending += 1
        self._idle.clear()

    def _remove_pending(self) -> None:
        self._pending -= 1
        if not self._pending:
            self._idle.set()

    async def _drain_queue(self, box: "asyncio.Queue[OutgoingCallback]") -> None:
        while True:
            callback = await box.get()
            try:
                await self._handle_callback(callback)
            finally:
                self._remove_pending()

    async def _handle_callback(self, callback: OutgoingCallback) -> None:
        if self._chaos.holds_callbacks:
            self.held.append(callback)
            return
        fault = self._chaos.for_callback(callback.kind)
        if fault is not None and fault.what == "lost":
            self.lost.append(callback)
        elif fault is not None and fault.what == "late":
            self._add_pending()
            self._tasks.start(self._deliver_later(callback, fault.seconds), name="lab.late")
        elif fault is not None and fault.what == "swapped":
            self._swapped[callback.call_id] = callback
            self._add_pending()
        else:
            await self._deliver_with_fault(callback, fault)
            if (waiting := self._swapped.pop(callback.call_id, None)) is not None:
                await self.deliver_signed(waiting)
                self._remove_pending()

    async def _deliver_later(self, callback: OutgoingCallback, seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
            await self.deliver_signed(callback)
        finally:
            self._remove_pending()

    async def _deliver_with_fault(
        self, callback: OutgoingCallback, fault: CallbackFault | None
    ) -> list[OutgoingCallback]:
        if fault is not None and fault.what in ("forged", "unsigned", "altered"):
            callback.forgery = fault.what
        answers = [await self.deliver_signed(callback)]
        if fault is not None and fault.what == "twice":
            answers.append(await self.send_again(callback))
        return answers

    async def deliver_signed(self, callback: OutgoingCallback) -> OutgoingCallback:
        """Signs and sends, and repeats it while the response is not accepted and attempts remain."""
        for attempt in range(1, self.attempts + 1):
            callback.attempt = attempt
            callback.headers = dict(self._sign(callback))
            await self._send_request(callback)
            if callback.status is not None and self.is_accepted(callback.status):
                break
            if attempt < self.attempts:
                await asyncio.sleep(self.retry_after_s)
        return callback

    async def _send_request(self, callback: OutgoingCallback) -> OutgoingCallback:
        assert self._client is not None, "the emulator is not running"
        url, forwarded = route_through(self.tunnels, callback.url)
        body = callback.body
        if callback.forgery == "altered":
            url, body = (url, body.replace(b"1", b"2")) if body else (f"{url}&altered=1", body)
        headers = {"User-Agent": self.user_agent, **callback.headers, **forwarded}
        if callback.content_type:
            headers["Content-Type"] = callback.content_type
        self.sent.append(callback)
        try:
            answer = await self._client.request(callback.method, url, content=body or None, headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            callback.status, callback.error = None, str(error) or type(error).__name__
            return callback
        callback.status, callback.answer = answer.status_code, answer.content
        callback.answer_type = answer.headers.get("content-type", "")
        return callback
