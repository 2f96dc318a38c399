"""The dialect's XML."""

from typing import Final

from offhook.telephony.carrier_kit.forms import digits
from offhook.telephony.carrier_kit.xml import document, element, text
from offhook.telephony.ports import Document

CONTENT_TYPE: Final = "application/xml"
# A day: the stream is to end with the call and not before.
STREAM_TIMEOUT_S: Final = 86400


def connect(media_url: str) -> Document:
    """``keepCallAlive`` makes the call wait for the stream; what comes after it hangs up once our socket closes."""
    stream = element(
        "Stream",
        text(media_url),
        bidirectional="true",
        keepCallAlive="true",
        contentType="audio/x-mulaw;rate=8000",
        streamTimeout=STREAM_TIMEOUT_S,
    )
    return document(stream, element("Hangup"), content_type=CONTENT_TYPE)


def say(message: str) -> Document:
    return document(element("Speak", text(message), voice="WOMAN"), element("Hangup"), content_type=CONTENT_TYPE)


def conference(room: str) -> Document:
    """The room of a warm transfer: either's leaving ends it."""
    seat = element("Conference", text(room), startConferenceOnEnter="true", endConferenceOnExit="true")
    return document(seat, element("Hangup"), content_type=CONTENT_TYPE)


def forward(to_number: str, from_number: str, timeout_s: float) -> Document:
    number = element("Number", text(digits(to_number)))
    dial = element("Dial", number, callerId=digits(from_number), timeout=max(5, round(timeout_s)))
    return document(dial, element("Hangup"), content_type=CONTENT_TYPE)
