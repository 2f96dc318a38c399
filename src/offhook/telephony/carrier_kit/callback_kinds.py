"""Names of the callbacks that the platform itself handles; all others belong to their carriers."""

from typing import Final

TRANSFER_RESULT: Final = "transfer-result"
