"""Builds the dialect's XML documents."""

from offhook.telephony.carrier_kit.xml import build_document, build_element, build_response, escape_text
from offhook.telephony.ports import CarrierDocument


def connect_stream(media_url: str, resume_url: str = "") -> CarrierDocument:
    """Returns ``<Connect>``, which holds the call until our socket closes; closing it is how we hang up. A query in
    the socket's address would be dropped, so the token is in its path.

    With ``resume_url`` the carrier asks there what follows, because a socket that closes may also be one that broke.
    """
    stream = build_element("Connect", build_element("Stream", url=media_url))
    following = build_element("Redirect", escape_text(resume_url), method="POST") if resume_url else None
    return build_document(stream, following or build_element("Hangup"))


def hang_up() -> CarrierDocument:
    return build_document(build_element("Hangup"))


def say_message(message: str) -> CarrierDocument:
    return build_document(build_element("Say", escape_text(message)), build_element("Hangup"))


def reject_as_busy() -> CarrierDocument:
    """Returns ``<Reject>``, which has to be the first element: the call stays unanswered."""
    return build_document(build_element("Reject", reason="busy"))


def conference_element(room: str) -> str:
    """Returns the element that joins the destination and the caller to the room of a warm transfer. When either
    leaves, the room ends."""
    return build_element(
        "Dial",
        build_element(
            "Conference", escape_text(room), startConferenceOnEnter="true", endConferenceOnExit="true", beep="false"
        ),
    )


def join_conference(room: str) -> str:
    return build_response(conference_element(room), build_element("Hangup"))


def forward_call(to_number: str, from_number: str, timeout_s: float) -> str:
    dial = build_element(
        "Dial", build_element("Number", escape_text(to_number)), callerId=from_number, timeout=max(5, round(timeout_s))
    )
    return build_response(dial, build_element("Hangup"))
