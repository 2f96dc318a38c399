"""The vendors that all tests of speech-to-speech calls are played with."""

import pytest

from tests.voice.speech_to_speech.spoken_call import VENDORS, OpenVendor, VendorKind


@pytest.fixture(params=VENDORS, ids=lambda kind: kind.provider)
def kind(request: pytest.FixtureRequest) -> VendorKind:
    found: VendorKind = request.param
    return found


@pytest.fixture
def vendor(kind: VendorKind) -> OpenVendor:
    return kind.open
