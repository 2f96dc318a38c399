"""What a failed connection to a vendor is called: people read it in a transcript."""

import socket

from offhook.models.llm.llm_errors import connection_error
from offhook.models.speech.errors import VendorErrors

UNKNOWN = socket.gaierror(-2, "Name or service not known")
WORDS = "The connection failed: Name or service not known"


def test_a_failed_connection_has_no_error_number() -> None:
    assert str(VendorErrors("tts", "acme").unreachable_error(UNKNOWN)) == WORDS
    assert str(connection_error(UNKNOWN)) == WORDS


def test_an_error_without_words_is_named() -> None:
    assert str(VendorErrors("tts", "acme").unreachable_error(OSError())) == "The connection failed: OSError"
