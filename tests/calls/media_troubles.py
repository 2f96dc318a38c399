"""What may come to a carrier's media socket instead of the carrier, and what may not come at all."""

import asyncio
import json
from datetime import timedelta
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from offhook.runs import service as runs
from offhook.runs.live import media_tokens
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.call_signals import CallSignals
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.no_media_sweeper import NoMediaSweeper
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.webhooks.resumed_calls import MAX_ATTEMPTS
from offhook_lab.carriers import EmulatedCall, SocketFault, phones
from tests.calls.desks import Desk
from tests.calls.test_media_socket import refused_with
from tests.fakes.clock import SetClock


async def strangers_come(desk: Desk, call: EmulatedCall) -> None:
    """While the call is carried: with its token once more, with another call's, two at once, and with a second token of
    its own. None of them gets a word of it or ends it."""
    assert call.stream is not None
    name, server = desk.carrier.name, desk.server
    run_id, token = call.stream.url.split("/")[-2:]
    media = f"ws{server.url.removeprefix('http')}/api/v1/telephony/media"
    other_id, other = await server.waiting_run(name)
    others_token = other.rpartition("/")[2]
    assert await refused_with(f"{media}/{name}/{run_id}/{token}") == 401
    assert await refused_with(f"{media}/{name}/{run_id}/{others_token}") == 401
    assert await refused_with(f"{media}/{name}/{other_id}/{token}") == 401
    assert await refused_with(f"{media}/sandbox/{other_id}/{others_token}") == 401

    at_once = [connect(other, proxy=None) for _ in range(2)]
    sockets = await asyncio.gather(*at_once, return_exceptions=True)
    (opened,) = [one for one in sockets if isinstance(one, ClientConnection)]
    (refusal,) = [one for one in sockets if isinstance(one, InvalidStatus)]
    assert refusal.response.status_code == 401
    await opened.close()
    if name != "telnyx":  # whose sockets come before the answer: that it never began is for its callbacks to explain
        assert (await desk.finished(int(other_id)))["end_reason"] == "media_lost"

    for begins in (False, True):
        async with server.root.db.transaction() as session:
            run = await runs.get_run(session, server.org.id, int(run_id))
            again = await media_tokens.issue_token(session, run)
        async with connect(f"{media}/{name}/{run_id}/{again}", proxy=None) as second:
            if begins:
                await second.send(json.dumps(_start(name, call.id)))
                async with asyncio.timeout(60):
                    await second.wait_closed()
                assert (second.close_code, second.close_reason) == (4409, "run_not_connectable")
    assert (await server.run(int(run_id)))["status"] == "in_progress"


def _start(carrier: str, call_id: str) -> dict[str, Any]:
    """How each carrier's media stream begins."""
    if carrier == "vonage":
        return {"event": "websocket:connected", "content-type": "audio/l16;rate=16000"}
    if carrier == "telnyx":
        form = {"encoding": "PCMU", "sample_rate": 8000, "channels": 1}
        return {"event": "start", "stream_id": "S2", "start": {"call_control_id": call_id, "media_format": form}}
    if carrier in {"plivo", "vobiz"}:
        return {"event": "start", "start": {"streamId": "S2", "callId": call_id}}
    return {"event": "start", "streamSid": "S2", "start": {"streamSid": "S2", "callSid": call_id}}


async def media_never_comes(desks: list[Desk]) -> None:
    """Answered by somebody to whom nobody talks: ended, and no slot is held."""
    root, number = desks[0].server.root, "+12125550108"
    dialled = {}
    for desk in desks:
        # as often as a carrier that asks again opens one
        desk.carrier.chaos.sockets.append(SocketFault(after_s=-1, times=MAX_ATTEMPTS + 1))
        desk.carrier.phones[number] = phones.silent()
        dialled[desk.carrier.name] = await desk.dial(number)
    for desk in desks:
        async with asyncio.timeout(60):
            while (await desk.server.run(dialled[desk.carrier.name]))["status"] in {"initiated", "ringing"}:
                await asyncio.sleep(0.2)
    later = SetClock(root.clock.now() + timedelta(minutes=1))
    line = CarrierCallControl(root.db, root.get(CarrierRegistry), root.get(CarrierAccounts), CallSignals(root.db))
    await NoMediaSweeper(root.db, root.get(CarrierRegistry), root.get(CallReports), line, later).end_calls()
    for desk in desks:
        run = await desk.finished(dialled[desk.carrier.name])
        # Some carriers end a call themselves that they cannot connect, and have then completed it.
        assert run["end_reason"] == "media_never_came", (desk.carrier.name, run["status"], run["end_reason"])
        assert run["status"] in {"failed", "completed"}
        assert run["transcript"] == []
        await desk.carrier.wait_settled()
    listed = (await desks[0].server.http.get(f"/workflow/{desks[0].server.workflow_id}/runs")).json()["runs"]
    assert [run for run in listed if run["call_id"] and run["ended_at"] is None] == []
