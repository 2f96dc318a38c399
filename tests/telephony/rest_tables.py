"""What each carrier is to be asked over REST: the tables of ``test_rest_calls``."""

from typing import Any, Final

from tests.telephony.emulator_desk import AGENT, OURS, THEIRS

INBOUND: Final = "https://voice.example.org/api/v1/telephony/inbound/run"
XML: Final = '<?xml version="1.0" encoding="UTF-8"?><Response>'
DIAL: Final = f'{XML}<Dial callerId="{OURS}" timeout="20"><Number>{AGENT}</Number></Dial><Hangup/></Response>'
ROOM: Final = (
    f'{XML}<Dial><Conference startConferenceOnEnter="true" endConferenceOnExit="true" beep="false">t1</Conference>'
    "</Dial><Hangup/></Response>"
)
# A request: its method, the end of its path, and what must be among its fields (of the query, the form or the JSON).
Seen = tuple[str, str, dict[str, Any]]

TWILIO: Final[dict[str, list[Seen]]] = {
    "place": [
        (
            "POST",
            "/2010-04-01/Accounts/{account_sid}/Calls.json",
            {
                "To": THEIRS,
                "From": OURS,
                "Url": "{answer}",
                "Method": "POST",
                "StatusCallback": "{callbacks}/status-callback/7?token=s3cret",
                "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
                "Timeout": "20",
                # else the agent would be silent until the verdict
                "AsyncAmd": "true",
                "MachineDetection": "DetectMessageEnd",
            },
        )
    ],
    "blind": [("POST", "/Calls/{call}.json", {"Twiml": DIAL})],
    "hang up": [("POST", "/Calls/{call}.json", {"Status": "completed"})],
    "ring": [("POST", "/Calls.json", {"To": AGENT, "From": OURS, "Url": "{room}", "StatusCallback": "{result}"})],
    "join": [("POST", "/Calls/{call}.json", {"Twiml": ROOM})],
    "search": [("GET", "/AvailablePhoneNumbers/US/Local.json", {"AreaCode": "212", "VoiceEnabled": "true"})],
    "buy": [("POST", "/IncomingPhoneNumbers.json", {"PhoneNumber": "{number}"})],
    "point": [
        ("GET", "/IncomingPhoneNumbers.json", {"PhoneNumber": "{number}"}),
        ("POST", "/IncomingPhoneNumbers/{number_id}.json", {"VoiceUrl": INBOUND, "VoiceMethod": "POST"}),
    ],
    "release": [("DELETE", "/IncomingPhoneNumbers/{number_id}.json", {})],
    "look up": [("GET", f"/v2/PhoneNumbers/{THEIRS}", {"Fields": "line_type_intelligence"})],
}
_STREAM: Final = {
    "stream_url": "{media}",
    "stream_track": "inbound_track",
    "stream_bidirectional_mode": "rtp",
    "stream_bidirectional_codec": "PCMU",
    "webhook_url": "{callbacks}/events/7?token=s3cret",
    "webhook_url_method": "POST",
}
TELNYX: Final[dict[str, list[Seen]]] = {
    "place": [
        (
            "POST",
            "/v2/calls",
            {
                "connection_id": "{connection_id}",
                "to": THEIRS,
                "from": OURS,
                "timeout_secs": 20,
                "answering_machine_detection": "greeting_end",
                **_STREAM,
            },
        )
    ],
    "answer": [("POST", "/v2/calls/{call}/actions/answer", _STREAM)],
    "refuse": [
        ("POST", "/v2/calls/{call}/actions/answer", {}),
        ("POST", "/v2/calls/{call}/actions/speak", {"payload": "We are closed & sorry."}),
        ("POST", "/v2/calls/{call}/actions/hangup", {}),
    ],
    "blind": [("POST", "/v2/calls/{call}/actions/transfer", {"to": AGENT, "from": OURS, "timeout_secs": 20})],
    "hang up": [("POST", "/v2/calls/{call}/actions/hangup", {})],
    "ring": [("POST", "/v2/calls", {"to": AGENT, "from": OURS, "link_to": "{call}", "webhook_url": "{result}"})],
    "seat": [
        ("POST", "/v2/conferences", {"call_control_id": "{other}", "name": "t1", "start_conference_on_create": True})
    ],
    "join": [
        (
            "POST",
            "/v2/conferences/{conference}/actions/join",
            {"call_control_id": "{call}", "end_conference_on_exit": True},
        )
    ],
    "search": [
        (
            "GET",
            "/v2/available_phone_numbers",
            {
                "filter[country_code]": "US",
                "filter[national_destination_code]": "212",
                "filter[features][]": "voice",
            },
        )
    ],
    "buy": [
        (
            "POST",
            "/v2/number_orders",
            {"phone_numbers": [{"phone_number": "{number}"}], "connection_id": "{connection_id}"},
        )
    ],
    "point": [
        ("GET", "/v2/phone_numbers", {"filter[phone_number]": "{number}"}),
        ("PATCH", "/v2/phone_numbers/{number_id}", {"connection_id": "{connection_id}"}),
        ("GET", "/v2/call_control_applications/{connection_id}", {}),
        ("PATCH", "/v2/call_control_applications/{connection_id}", {"webhook_event_url": INBOUND}),
    ],
    "release": [
        ("GET", "/v2/phone_numbers", {"filter[phone_number]": "{number}"}),
        ("DELETE", "/v2/phone_numbers/{number_id}", {}),
    ],
    "look up": [("GET", f"/v2/number_lookup/{THEIRS}", {"type": "carrier"})],
}


