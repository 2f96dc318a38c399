"""Phone numbers: E.164, country, line type and time zones, offline.

The geocoder of ``phonenumbers`` takes three seconds to import and is never used.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Literal

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType, timezone
from pydantic import AfterValidator, StringConstraints

from offhook.errors import UnprocessableRequest

LineType = Literal["mobile", "landline", "voip", "toll_free", "premium", "unknown"]

MAX_LENGTH = 32
_LINE_TYPES: dict[int, LineType] = {
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE: "landline",
    PhoneNumberType.VOIP: "voip",
    PhoneNumberType.TOLL_FREE: "toll_free",
    PhoneNumberType.PREMIUM_RATE: "premium",
    PhoneNumberType.SHARED_COST: "premium",
}
# Including the country code: shorter ones are left to the library.
_E164_PATTERN = re.compile(r"\+[1-9][0-9]{6,14}")
_UNKNOWN_ZONE = "Etc/Unknown"


class PhoneNumberInvalid(UnprocessableRequest):
    """This is not a phone number with its country code. Use E.164 format, such as +12015550123."""

    code = "phone_number_invalid"


@dataclass(frozen=True, slots=True)
class ParsedPhoneNumber:
    """``e164`` is the form that carriers expect. ``country`` is ISO 3166-1 alpha-2, None for numbers of no country
    (satellite).

    ``is_valid``: its length and prefix exist in the numbering plan; a merely possible number may still ring.
    ``time_zones``: IANA names of its possible zones, empty if unknown; a toll-free number has many.
    """

    e164: str
    country: str | None
    line_type: LineType
    time_zones: tuple[str, ...]
    is_valid: bool


def parse_phone_number(text: str, region: str | None = None) -> ParsedPhoneNumber:
    """Parses a number in any common notation; without ``region`` (ISO alpha-2) it must begin with ``+`` and a country
    code.

    Raises :class:`PhoneNumberInvalid`.
    """
    number = _parse_number(text, region)
    # A number that is not valid has the country of its code (or the main one of several, as the US for +1).
    country = phonenumbers.region_code_for_number(number) or phonenumbers.region_code_for_country_code(
        number.country_code or 0
    )
    zones = tuple(zone for zone in timezone.time_zones_for_number(number) if zone != _UNKNOWN_ZONE)
    return ParsedPhoneNumber(
        e164=phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164),
        country=None if country in {"ZZ", "001"} else country,
        line_type=_LINE_TYPES.get(phonenumbers.number_type(number), "unknown"),
        time_zones=zones,
        is_valid=phonenumbers.is_valid_number(number),
    )


def normalize_e164(text: str, region: str | None = None) -> str:
    """Returns the E.164 form, at half the cost of :func:`parse_phone_number`; raises :class:`PhoneNumberInvalid`."""
    return phonenumbers.format_number(_parse_number(text, region), phonenumbers.PhoneNumberFormat.E164)


def is_e164(text: str) -> bool:
    """Returns whether the text is already the E.164 form of a possible number, at a tenth of the cost of parsing it."""
    if _E164_PATTERN.fullmatch(text):
        code = _calling_code(text)
        if code is not None:
            national, prefix = text[1 + len(code) :], _national_prefix(code)
            # Parsing may remove a prefix, such as a zero that is only dialed within the country.
            if not national.startswith("0") and (prefix is None or prefix.match(national) is None):
                return _has_possible_length(code, len(national))
    try:
        return normalize_e164(text) == text
    except PhoneNumberInvalid:
        return False


def national_digits(e164: str) -> str:
    """Returns the digits of an E.164 number after its country code; all of them where the code is unknown."""
    code = _calling_code(e164) if _E164_PATTERN.fullmatch(e164) else None
    return e164[1 + len(code) :] if code is not None else e164.removeprefix("+")


def _calling_code(text: str) -> str | None:
    """Returns the country code of ``+`` and digits; no code is a prefix of another."""
    for end in (2, 3, 4):
        if int(text[1:end]) in phonenumbers.COUNTRY_CODE_TO_REGION_CODE:
            return text[1:end]
    return None


@cache
def _national_prefix(code: str) -> re.Pattern[str] | None:
    region = phonenumbers.region_code_for_country_code(int(code))
    metadata = (
        phonenumbers.PhoneMetadata.metadata_for_nongeo_region(int(code), None)
        if region == "001"
        else phonenumbers.PhoneMetadata.metadata_for_region(region, None)
    )
    prefix = metadata.national_prefix_for_parsing if metadata is not None else None
    return re.compile(prefix) if prefix else None


@lru_cache(maxsize=4096)
def _has_possible_length(code: str, length: int) -> bool:
    """Returns whether numbers of this length exist; for a number without prefix only the length counts."""
    number = phonenumbers.PhoneNumber(country_code=int(code), national_number=int("2" * length))
    return bool(_is_dialable(number))


def _parse_number(text: str, region: str | None) -> phonenumbers.PhoneNumber:
    if len(text) > MAX_LENGTH:
        raise PhoneNumberInvalid
    try:
        number = phonenumbers.parse(text, region)
    except NumberParseException:
        raise PhoneNumberInvalid from None
    # An extension cannot be dialed as part of the number, and dropping it would ring another person.
    if number.extension or not _is_dialable(number):
        raise PhoneNumberInvalid
    return number


def _is_dialable(number: phonenumbers.PhoneNumber) -> bool:
    """Returns whether the number is possible, and its E.164 form parses to the same number."""
    # Not ``is_possible_number``: it also accepts locally possible numbers, such as seven digits in the US.
    reason = phonenumbers.is_possible_number_with_reason(number)
    if reason != phonenumbers.ValidationResult.IS_POSSIBLE:
        return False
    # Leading zeros are lost one at a time.
    if not str(number.national_number).startswith("0") and not number.italian_leading_zero:
        return True
    again = phonenumbers.parse(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    return bool(again == number)


def _validate_e164(text: str) -> str:
    try:
        return normalize_e164(text)
    except PhoneNumberInvalid as error:
        raise ValueError(error.message) from None


E164 = Annotated[str, AfterValidator(_validate_e164)]
"""A body field that is normalized to E.164; anything else is 422."""


def _require_region(code: str) -> str:
    if code not in phonenumbers.SUPPORTED_REGIONS:
        raise ValueError("Input should be the ISO 3166-1 alpha-2 code of a country that has phone numbers")
    return code


CountryCode = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_upper=True, pattern=r"^[A-Za-z]{2}$"),
    AfterValidator(_require_region),
]
"""A field for a country that has telephone numbers, in capitals; any other two letters are 422, as ``ZZ`` is."""
