"""Phone numbers as people and files write them."""

import re

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from offhook.kit.phone_numbers import E164, PhoneNumberInvalid, is_e164, normalize_e164, parse_phone_number


@pytest.mark.parametrize(
    ("written", "e164", "country", "line_type", "zone"),
    [
        ("+12015550101", "+12015550101", "US", "unknown", "America/New_York"),
        (" +1 (201) 555-0101 ", "+12015550101", "US", "unknown", "America/New_York"),
        ("+44 20 7946 0958", "+442079460958", "GB", "landline", "Europe/London"),
        ("+49 1512 3456789", "+4915123456789", "DE", "mobile", "Europe/Berlin"),
        ("+18005550100", "+18005550100", "US", "toll_free", "America/Chicago"),
        ("+499001123456", "+499001123456", "DE", "premium", None),
        ("+870773111632", "+870773111632", None, "mobile", None),
    ],
)
def test_reads(written: str, e164: str, country: str | None, line_type: str, zone: str | None) -> None:
    phone = parse_phone_number(written)
    assert (phone.e164, phone.country, phone.line_type) == (e164, country, line_type)
    assert zone is None or zone in phone.time_zones
    assert "Etc/Unknown" not in phone.time_zones


def test_national_form_needs_a_region() -> None:
    assert normalize_e164("020 7946 0958", "GB") == "+442079460958"
    with pytest.raises(PhoneNumberInvalid):
        normalize_e164("020 7946 0958")


@pytest.mark.parametrize(
    "written",
    ["", "+", "+0", "abc", "12015550101", "+1201555010", "+12530000", "+49000000000", "+120155501011", "+123", "+999123456789", "+12015550101x5",
     "+1201555\x000101", "+" + "1" * 40, "911", "sip:me@example.com"],
)  # fmt: skip
def test_refuses(written: str) -> None:
    with pytest.raises(PhoneNumberInvalid) as refused:
        parse_phone_number(written)
    assert (refused.value.status, refused.value.code) == (422, "phone_number_invalid")


@given(st.text(max_size=40))
def test_any_text_is_e164_or_refused(text: str) -> None:
    try:
        e164 = normalize_e164(text)
    except PhoneNumberInvalid:
        assert not is_e164(text)
    else:
        assert re.fullmatch(r"\+[1-9][0-9]{4,14}", e164)
        assert normalize_e164(e164) == e164
        assert is_e164(e164)


@given(st.from_regex(r"\+(1[2-9][0-9]{2}[2-9][0-9]{6}|4[49][0-9]{9,10}|[1-9][0-9]{5,14})", fullmatch=True))
def test_what_looks_like_e164_is_kept_or_refused(number: str) -> None:
    try:
        phone = parse_phone_number(number)
    except PhoneNumberInvalid:
        return
    assert normalize_e164(phone.e164) == phone.e164
    assert phone.country is None or re.fullmatch("[A-Z]{2}", phone.country)


CODES = sorted(str(code) for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


@pytest.mark.slow
@given(
    st.sampled_from(CODES) | st.from_regex("[1-9][0-9]{0,2}", fullmatch=True),
    st.sampled_from(["", "0", "00", "1", "15", "06", "8", "9", "044"]),
    st.text("0123456789", max_size=13),
)
@settings(max_examples=1000)
def test_the_short_way_of_lists_says_what_the_long_one_says(code: str, prefix: str, rest: str) -> None:
    number = f"+{code}{prefix}{rest}"
    try:
        is_its_own_form = normalize_e164(number) == number
    except PhoneNumberInvalid:
        is_its_own_form = False
    assert is_e164(number) is is_its_own_form


def test_as_a_body_field() -> None:
    class Body(BaseModel):
        phone_number: E164

    assert Body(phone_number="+1 201 555 0101").phone_number == "+12015550101"
    with pytest.raises(ValidationError, match="not a phone number"):
        Body(phone_number="nobody")
