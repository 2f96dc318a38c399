"""Which passwords are refused: those that guessers try first."""

from functools import cache
from pathlib import Path
from typing import Final

from offhook.orgs.errors import PasswordTooCommon

_COMMON: Final = Path(__file__).with_name("common_passwords.txt")
MIN_DISTINCT_CHARACTERS: Final = 4


def check_password_strength(password: str, email: str) -> None:
    """Raises ``PasswordTooCommon`` (422) for blanks and repeats, the account's own address, and common passwords."""
    folded = password.strip().casefold()
    local_part, _, host = email.casefold().partition("@")
    if (
        len(set(folded)) < MIN_DISTINCT_CHARACTERS
        or folded in {email.casefold(), local_part, host, local_part + host}
        or folded in _common_passwords()
    ):
        raise PasswordTooCommon


@cache
def _common_passwords() -> frozenset[str]:
    lines = _COMMON.read_text(encoding="utf-8").splitlines()
    return frozenset(line.casefold() for line in lines if not line.startswith("#"))
