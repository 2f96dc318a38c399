"""Twilio's numbers, applications, conferences and look-ups."""

from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.documents import DocumentSource
from offhook_lab.carriers.core.emulator import EmulatedNumber
from offhook_lab.carriers.core.number_catalog import find_offers
from offhook_lab.carriers.core.number_formats import is_e164, with_plus
from offhook_lab.carriers.core.rest import RestReply, RestRequest

if TYPE_CHECKING:
    from offhook_lab.carriers.twilio.server import TwilioEmulator

_SETTINGS = (
    "VoiceUrl",
    "VoiceMethod",
    "VoiceFallbackUrl",
    "VoiceApplicationSid",
    "StatusCallback",
    "StatusCallbackMethod",
    "FriendlyName",
)


def add_routes(server: "TwilioEmulator", base: str) -> None:
    """Serves the routes below the account's path ``base``; look-ups have a path of their own."""
    shop = _NumberRoutes(server)
    for kind in ("Local", "TollFree", "Mobile"):
        server.add_route("GET", f"{base}/AvailablePhoneNumbers/{{country}}/{kind}.json", shop.search_numbers)
    server.add_route("GET", f"{base}/IncomingPhoneNumbers.json", shop.find_owned)
    server.add_route("POST", f"{base}/IncomingPhoneNumbers.json", shop.buy_number)
    server.add_route("GET", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.fetch_number)
    server.add_route("POST", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.update_number)
    server.add_route("DELETE", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.release_number)
    server.add_route("POST", f"{base}/Applications.json", shop.create_application)
    server.add_route("POST", f"{base}/Applications/{{sid}}.json", shop.update_application)
    server.add_route("GET", f"{base}/Applications/{{sid}}.json", shop.fetch_application)
    server.add_route("GET", f"{base}/Conferences.json", shop.list_conferences)
    server.add_route("POST", f"{base}/Conferences/{{sid}}.json", shop.end_conference)
    server.add_route("POST", f"{base}/Conferences/{{sid}}/Participants.json", shop.add_participant)
    server.add_route("GET", "/v2/PhoneNumbers/{number}", shop.look_up)


