"""Normalizes dialed addresses to one form, whatever the carrier's notation."""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from offhook.errors import UnprocessableRequest
from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number

PSTN: Final = "pstn"
SIP_URI: Final = "sip_uri"
SIP_EXTENSION: Final = "sip_extension"
_PUNCTUATION: Final = re.compile(r"[\s\-().]")
_SIP: Final = re.compile(r"(sips?):(?:([^@\s]+)@)?([^\s@:;>]+)(?::(\d{1,5}))?(?:[;?][^\s]*)?", re.IGNORECASE)
_EXTENSION: Final = re.compile(r"[a-z0-9*#_.+-]{1,64}")
_DEFAULT_PORTS: Final = {"sip": "5060", "sips": "5061"}


class AddressInvalid(UnprocessableRequest):
    """This is neither a phone number, nor a SIP URI, nor an extension."""

    code = "address_invalid"


def normalize_address(text: str, country: str | None = None) -> tuple[str, str, str | None]:
    """Returns ``(canonical form, "pstn" | "sip_uri" | "sip_extension", country or None)`` of an address as people write
    it.

    Numbers of 8 to 15 digits are telephone numbers, read as numbers of ``country`` (ISO alpha-2) when they have no
    ``+``. Raises AddressInvalid (422).
    """
    text = text.strip()
    if (sip := _normalize_sip(text)) is not None:
        return sip, SIP_URI, None
    bare = _PUNCTUATION.sub("", text)
    digits = bare.removeprefix("+")
    if digits.isascii() and digits.isdigit() and 8 <= len(digits) <= 15:
        try:
            phone = (
                parse_phone_number(bare, country.upper() if country else None)
                if country
                else parse_phone_number(f"+{digits}")
            )
        except PhoneNumberInvalid:
            raise AddressInvalid("This is not a valid phone number. Use E.164, for example +12015550101.") from None
        return phone.e164, PSTN, phone.country
    if not bare.startswith("+") and _EXTENSION.fullmatch(text.lower()):
        return text.lower(), SIP_EXTENSION, None
    raise AddressInvalid


def candidate_addresses(text: str, countries: Iterable[str] = ()) -> set[str]:
    """Returns every canonical form that a carrier may mean. A number in national form is read in each country."""
    text = text.strip()
    if (sip := _normalize_sip(text)) is not None:
        found = {sip}
        user = unquote(sip.partition(":")[2].partition("@")[0])
        return found | (candidate_addresses(user, countries) if user and not user.startswith("sip") else set())
    bare = _PUNCTUATION.sub("", text)
    found = {text.lower()}
    if bare.startswith("00"):
        found.add(f"+{bare[2:]}")
    digits = bare.removeprefix("+")
    if digits.isascii() and digits.isdigit() and len(digits) <= 15:
        found.add(f"+{digits}")
        if not bare.startswith("+"):
            found |= {read for country in countries if (read := _parse_national(digits, country)) is not None}
    return found


def canonical_number(text: str | None, countries: Iterable[str] = ()) -> str | None:
    """Returns a caller's number as it is shown and stored: E.164 where it can be read, else unchanged."""
    if text is None:
        return None
    bare = _PUNCTUATION.sub("", text.strip())
    digits = bare.removeprefix("+")
    if digits.isascii() and digits.isdigit():
        reads: list[tuple[str, str | None]] = [(f"+{digits}", None)]
        reads += [] if bare.startswith("+") else [(digits, country) for country in countries]
        for number, country in reads:
            try:
                phone = parse_phone_number(number, country)
            except PhoneNumberInvalid:
                continue
            if phone.is_valid:
                return phone.e164
    return text.strip()[:32] or None


def _normalize_sip(text: str) -> str | None:
    match = _SIP.fullmatch(text.strip("<>"))
    if match is None:
        return None
    scheme, user, host, port = match[1].lower(), match[2], match[3].lower(), match[4]
    has_port = port is not None and port != _DEFAULT_PORTS[scheme]
    return f"{scheme}:{f'{user}@' if user else ''}{host}{f':{port}' if has_port else ''}"[:255]


def _parse_national(digits: str, country: str) -> str | None:
    try:
        return parse_phone_number(digits, country).e164
    except PhoneNumberInvalid:
        return None
