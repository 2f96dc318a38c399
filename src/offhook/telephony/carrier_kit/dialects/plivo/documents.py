"""The dialect's XML."""

from typing import Final

from offhook.telephony.carrier_kit.forms import strip_plus
from offhook.telephony.carrier_kit.xml import build_document, build_element, escape_text
from offhook.telephony.ports import CarrierDocument

CONTENT_TYPE: Final = "application/xml"
# One day: the stream should end with the call and not before.
STREAM_TIMEOUT_S: Final = 86400


def connect_stream(media_url: str, resume_url: str) -> CarrierDocument:
    """Returns the element that streams the call. ``keepCallAlive`` makes the call wait for the stream; the element
    after it asks at ``resume_url`` what follows, because a socket that closes may also be one that broke."""
    stream = build_element(
        "Stream",
        escape_text(media_url),
        bidirectional="true",
        keepCallAlive="true",
        contentType="audio/x-mulaw;rate=8000",
        streamTimeout=STREAM_TIMEOUT_S,
    )
    following = build_element("Redirect", escape_text(resume_url), method="POST")
    return build_document(stream, following, content_type=CONTENT_TYPE)


def hang_up() -> CarrierDocument:
    return build_document(build_element("Hangup"), content_type=CONTENT_TYPE)


def say_message(message: str) -> CarrierDocument:
    return build_document(
        build_element("Speak", escape_text(message), voice="WOMAN"), build_element("Hangup"), content_type=CONTENT_TYPE
    )


def reject_as_busy() -> CarrierDocument:
    """Returns ``<Hangup>`` with a reason, which has to be the first element: the call stays unanswered."""
    return build_document(build_element("Hangup", reason="busy"), content_type=CONTENT_TYPE)


def join_conference(room: str) -> CarrierDocument:
    """Returns the document that joins the room of a warm transfer. When either party leaves, the room ends."""
    seat = build_element("Conference", escape_text(room), startConferenceOnEnter="true", endConferenceOnExit="true")
    return build_document(seat, build_element("Hangup"), content_type=CONTENT_TYPE)


def forward_call(to_number: str, from_number: str, timeout_s: float) -> CarrierDocument:
    number = build_element("Number", escape_text(strip_plus(to_number)))
    dial = build_element("Dial", number, callerId=strip_plus(from_number), timeout=max(5, round(timeout_s)))
    return build_document(dial, build_element("Hangup"), content_type=CONTENT_TYPE)
