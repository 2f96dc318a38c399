"""Twilio's numbers, applications, conferences and look-ups."""

from typing import TYPE_CHECKING, Any

from offhook.lab.carriers.core.documents import Source
from offhook.lab.carriers.core.emulator import Number
from offhook.lab.carriers.core.number_catalog import offers
from offhook.lab.carriers.core.number_formats import is_e164, plus
from offhook.lab.carriers.core.rest import Reply, Request

if TYPE_CHECKING:
    from offhook.lab.carriers.twilio.server import TwilioEmulator

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
    """Serve them below the account's address ``base``; look-ups have an address of their own."""
    shop = _Numbers(server)
    for kind in ("Local", "TollFree", "Mobile"):
        server.route("GET", f"{base}/AvailablePhoneNumbers/{{country}}/{kind}.json", shop.search)
    server.route("GET", f"{base}/IncomingPhoneNumbers.json", shop.owned)
    server.route("POST", f"{base}/IncomingPhoneNumbers.json", shop.buy)
    server.route("GET", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.fetch)
    server.route("POST", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.update)
    server.route("DELETE", f"{base}/IncomingPhoneNumbers/{{sid}}.json", shop.release)
    server.route("POST", f"{base}/Applications.json", shop.create_application)
    server.route("POST", f"{base}/Applications/{{sid}}.json", shop.update_application)
    server.route("GET", f"{base}/Applications/{{sid}}.json", shop.fetch_application)
    server.route("GET", f"{base}/Conferences.json", shop.conferences)
    server.route("POST", f"{base}/Conferences/{{sid}}.json", shop.end_conference)
    server.route("POST", f"{base}/Conferences/{{sid}}/Participants.json", shop.add_participant)
    server.route("GET", "/v2/PhoneNumbers/{number}", shop.look_up)


