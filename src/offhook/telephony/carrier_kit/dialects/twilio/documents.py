"""The dialect's XML: what is to be done with a call."""

from offhook.telephony.carrier_kit.xml import document, element, response, text
from offhook.telephony.ports import Document


def connect(media_url: str) -> Document:
    """``<Connect>`` holds the call until our socket closes; closing it is how we hang up. A query in the socket's
    address would be dropped: the token is in its path."""
    return document(element("Connect", element("Stream", url=media_url)), element("Hangup"))


def say(message: str) -> Document:
    return document(element("Say", text(message)), element("Hangup"))


def conference(room: str) -> str:
    """The destination's and the caller's way into the room of a warm transfer: either's leaving ends it."""
    return element(
        "Dial",
        element("Conference", text(room), startConferenceOnEnter="true", endConferenceOnExit="true", beep="false"),
    )


def join(room: str) -> str:
    return response(conference(room), element("Hangup"))


def forward(to_number: str, from_number: str, timeout_s: float) -> str:
    dial = element("Dial", element("Number", text(to_number)), callerId=from_number, timeout=max(5, round(timeout_s)))
    return response(dial, element("Hangup"))
