"""The WebSocket of a browser call."""

from contextlib import ExitStack
from typing import Annotated

import structlog
from fastapi import Query, WebSocket

from offhook.browser.browser_leg import BrowserLeg
from offhook.browser.services import BrowserServices, Services
from offhook.errors import DomainError
from offhook.kit.http.path_ids import read_id
from offhook.kit.http.routing import Router
from offhook.kit.media_sockets.sockets import PushSocket, open_socket, refuse_socket
from offhook.kit.tasks import TaskTracker
from offhook.runs import LiveCallRegistry, Run
from offhook.runs.errors import MediaTokenRefused, ProcessIsFull, RunNotConnectable
from offhook.voice.socket_leg import FAULT, NOT_CONNECTABLE, REFUSED

router = Router(prefix="/browser", tags=["browser"])
log = structlog.get_logger(__name__)

MODE = "browser"


@router.websocket("/media/{run_id}", name="browser_media")
async def browser_media(
    websocket: WebSocket, run_id: str, services: Services, token: Annotated[str, Query()] = ""
) -> None:
    """Carries audio in both directions and JSON messages. A page whose line broke connects again with the token of the
    message ``reconnect``, and the call goes on. The token is spent before the handshake is accepted: a wrong,
    used or expired one is refused with HTTP 401 (or close code 4401 where the server cannot answer a handshake). Without
    a place, it stays unspent: another process that has one takes the call (503), or the page says what is wrong."""
    number = read_id(run_id)
    try:
        if number is None:
            raise MediaTokenRefused
        run = await services.live.admission.admit_run(number, token, mode=MODE)
    except ProcessIsFull as error:
        if services.live.room.has_room_elsewhere():
            await refuse_socket(websocket, error, close_code=NOT_CONNECTABLE)
            return
        leg, socket = await _open_leg(websocket, services)
        leg.send_error(error.code, error.message)
        leg.close(NOT_CONNECTABLE, error.code)
        await socket.wait_closed()
        return
    except DomainError as error:
        await refuse_socket(websocket, error, close_code=REFUSED)
        return
    with ExitStack() as slot:
        slot.callback(services.live.slots.give_back, number)
        leg, socket = await _open_leg(websocket, services)
        with structlog.contextvars.bound_contextvars(run_id=number):
            await _run_call(services.live, run, leg, socket, slot)


async def _open_leg(websocket: WebSocket, services: BrowserServices) -> tuple[BrowserLeg, PushSocket]:
    leg = BrowserLeg()
    socket = await open_socket(websocket, leg, max_message_bytes=services.max_message_bytes)
    leg.attach_socket(socket)
    return leg, socket


async def _run_call(live: LiveCallRegistry, run: Run, leg: BrowserLeg, socket: PushSocket, slot: ExitStack) -> None:
    """``slot`` is that of the admission, given back as soon as the call holds one of its own."""
    offers = TaskTracker()
    try:
        if await live.handovers.decide(run.organization_id, run.id) == "hang_up":
            raise RunNotConnectable
        call = await live.connect_leg(run.id, leg)
        slot.close()
        leg.attach_session(call.session)
        if call.keeps_words:
            offers.start(_offer_return(live, run.id, leg), name="browser.return")
        await call.run()
        if (end := call.finished) is not None:
            shown = {"status": end.status, "outcome": end.outcome, "end_reason": end.end_reason}
            leg.send_json({"type": "ended", **shown})
    except DomainError as error:
        leg.send_error(error.code, error.message)
        leg.close(NOT_CONNECTABLE, error.code)
    except Exception:
        # the media-socket edge: the browser is notified, and the error goes to the server's log
        leg.close(FAULT, "this call failed")
        raise
    finally:
        offers.cancel()
        leg.close(reason="the call is over")
        await socket.wait_closed()


async def _offer_return(live: LiveCallRegistry, run_id: int, leg: BrowserLeg) -> None:
    """Tells the page how it connects the call again."""
    token = await live.admission.issue_return_token(run_id, MODE)
    if token is not None:
        leg.send_json({"type": "reconnect", "token": token})
