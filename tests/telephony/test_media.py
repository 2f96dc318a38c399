"""The media path over a pipe: what reaches the session, what reaches the carrier, and how it ends."""

import asyncio
from collections.abc import Callable
from typing import Any

from offhook.errors import Conflict
from offhook.kit.media_sockets.sockets import GOING_AWAY
from offhook.telephony.media.in_process_socket import PipeEnd, create_pipe
from offhook.telephony.media.leg import MediaLeg
from offhook.telephony.ports import MachineAnswered
from offhook.telephony.providers.sandbox.wire import SandboxWire
from offhook.voice.ports import CallResult
from offhook.voice.socket_leg import BAD_MESSAGE, NOT_CONNECTABLE
from tests.fakes.clock import run_virtual
from tests.fakes.media_session import ConnectedSession

START = b'{"type":"start","call_id":"SB1"}'


class NotedSession:
    """Implements voice.leg.Ears and LiveConversation: notes what it is fed and runs until the leg ends."""

    def __init__(self) -> None:
        self.fed: list[Any] = []
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.leg: MediaLeg | None = None
        self.breaks_on: bytes | None = None

    @property
    def session(self) -> "NotedSession":
        return self

    def feed_audio(self, payload: bytes) -> None:
        if payload == self.breaks_on:
            raise RuntimeError("a bug in the session")
        self.fed.append(payload)

    def feed_digit(self, digit: str) -> None:
        self.fed.append(("digit", digit))

    def feed_mark(self, name: str) -> None:
        self.fed.append(("mark", name))

    def voicemail_detected(self, by: str) -> None:
        self.fed.append(("voicemail", by))

    def end_call(self, reason: str = "caller_hung_up") -> None:
        if not self.over.done():
            self.over.set_result(reason)

    async def run(self) -> CallResult:
        return CallResult("answered", await self.over, 1.0)


class Peer:
    """The carrier's end of the pipe."""

    def __init__(self, end: PipeEnd) -> None:
        self.end = end
        self.got: list[str | bytes] = []
        self.closed: tuple[int, str] | None = None

    def on_text(self, text: str) -> None:
        self.got.append(text)

    def on_binary(self, payload: bytes) -> None:
        self.got.append(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self.closed = (code, reason)


def call(
    script: Callable[[Peer, NotedSession], Any], *, setup_s: float = 0.0
) -> tuple[CallResult | None, Peer, NotedSession]:
    """Carry a call while the script plays the carrier."""

    async def main() -> tuple[CallResult | None, Peer, NotedSession]:
        near, far = create_pipe()
        peer = Peer(far)
        await far.open(peer)
        session = NotedSession()

        async def connect(leg: MediaLeg) -> NotedSession:
            await asyncio.sleep(setup_s)
            session.leg = leg
            return session

        carried = asyncio.create_task(ConnectedSession(SandboxWire(), connect).carry_call(near.open))
        await script(peer, session)
        result = await carried
        await asyncio.sleep(0)
        return result, peer, session

    return run_virtual(main(), limit_s=60)


def test_a_machine_that_is_heard_before_the_session_is_made() -> None:
    async def main() -> list[Any]:
        session, leg = NotedSession(), MediaLeg(SandboxWire())
        leg.on_wire_event(MachineAnswered())
        leg.attach_session(session)
        return session.fed

    assert run_virtual(main()) == [("voicemail", "carrier")]


async def settle() -> None:
    await asyncio.sleep(0.01)


class TestACall:
    def test_everything_of_the_caller_reaches_the_session_in_order(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            await settle()
            peer.end.send_binary(b"one")
            peer.end.send_text(b'{"type":"digit","digit":"5"}')
            peer.end.send_text(b'{"type":"mark","name":"s1"}')
            peer.end.send_text(b'{"type":"machine"}')
            peer.end.send_binary(b"two")
            peer.end.send_text(b'{"type":"stop"}')

        result, _, session = call(script)

        assert result is not None
        assert result.end_reason == "caller_hung_up"
        assert session.fed == [b"one", ("digit", "5"), ("mark", "s1"), ("voicemail", "carrier"), b"two"]

    def test_what_the_caller_says_while_the_call_is_set_up_is_not_lost(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            peer.end.send_binary(b"hello")
            await asyncio.sleep(1)
            peer.end.send_binary(b"there")
            await settle()
            peer.end.send_text(b'{"type":"stop"}')

        _, _, session = call(script, setup_s=0.5)

        assert session.fed == [b"hello", b"there"]

    def test_everything_of_the_agent_reaches_the_carrier(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            await settle()
            assert session.leg is not None
            session.leg.send_frame(b"\x01" * 160)
            session.leg.send_mark("s1")
            session.leg.clear_buffer()
            await session.leg.hang_up()
            session.leg.send_frame(b"too late")

        _, peer, _ = call(script)

        assert peer.got == [b"\x01" * 160, '{"type": "mark", "name": "s1"}', '{"type":"clear"}']
        assert peer.closed == (1000, "the call is over")


class TestHowItEnds:
    def test_a_cut_line_is_lost_media(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            await settle()
            peer.end.drop_connection()

        result, _, _ = call(script)

        assert result is not None
        assert result.end_reason == "media_lost"

    def test_a_line_cut_while_the_call_is_set_up(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            await settle()
            peer.end.drop_connection()

        result, _, _ = call(script, setup_s=1)

        assert result is not None
        assert result.end_reason == "media_lost"

    def test_a_message_that_the_wire_does_not_have(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_text(START)
            await settle()
            peer.end.send_text(b'{"type":"nonsense"}')

        result, peer, _ = call(script)

        assert peer.closed == (BAD_MESSAGE, "unknown message")
        assert result is not None
        assert result.end_reason == "media_lost"

    def test_a_fault_of_the_session_closes_this_call_only(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            session.breaks_on = b"bad"
            peer.end.send_text(START)
            await settle()
            peer.end.send_binary(b"bad")

        _, peer, _ = call(script)

        assert peer.closed == (1011, "this call failed")

    def test_a_stream_that_never_starts(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.send_binary(b"audio without a start")

        result, peer, session = call(script)

        assert result is None
        assert peer.closed == (BAD_MESSAGE, "the stream did not start")
        assert session.fed == []

    def test_a_peer_that_leaves_before_the_start(self) -> None:
        async def script(peer: Peer, session: NotedSession) -> None:
            peer.end.close()

        result, _, _ = call(script)

        assert result is None

    def test_a_run_that_cannot_be_connected(self) -> None:
        async def main() -> tuple[CallResult | None, Peer]:
            near, far = create_pipe()
            peer = Peer(far)
            await far.open(peer)

            async def refuse(leg: MediaLeg) -> NotedSession:
                raise Conflict

            peer.end.send_text(START)
            result = await ConnectedSession(SandboxWire(), refuse).carry_call(near.open)
            await settle()
            return result, peer

        result, peer = run_virtual(main())

        assert result is None
        assert peer.closed == (NOT_CONNECTABLE, "conflict")

    def test_a_server_that_stops(self) -> None:
        async def main() -> CallResult | None:
            near, far = create_pipe()
            await far.open(Peer(far))
            session = NotedSession()

            async def connect(leg: MediaLeg) -> NotedSession:
                return session

            carried = asyncio.create_task(ConnectedSession(SandboxWire(), connect).carry_call(near.open))
            far.send_text(START)
            await settle()
            near.close(GOING_AWAY, "the server stops")
            return await carried

        result = run_virtual(main())

        assert result is not None
        assert result.end_reason == "server_stopped"
