"""NCCO: the actions of a call. The call ends with the list; there is no hang-up action."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.telephony.carrier_kit.forms import strip_plus
from offhook.telephony.ports import CallLinks, CarrierDocument

CONTENT_TYPE: Final = "audio/l16;rate=16000"
Ncco = Sequence[Mapping[str, Any]]


def build_document(ncco: Ncco) -> CarrierDocument:
    return CarrierDocument("application/json", json.dumps(ncco).encode())


def connect_stream(call_id: str, links: CallLinks) -> Ncco:
    """Returns the action that streams the call. The socket carries no data about the call except ``headers``. Because
    it is synchronous, its events ask for the actions that follow, for example once the socket broke."""
    endpoint = {
        "type": "websocket",
        "uri": links.media_url,
        "content-type": CONTENT_TYPE,
        "headers": {"run_id": str(links.run_id), "call_id": call_id},
    }
    return [{"action": "connect", "eventType": "synchronous", "eventUrl": [links.resume_url], "endpoint": [endpoint]}]


def no_more_actions() -> CarrierDocument:
    """Returns the answer that leaves a call with the actions it has, which have all run: the call ends."""
    return CarrierDocument("application/json", b"", 204)


def say_message(message: str) -> Ncco:
    return [{"action": "talk", "text": message}]


def join_conversation(room: str) -> Ncco:
    return [{"action": "conversation", "name": room, "startOnEnter": True, "endOnExit": True}]


def forward_call(to_number: str, from_number: str, timeout_s: float) -> Ncco:
    endpoint = {"type": "phone", "number": strip_plus(to_number)}
    return [
        {
            "action": "connect",
            "from": strip_plus(from_number),
            "timeout": min(120, max(5, round(timeout_s))),
            "endpoint": [endpoint],
        }
    ]