class _Numbers:
    def __init__(self, server: "TwilioEmulator") -> None:
        self._server = server

    def _rendered(self, number: Number) -> dict[str, Any]:
        settings = number.settings
        return {
            "sid": number.id,
            "account_sid": self._server.account_sid,
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

    async def search(self, request: Request) -> Reply:
        country = request.parts["country"].upper()
        kind = request.path.rpartition("/")[2].removesuffix(".json")
        found = offers(
            country,
            {"Local": "local", "TollFree": "toll_free", "Mobile": "mobile"}[kind],
            area=(request.query.get("AreaCode") or [""])[0],
            contains=(request.query.get("Contains") or [""])[0].strip("*"),
            owned=self._server.numbers,
        )
        if found is None:
            return self._server.missing(request)
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
        return Reply(200, {"available_phone_numbers": listed, "uri": request.path})

    async def owned(self, request: Request) -> Reply:
        wanted = (request.query.get("PhoneNumber") or [""])[0]
        # "+" in a query is a space to whoever decodes it: Twilio takes both
        wanted = plus(wanted.strip())
        found = [number for number in self._server.numbers.values() if not wanted or number.e164 == wanted]
        return Reply(200, {"incoming_phone_numbers": [self._rendered(number) for number in found], "page": 0})

    async def buy(self, request: Request) -> Reply:
        refusal = _refusal(request, self._server.numbers)
        if refusal is not None:
            return refusal
        number = self._server.own(request.field("PhoneNumber") or "")
        self._set(number, request)
        return Reply(201, self._rendered(number))

    def _set(self, number: Number, request: Request) -> None:
        number.settings |= {name: value for name in _SETTINGS if (value := request.field(name)) is not None}

    def _by_sid(self, request: Request) -> Number | None:
        return next((one for one in self._server.numbers.values() if one.id == request.parts["sid"]), None)

    async def fetch(self, request: Request) -> Reply:
        number = self._by_sid(request)
        return Reply(200, self._rendered(number)) if number else self._server.missing(request)

    async def update(self, request: Request) -> Reply:
        number = self._by_sid(request)
        if number is None:
            return self._server.missing(request)
        self._set(number, request)
        return Reply(200, self._rendered(number))

    async def release(self, request: Request) -> Reply:
        number = self._by_sid(request)
        if number is None:
            return self._server.missing(request)
        del self._server.numbers[number.e164]
        return Reply(204)

    async def create_application(self, request: Request) -> Reply:
        sid = f"AP{self._server.new_id('other')[2:]}"
        self._server.applications[sid] = {name: request.field(name) or "" for name in _SETTINGS if request.field(name)}
        return Reply(201, self._application(sid))

    async def update_application(self, request: Request) -> Reply:
        found = self._server.applications.get(request.parts["sid"])
        if found is None:
            return self._server.missing(request)
        found |= {name: value for name in _SETTINGS if (value := request.field(name)) is not None}
        return Reply(200, self._application(request.parts["sid"]))

    async def fetch_application(self, request: Request) -> Reply:
        if request.parts["sid"] not in self._server.applications:
            return self._server.missing(request)
        return Reply(200, self._application(request.parts["sid"]))

    def _application(self, sid: str) -> dict[str, Any]:
        found = self._server.applications[sid]
        return {
            "sid": sid,
            "friendly_name": found.get("FriendlyName", ""),
            "voice_url": found.get("VoiceUrl", ""),
            "voice_method": found.get("VoiceMethod", "POST"),
        }

    async def conferences(self, request: Request) -> Reply:
        name = (request.query.get("FriendlyName") or [""])[0]
        status = (request.query.get("Status") or [""])[0]
        rooms = [room for room in self._server.rooms.values() if not name or room.name == name]
        listed = []
        for room in rooms:
            state = "completed" if room.is_over else "in-progress" if room.has_started else "init"
            if not status or state == status:
                listed.append({"sid": room.sid, "friendly_name": room.name, "status": state})
        return Reply(200, {"conferences": listed, "page": 0})

    async def end_conference(self, request: Request) -> Reply:
        room = next((room for room in self._server.rooms.values() if room.sid == request.parts["sid"]), None)
        if room is None or request.field("Status") != "completed":
            return self._server.missing(request)
        room.end()
        return Reply(200, {"sid": room.sid, "friendly_name": room.name, "status": "completed"})

    async def add_participant(self, request: Request) -> Reply:
        """Call somebody into a conference, by its id or its name."""
        asked = request.parts["sid"]
        room = next((room for room in self._server.rooms.values() if room.sid == asked), None)
        if room is None and asked.startswith("CF"):
            return self._server.missing(request)
        name = room.name if room is not None else asked
        ends = request.field("EndConferenceOnExit") or "false"
        text = f'<Response><Dial><Conference endConferenceOnExit="{ends}">{name}</Conference></Dial></Response>'
        return await self._server.call_into(request, Source(text=text), name)

    async def look_up(self, request: Request) -> Reply:
        number = plus(request.parts["number"])
        body: dict[str, Any] = {"phone_number": number, "valid": is_e164(number), "country_code": "US"}
        if "line_type_intelligence" in (request.query.get("Fields") or [""])[0]:
            body["line_type_intelligence"] = {
                "carrier_name": "Lab Mobile",
                "mobile_country_code": "310",
                "mobile_network_code": "456",
                "type": self._server.line_types.get(number, "mobile"),
                "error_code": None,
            }
        return Reply(200, body)


def _refusal(request: Request, owned: dict[str, Number]) -> Reply | None:
    wanted = request.field("PhoneNumber") or ""
    message, code = "", 21421
    if not is_e164(wanted):
        message = f"{wanted or 'nothing'} is not a valid phone number"
    elif wanted in owned or wanted.endswith("0000"):
        message, code = f"{wanted} is not available", 21422
    if not message:
        return None
    body = {"code": code, "message": message, "more_info": f"https://www.twilio.com/docs/errors/{code}", "status": 400}
    return Reply(400, body)
