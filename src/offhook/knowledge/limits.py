"""Limits that several modules of this domain use."""

from typing import Final

MAX_FILE_MB: Final = 50
MAX_FILE_BYTES: Final = MAX_FILE_MB * 1024 * 1024
# Attempts to process one content, counting crashed workers and unresponsive vendors.
MAX_ATTEMPTS: Final = 5
# Passages per question of a call.
MAX_PASSAGES: Final = 4
# Documents up to this size are given whole in the mode auto; the second limit is that of the mode full_document.
MAX_SHORT_TOKENS: Final = 400
MAX_WHOLE_TOKENS: Final = 4_000