def _plivo_like(account: str) -> dict[str, list[Seen]]:
    """Numbers without a plus; a document is fetched anew wherever a call is to go."""
    return {
        "place": [
            (
                "POST",
                f"{account}/Call/",
                {
                    "to": THEIRS[1:],
                    "from": OURS[1:],
                    "answer_url": "{answer}",
                    "answer_method": "POST",
                    "hangup_url": "{callbacks}/hangup-callback/7?token=s3cret",
                    "ring_url": "{callbacks}/ring-callback/7?token=s3cret",
                    "ring_timeout": 20,
                    "machine_detection": "true",
                },
            )
        ],
        "blind": [("POST", f"{account}/Call/{{call}}/", {"legs": "aleg", "aleg_url": "{forward}"})],
        "hang up": [("DELETE", f"{account}/Call/{{call}}/", {})],
        "ring": [
            (
                "POST",
                f"{account}/Call/",
                {"to": AGENT[1:], "from": OURS[1:], "answer_url": "{room}", "hangup_url": "{result}"},
            )
        ],
        "join": [("POST", f"{account}/Call/{{call}}/", {"legs": "aleg", "aleg_url": "{room}"})],
    }


PLIVO: Final[dict[str, list[Seen]]] = {
    **_plivo_like("/v1/Account/{auth_id}"),
    "search": [("GET", "/PhoneNumber/", {"country_iso": "US", "pattern": "212", "services": "voice"})],
    "buy": [("POST", "/PhoneNumber/{digits}/", {"app_id": "{application_id}"})],
    "point": [
        ("POST", "/Number/{digits}/", {"app_id": "{application_id}"}),
        ("GET", "/Application/{application_id}/", {}),
        ("POST", "/Application/{application_id}/", {"answer_url": INBOUND, "answer_method": "POST"}),
    ],
    "release": [("DELETE", "/Number/{digits}/", {})],
    "look up": [("GET", f"/v1/Number/{THEIRS}", {"type": "carrier"})],
}
VOBIZ: Final[dict[str, list[Seen]]] = {
    **_plivo_like("/api/v1/Account/{auth_id}"),
    "search": [("GET", "/inventory/numbers", {"country": "IN"})],
    "buy": [
        ("GET", "/inventory/numbers", {"search": "{digits}"}),
        ("POST", "/numbers/purchase-from-inventory", {"e164": "{number}", "currency": "INR"}),
    ],
    "point": [
        ("POST", "/numbers/{number}/application", {"application_id": "{application_id}"}),
        ("GET", "/Application/{application_id}/", {}),
        ("POST", "/Application/{application_id}/", {"answer_url": INBOUND, "answer_method": "POST"}),
    ],
    "release": [("DELETE", "/numbers/{number}", {})],
}
_TALK: Final = {"action": "conversation", "name": "t1", "startOnEnter": True, "endOnExit": True}
VONAGE: Final[dict[str, list[Seen]]] = {
    "place": [
        (
            "POST",
            "/v1/calls",
            {
                "to": [{"type": "phone", "number": THEIRS[1:]}],
                "from": {"type": "phone", "number": OURS[1:]},
                "answer_url": ["{answer}"],
                "answer_method": "POST",
                "event_url": ["{callbacks}/events/7?token=s3cret"],
                "ringing_timer": 20,
                "advanced_machine_detection": {"behavior": "continue", "mode": "detect_beep"},
            },
        )
    ],
    "blind": [
        (
            "PUT",
            "/v1/calls/{call}",
            {
                "action": "transfer",
                "destination": {
                    "type": "ncco",
                    "ncco": [
                        {
                            "action": "connect",
                            "from": OURS[1:],
                            "timeout": 20,
                            "endpoint": [{"type": "phone", "number": AGENT[1:]}],
                        }
                    ],
                },
            },
        )
    ],
    "hang up": [("PUT", "/v1/calls/{call}", {"action": "hangup"})],
    "ring": [
        (
            "POST",
            "/v1/calls",
            {"to": [{"type": "phone", "number": AGENT[1:]}], "event_url": ["{result}"], "ncco": [_TALK]},
        )
    ],
    "join": [("PUT", "/v1/calls/{call}", {"action": "transfer", "destination": {"type": "ncco", "ncco": [_TALK]}})],
    "search": [("GET", "/number/search", {"country": "US", "pattern": "212", "features": "VOICE"})],
    "buy": [("POST", "/number/buy", {"country": "US", "msisdn": "{digits}"})],
    "point": [
        ("GET", "/account/numbers", {"pattern": "{digits}"}),
        ("POST", "/number/update", {"msisdn": "{digits}", "app_id": "{application_id}"}),
        ("GET", "/v2/applications/{application_id}", {}),
        (
            "PUT",
            "/v2/applications/{application_id}",
            {"capabilities": {"voice": {"webhooks": {"answer_url": {"address": INBOUND}}}}},
        ),
    ],
    "release": [
        ("GET", "/account/numbers", {"pattern": "{digits}"}),
        ("POST", "/number/cancel", {"country": "US", "msisdn": "{digits}"}),
    ],
    "look up": [
        ("POST", "/identity-insights/v1/requests", {"phone_number": THEIRS[1:], "insights": {"current_carrier": {}}})
    ],
}
CLOUDONIX: Final[dict[str, list[Seen]]] = {
    "place": [
        (
            "POST",
            "/calls/{domain_id}/application",
            {
                "destination": THEIRS,
                "caller-id": OURS,
                "cxml": f'{XML}<Connect><Stream url="{{media}}"/></Connect><Hangup/></Response>',
                "callback": "{callbacks}/status-callback/7?token=s3cret",
                "timeout": 20,
            },
        )
    ],
    "blind": [("POST", "/calls/{domain_id}/sessions/{call}/application", {"cxml": DIAL})],
    "hang up": [("DELETE", "/customers/self/domains/{domain_id}/sessions/{call}", {})],
    "ring": [
        (
            "POST",
            "/calls/{domain_id}/application",
            {"destination": AGENT, "caller-id": OURS, "cxml": ROOM, "callback": "{result}"},
        )
    ],
    "join": [("POST", "/calls/{domain_id}/sessions/{call}/application", {"cxml": ROOM})],
    "point": [("PATCH", "/customers/self/domains/{domain_id}/applications/lab", {"url": INBOUND, "method": "POST"})],
}
TABLES: Final = {
    "cloudonix": CLOUDONIX,
    "plivo": PLIVO,
    "telnyx": TELNYX,
    "twilio": TWILIO,
    "vobiz": VOBIZ,
    "vonage": VONAGE,
}
