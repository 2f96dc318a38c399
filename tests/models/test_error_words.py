"""What a failed connection to a vendor is called: people read it in a transcript."""

import socket

from offhook.models.llm.llm_errors import connection_error
from offhook.models.speech.errors import VendorErrors

UNKNOWN = socket.gaierror(-2, "Name or service not known")
OFFLINE = OSError(-3, "Temporary failure in name resolution")
REFUSED = ConnectionRefusedError(111, "Connection refused")
NOT_FOUND = "The connection failed: The host was not found. Check its name, and this server's internet connection."


def test_a_failed_connection_has_no_error_number() -> None:
    assert str(VendorErrors("tts", "acme").unreachable_error(REFUSED)) == "The connection failed: Connection refused"
    assert str(connection_error(REFUSED)) == "The connection failed: Connection refused"


def test_a_server_that_is_not_found_is_not_called_by_the_words_of_the_system() -> None:
    for error in (UNKNOWN, OFFLINE):
        assert str(VendorErrors("tts", "acme").unreachable_error(error)) == NOT_FOUND
        assert str(connection_error(error)) == NOT_FOUND


def test_an_error_without_words_is_named() -> None:
    assert str(VendorErrors("tts", "acme").unreachable_error(OSError())) == "The connection failed: OSError"
