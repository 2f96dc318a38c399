"""The conversation that an emulated speech-to-speech vendor keeps: entries, what was cut from them, and tokens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from offhook_lab.speech.tones import QUICK_VOICE, ToneVoice

INPUT_AUDIO_TOKEN_S: Final = 0.1
OUTPUT_AUDIO_TOKEN_S: Final = 0.05
CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the emulated model does in one response: words that it speaks, then calls by name with their arguments."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(slots=True)
class Entry:
    """``audio_ms`` is the length of spoken entries; ``text`` of a cut one is None, as the vendor deletes it."""

    id: str
    kind: str
    role: str
    text: str | None
    audio_ms: int = 0
    is_ours: bool = False
    call_id: str = ""
    is_cached: bool = False
    spoken: str = ""
    voice: ToneVoice = QUICK_VOICE

    @property
    def remembered(self) -> str:
        """Returns the words that the model goes on from: those of its audio, after a cut."""
        if self.text is not None:
            return self.text
        return " ".join(self.voice.words_within(self.spoken, self.audio_ms / 1000))

    def count_tokens(self) -> dict[str, int]:
        text = len(self.text or "") // CHARS_PER_TOKEN
        if self.kind != "message" or not self.audio_ms:
            return {"text": text, "audio": 0}
        per_token = OUTPUT_AUDIO_TOKEN_S if self.role == "assistant" else INPUT_AUDIO_TOKEN_S
        return {"text": 0, "audio": round(self.audio_ms / 1000 / per_token)}


@dataclass(slots=True)
class VendorConversation:
    """One session's entries in order. Methods return what the vendor complains about, or nothing.

    ``assistant_content`` is what the vendor calls the agent's words.
    """

    instructions: str = ""
    tools: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    # the instructions and functions of each step
    steps: list[tuple[str, list[str]]] = field(default_factory=list)
    assistant_content: str = "output_text"
    _cached_instructions: str = ""

    def begin_step(self, instructions: str, tools: list[str]) -> None:
        self.instructions, self.tools = instructions, tools
        self.steps.append((instructions, tools))

    def find_entry(self, item_id: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.id == item_id), None)

    def add_entry(self, item: Mapping[str, Any], after: str | None) -> str:
        """Adds an entry that the client made."""
        if after is not None and self.find_entry(after) is None:
            return f"Item with id '{after}' not found."
        if self.find_entry(item["id"]) is not None:
            return f"Item with id '{item['id']}' already exists."
        kind, role = item["type"], item.get("role", "")
        if kind == "message":
            allowed = self.assistant_content if role == "assistant" else "input_text"
            if any(part["type"] != allowed for part in item["content"]):
                return f"Invalid content type for role {role!r}: only {allowed}."
            text = " ".join(part["text"] for part in item["content"])
        else:
            text = item["output"] if kind == "function_call_output" else item["arguments"]
        if kind == "function_call_output" and not any(
            entry.kind == "function_call" and entry.call_id == item["call_id"] for entry in self.entries
        ):
            return f"Tool call ID '{item['call_id']}' not found in conversation."
        entry = Entry(item["id"], kind, role, text, call_id=item.get("call_id", ""))
        at = len(self.entries) if after is None else self.entries.index(self.find_entry(after)) + 1  # type: ignore[arg-type]
        self.entries.insert(at, entry)
        return ""

    def truncate_entry(self, item_id: str, audio_end_ms: int, *, shorter_ms: int) -> str:
        """Cuts an entry; ``shorter_ms``: how much less audio the vendor has than it sent."""
        entry = self.find_entry(item_id)
        if entry is None or not entry.is_ours or entry.kind != "message" or audio_end_ms <= 0:
            return "Only model output audio messages can be truncated"
        have_ms = entry.audio_ms - shorter_ms
        if audio_end_ms > have_ms:
            return f"Audio content of {have_ms}ms is already shorter than {audio_end_ms}ms"
        entry.audio_ms, entry.text = audio_end_ms, None
        return ""

    def delete_entry(self, item_id: str) -> str:
        entry = self.find_entry(item_id)
        if entry is None:
            return f"Item with id '{item_id}' not found."
        self.entries.remove(entry)
        return ""

    def remembered_lines(self) -> list[tuple[str, str]]:
        """Returns who said what, as the model remembers it; calls and results by their kind."""
        return [(entry.role or entry.kind, entry.remembered) for entry in self.entries]

    def count_usage(self, answer: ModelAnswer, audio_s: float) -> dict[str, Any]:
        """Returns the usage of a response in the vendor's shape; what an earlier response has read is cached."""
        read = len(self.instructions) // CHARS_PER_TOKEN
        used = {"text": read, "audio": 0}
        cached = {"text": read if self.instructions == self._cached_instructions else 0, "audio": 0}
        self._cached_instructions = self.instructions
        for entry in self.entries:
            for kind, count in entry.count_tokens().items():
                used[kind] += count
                cached[kind] += count if entry.is_cached else 0
            entry.is_cached = True
        arguments = sum(len(json.dumps(dict(values))) for _, values in answer.calls)
        out = {
            "text": (len(answer.text) if audio_s else 0) // CHARS_PER_TOKEN + arguments // CHARS_PER_TOKEN,
            "audio": round(audio_s / OUTPUT_AUDIO_TOKEN_S),
        }
        return {
            "total_tokens": sum(used.values()) + sum(out.values()),
            "input_tokens": sum(used.values()),
            "output_tokens": sum(out.values()),
            "input_token_details": {
                "text_tokens": used["text"],
                "audio_tokens": used["audio"],
                "cached_tokens": sum(cached.values()),
                "cached_tokens_details": {"text_tokens": cached["text"], "audio_tokens": cached["audio"]},
            },
            "output_token_details": {"text_tokens": out["text"], "audio_tokens": out["audio"]},
        }


def heard_words(entries: Sequence[Entry]) -> list[str]:
    """Returns what the caller said in the turns that came as audio."""
    return [entry.text or "" for entry in entries if entry.role == "user" and entry.audio_ms]
