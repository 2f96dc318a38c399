"""What the doctor says about proxies."""

import pytest

from offhook.commands.doctor import check_proxies
from offhook.settings import Settings


@pytest.mark.parametrize(
    ("settings", "status", "words"),
    [
        ({}, "ok", "none is trusted"),
        ({"public_url": "https://voice.example.com"}, "warning", "Set OFFHOOK_TRUSTED_PROXIES"),
        ({"trusted_proxies": "10.0.0.1"}, "ok", "must append to X-Forwarded-For"),
        ({"trusted_proxies": "*"}, "warning", "is believed from *"),
        ({"trusted_proxies": "10.0.0.1, ::/0"}, "warning", "is believed from 10.0.0.1, ::/0"),
    ],
)
def test_proxies(settings: dict[str, str], status: str, words: str) -> None:
    proxies = check_proxies(Settings.load(**settings))
    assert (proxies.status, words in proxies.detail) == (status, True)
