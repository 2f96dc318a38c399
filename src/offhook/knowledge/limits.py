"""The numbers of this domain that more than one module needs."""

from typing import Final

MAX_FILE_MB: Final = 50
MAX_FILE_BYTES: Final = MAX_FILE_MB * 1024 * 1024
# Starts of one content's processing: workers that die under it and vendors that do not answer.
MAX_ATTEMPTS: Final = 5
# What a call is given.
MAX_PASSAGES: Final = 4
# A document of so few tokens is given whole in the mode auto; in the mode full_document it may have so many.
MAX_SHORT_TOKENS: Final = 400
MAX_WHOLE_TOKENS: Final = 4_000
