"""The forms of a number, and what only looks like one."""

import pytest

from offhook.privacy.contact_rows import remove_rows
from offhook.privacy.number_forms import NumberForms

US = NumberForms("+14152000007")
DE = NumberForms("+493012345678")


@pytest.mark.parametrize(
    "text",
    [
        "+14152000007", "14152000007", "0014152000007", "4152000007", "(415) 200-0007", "+1 (415) 200 0007", "415.200.0007",
        "tel:+14152000007;x", "phone=%2B14152000007", "1-415-200-0007", "four one five, two oh oh, oh oh oh seven",
        "Four one five two zero zero zero zero zero seven.",
    ],
)  # fmt: skip
def test_found(text: str) -> None:
    assert US.contains(f"Call {text} now")
    left = US.erase_from_text(f"Call {text} now")
    assert "[erased]" in left
    assert "200" not in left
    assert "seven" not in left


@pytest.mark.parametrize(
    "text", ["+49 30 12345678", "030 12345678", "030/12345678", "+49 (0)30 12345678", "004930 12345678"]
)
def test_found_with_the_prefix_of_its_country(text: str) -> None:
    assert DE.erase_from_text(text) == "[erased]"


@pytest.mark.parametrize(
    "text", ["241520000078", "94152000007", "41520000070", "4152000008", "order 415", "x4152000007"]
)
def test_another_number(text: str) -> None:
    assert not US.contains(text)


def test_values() -> None:
    value = {"a": [14152000007, 4152000007.0, 5, True, None], "b": {"+14152000007": "x"}, "c": "415 200 0007!"}
    erased = {"a": ["[erased]", "[erased]", 5, True, None], "b": {"[erased]": "x"}, "c": "[erased]!"}
    assert US.erase_from_value(value) == erased


def test_rows_of_files() -> None:
    content = 'phone;name\r\n+14152000007;"A\r\nB"\r\n+14152000008;Åse ä\u0085\r\n'.encode()
    kept = "phone;name\r\n+14152000008;Åse ä\u0085\r\n".encode()
    assert remove_rows(content, US) == (kept, 1)
    assert remove_rows(kept, US) == (kept, 0)
    wide = "phone\n+14152000007\n+14152000008\n".encode("utf-16")
    assert remove_rows(wide, US) == ("phone\n+14152000008\n".encode("utf-16"), 1)
