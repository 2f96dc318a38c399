"""The columns of runs that can be encrypted. Each has its own key: states of chats are deleted before notes are, and people
write notes while a chat goes on."""

from typing import ClassVar, Final

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from offhook.orgs.data_keys.sealed_rows import SealedPart

CHAT_STATE: Final = SealedPart(
    "runs",
    ("chat_state",),
    "id",
    # An organization is deleted when no chat is being answered.
    plain_parts=frozenset({"claim"}),
    key_column="chat_key_number",
    sealed_column="sealed_chat",
    level=38,
)
NOTE: Final = SealedPart("runs", ("note",), "id", key_column="note_key_number", sealed_column="sealed_note", level=38)


class SealedRunColumns:
    """Mixin of the table."""

    sealed_parts: ClassVar = (CHAT_STATE, NOTE)

    chat_key_number: Mapped[int | None]
    sealed_chat: Mapped[bytes | None] = mapped_column(LargeBinary)
    note_key_number: Mapped[int | None]
    sealed_note: Mapped[bytes | None] = mapped_column(LargeBinary)
