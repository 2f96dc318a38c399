"""Keeps the conversation of a vendor's session in step with ours, which is the one that counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from offhook.models.ports import ItemRef, LlmMessage, SpeechSession
from offhook.voice.input.digit_collector import KEYPAD_NOTE
from offhook.voice.speech_to_speech.caller_audio import CallerAudio


@dataclass(slots=True, eq=False)
class _Entry:
    """One of our messages and what it is at the vendor. ``is_spoken``: the model has said it, or the caller."""

    message: LlmMessage
    refs: list[ItemRef] = field(default_factory=list)
    is_spoken: bool = False

    def is_copy_of(self, message: LlmMessage) -> bool:
        """Returns whether this is what the vendor has for the message: the same, or speech that was cut since then."""
        mine = self.message
        is_same = (mine.role, mine.tool_call_id) == (message.role, message.tool_call_id)
        if not is_same or [call.id for call in mine.tool_calls] != [call.id for call in message.tool_calls]:
            return False
        if any(ref.is_lost for ref in self.refs):
            return False
        is_cut = self.is_spoken and mine.role == "assistant" and mine.content.startswith(message.content)
        return mine.content == message.content or is_cut

    def message_equals(self, message: LlmMessage) -> bool:
        """Returns whether the vendor has exactly this message."""
        return self.is_copy_of(message) and self.message.content == message.content


class ConversationMirror:
    """One session's conversation. A new session gets all of it as text, and goes on with audio."""

    def __init__(self, session: SpeechSession) -> None:
        self._session = session
        self._entries: list[_Entry] = []

    def can_append(self, history: Sequence[LlmMessage], *, takes_notes: bool = True) -> bool:
        """Returns whether the session has what this history begins with, word for word, and waits for what follows.

        ``takes_notes``: whether more than one turn of the caller may follow.
        """
        if len(history) < len(self._entries):
            return False
        if not all(entry.message_equals(message) for entry, message in zip(self._entries, history, strict=False)):
            return False
        last = self._entries[-1] if self._entries else None
        new = history[len(self._entries) :]
        if last is None or not last.is_spoken or not last.message.tool_calls:
            is_turn = len(new) <= 1 and all(message.role == "user" for message in new)
            return takes_notes or is_turn or not self._entries
        # A session that waits for the results of its calls takes nothing else.
        return [message.tool_call_id for message in new] == [call.id for call in last.message.tool_calls]

    def match_history(self, history: Sequence[LlmMessage], audio: CallerAudio) -> None:
        """Adds, cuts and deletes entries until the session has this history, with the caller's last turn as audio."""
        kept = self._match_entries(history)
        behind = len(history)
        while behind and kept[behind - 1] is None:
            behind -= 1
        entries: list[_Entry] = []
        for index, message in enumerate(history):
            entry = kept[index]
            if entry is None:
                is_inside = index < behind and entries
                after = entries[-1].refs[-1] if is_inside and entries[-1].refs else None
                entry = self._add_entry(message, audio, after, is_last=index == len(history) - 1)
            else:
                entry.message = message
            entries.append(entry)
        self._entries = entries

    def _match_entries(self, history: Sequence[LlmMessage]) -> list[_Entry | None]:
        """Returns the entry of each message, None where there is none, and deletes those that nothing needs."""
        left, kept = self._entries, list[_Entry | None]()
        for message in history:
            at = next((index for index, entry in enumerate(left) if entry.is_copy_of(message)), None)
            if at is None:
                kept.append(None)
                continue
            self._delete_entries(left[:at])
            kept.append(left[at])
            left = left[at + 1 :]
        self._delete_entries(left)
        return kept

    def _delete_entries(self, entries: Sequence[_Entry]) -> None:
        for ref in (ref for entry in entries for ref in entry.refs):
            self._session.delete_item(ref)

    def _add_entry(self, message: LlmMessage, audio: CallerAudio, after: ItemRef | None, *, is_last: bool) -> _Entry:
        if message.role == "user" and is_last:
            if message.content.startswith(KEYPAD_NOTE):
                audio.discard_turn()
            ref = audio.commit_turn()
            if ref is not None:
                return _Entry(message, [ref], is_spoken=True)
        return _Entry(message, self._session.add_message(message, after))

    def add_answer(self, message: LlmMessage, refs: Sequence[ItemRef]) -> None:
        """Notes what the model has just added itself; our history gets it, or the part that was heard, afterwards."""
        self._entries.append(_Entry(message, list(refs), is_spoken=True))
