"""Names of callbacks that the platform itself knows; every other one is its carrier's."""

from typing import Final

TRANSFER_RESULT: Final = "transfer-result"