class _NumberRoutes:
    def __init__(self, server: "TwilioEmulator") -> None:
        self._server = server

    def _render_number(self, number: EmulatedNumber) -> dict[str, Any]:
        settings = number.settings
        return {
            "sid": number.id,
            "account_sid": self._server.account_of_number(number.e164),
            "phone_number": number.e164,
            "friendly_name": settings.get("FriendlyName", number.e164),
            "voice_url": settings.get("VoiceUrl", ""),
            "voice_method": settings.get("VoiceMethod", "POST"),
            "voice_fallback_url": settings.get("VoiceFallbackUrl", ""),
            "voice_application_sid": settings.get("VoiceApplicationSid", ""),
            "status_callback": settings.get("StatusCallback", ""),
            "capabilities": {"voice": True, "sms": False, "mms": False, "fax": False},
            "status": "in-use",
        }

    async def search_numbers(self, request: RestRequest) -> RestReply:
        country = request.parts["country"].upper()
        kind = request.path.rpartition("/")[2].removesuffix(".json")
        found = find_offers(
            country,
            {"Local": "local", "TollFree": "toll_free", "Mobile": "mobile"}[kind],
            area=(request.query.get("AreaCode") or [""])[0],
            contains=(request.query.get("Contains") or [""])[0].strip("*"),
            owned=self._server.numbers,
        )
        if found is None:
            return self._server.not_found_reply(request)
        listed = [
            {
                "phone_number": offer.e164,
                "friendly_name": offer.friendly_name,
                "locality": offer.locality or None,
                "region": offer.region or None,
                "iso_country": country,
                "lata": None,
                "rate_center": None,
                "address_requirements": "none",
                "beta": False,
                "capabilities": {"voice": True, "SMS": True, "MMS": False},
            }
            for offer in found
        ]
        return RestReply(200, {"available_phone_numbers": listed, "uri": request.path})

    async def find_owned(self, request: RestRequest) -> RestReply:
        wanted = (request.query.get("PhoneNumber") or [""])[0]
        # "+" in a query decodes as a space: Twilio takes both
        wanted = with_plus(wanted.strip())
        found = [number for number in self._owned_in(request) if not wanted or number.e164 == wanted]
        return RestReply(200, {"incoming_phone_numbers": [self._render_number(number) for number in found], "page": 0})

    async def buy_number(self, request: RestRequest) -> RestReply:
        refusal = _purchase_refusal(request, self._server.numbers)
        if refusal is not None:
            return refusal
        number = self._server.add_number(request.first_value("PhoneNumber") or "")
        number.owner = request.parts["account"]
        self._apply_settings(number, request)
        return RestReply(201, self._render_number(number))

    def _apply_settings(self, number: EmulatedNumber, request: RestRequest) -> None:
        number.settings |= {name: value for name in _SETTINGS if (value := request.first_value(name)) is not None}

    def _by_sid(self, request: RestRequest) -> EmulatedNumber | None:
        return next((one for one in self._owned_in(request) if one.id == request.parts["sid"]), None)

    def _owned_in(self, request: RestRequest) -> list[EmulatedNumber]:
        """Returns the numbers of the account that the path names."""
        account = request.parts["account"]
        return [one for one in self._server.numbers.values() if self._server.account_of_number(one.e164) == account]

    async def fetch_number(self, request: RestRequest) -> RestReply:
        number = self._by_sid(request)
        return RestReply(200, self._render_number(number)) if number else self._server.not_found_reply(request)

    async def update_number(self, request: RestRequest) -> RestReply:
        number = self._by_sid(request)
        if number is None:
            return self._server.not_found_reply(request)
        self._apply_settings(number, request)
        return RestReply(200, self._render_number(number))

    async def release_number(self, request: RestRequest) -> RestReply:
        number = self._by_sid(request)
        if number is None:
            return self._server.not_found_reply(request)
        del self._server.numbers[number.e164]
        return RestReply(204)

    async def create_application(self, request: RestRequest) -> RestReply:
        sid = f"AP{self._server.new_id('other')[2:]}"
        self._server.applications[sid] = {
            name: request.first_value(name) or "" for name in _SETTINGS if request.first_value(name)
        }
        return RestReply(201, self._render_application(sid))

    async def update_application(self, request: RestRequest) -> RestReply:
        found = self._server.applications.get(request.parts["sid"])
        if found is None:
            return self._server.not_found_reply(request)
        found |= {name: value for name in _SETTINGS if (value := request.first_value(name)) is not None}
        return RestReply(200, self._render_application(request.parts["sid"]))

    async def fetch_application(self, request: RestRequest) -> RestReply:
        if request.parts["sid"] not in self._server.applications:
            return self._server.not_found_reply(request)
        return RestReply(200, self._render_application(request.parts["sid"]))

    def _render_application(self, sid: str) -> dict[str, Any]:
        found = self._server.applications[sid]
        return {
            "sid": sid,
            "friendly_name": found.get("FriendlyName", ""),
            "voice_url": found.get("VoiceUrl", ""),
            "voice_method": found.get("VoiceMethod", "POST"),
        }

    async def list_conferences(self, request: RestRequest) -> RestReply:
        name = (request.query.get("FriendlyName") or [""])[0]
        status = (request.query.get("Status") or [""])[0]
        rooms = [room for room in self._server.rooms.values() if not name or room.name == name]
        listed = []
        for room in rooms:
            state = "completed" if room.is_over else "in-progress" if room.has_started else "init"
            if not status or state == status:
                listed.append({"sid": room.sid, "friendly_name": room.name, "status": state})
        return RestReply(200, {"conferences": listed, "page": 0})

    async def end_conference(self, request: RestRequest) -> RestReply:
        room = next((room for room in self._server.rooms.values() if room.sid == request.parts["sid"]), None)
        if room is None or request.first_value("Status") != "completed":
            return self._server.not_found_reply(request)
        room.end()
        return RestReply(200, {"sid": room.sid, "friendly_name": room.name, "status": "completed"})

    async def add_participant(self, request: RestRequest) -> RestReply:
        """Calls a participant into a conference, given by id or by name."""
        asked = request.parts["sid"]
        room = next((room for room in self._server.rooms.values() if room.sid == asked), None)
        if room is None and asked.startswith("CF"):
            return self._server.not_found_reply(request)
        name = room.name if room is not None else asked
        ends = request.first_value("EndConferenceOnExit") or "false"
        text = f'<Response><Dial><Conference endConferenceOnExit="{ends}">{name}</Conference></Dial></Response>'
        return await self._server.call_into(request, DocumentSource(text=text), name)

    async def look_up(self, request: RestRequest) -> RestReply:
        number = with_plus(request.parts["number"])
        body: dict[str, Any] = {"phone_number": number, "valid": is_e164(number), "country_code": "US"}
        if "line_type_intelligence" in (request.query.get("Fields") or [""])[0]:
            body["line_type_intelligence"] = {
                "carrier_name": "Lab Mobile",
                "mobile_country_code": "310",
                "mobile_network_code": "456",
                "type": self._server.line_types.get(number, "mobile"),
                "error_code": None,
            }
        return RestReply(200, body)


def _purchase_refusal(request: RestRequest, owned: dict[str, EmulatedNumber]) -> RestReply | None:
    wanted = request.first_value("PhoneNumber") or ""
    message, code = "", 21421
    if not is_e164(wanted):
        message = f"{wanted or 'nothing'} is not a valid phone number"
    elif wanted in owned or wanted.endswith("0000"):
        message, code = f"{wanted} is not available", 21422
    if not message:
        return None
    body = {"code": code, "message": message, "more_info": f"https://www.twilio.com/docs/errors/{code}", "status": 400}
    return RestReply(400, body)
