"""Counts a conversation's usage of each model, in the shape of the ``usage_counted`` event."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, Literal

from offhook.models.ports import LlmRequest, LlmUsage, ModelRef
from offhook.models.speech.speech_usage import SpeechUsage

# Of one unit in one conversation: servers that organizations choose report what they like.
_MAX_COUNTED: Final = 1_000_000_000
# For English text, by the vendors' own rule of thumb.
CHARACTERS_PER_TOKEN: Final = 4
_KINDS: Final[tuple[Literal["llm", "tts", "stt"], ...]] = ("llm", "tts", "stt")
# Of these, what requests used whose answer was never said.
_EARLY_COUNTS: Final = frozenset({"calls", "prompt_tokens", "completion_tokens"})
# A speech-to-speech model is only in the usage of conversations that had one.
_ALL_KINDS: Final[tuple[Literal["llm", "tts", "stt", "realtime"], ...]] = (*_KINDS, "realtime")


# {provider, model, and a number per counted unit}
UsageEntry = dict[str, str | int | float]


class UsageCounter:
    """Tokens and calls of LLMs, characters of TTS, seconds of STT; per provider and model."""

    def __init__(self, before: Mapping[str, Any] | None = None) -> None:
        """``before`` is a result of :meth:`as_dict` from an earlier process of the same conversation."""
        self._counts: dict[ModelRef, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for kind in _ALL_KINDS:
            for entry in (before or {}).get(kind, ()):
                counts = self._counts[ModelRef(kind, entry["provider"], entry["model"])]
                counts.update({name: value for name, value in entry.items() if name not in ("provider", "model")})

    def add_llm_usage(self, ref: ModelRef, usage: LlmUsage) -> None:
        counts = self._counts[ref]
        _add_reported(counts, "prompt_tokens", usage.prompt_tokens)
        _add_reported(counts, "completion_tokens", usage.completion_tokens)
        if usage.cached_tokens:
            _add_reported(counts, "cached_tokens", usage.cached_tokens)

    def add_llm_estimate(self, ref: ModelRef, request: LlmRequest, answer: str, *, has_prompt: bool = False) -> None:
        """Estimates the usage of an answer that was cut off before the vendor reported it; vendors charge for it."""
        prompt = 0 if has_prompt else sum(len(message.content) for message in request.messages)
        self.add_llm_usage(ref, LlmUsage(-(-prompt // CHARACTERS_PER_TOKEN), -(-len(answer) // CHARACTERS_PER_TOKEN)))
        self._counts[ref]["estimated"] += 1

    def add_speech_usage(self, ref: ModelRef, usage: SpeechUsage | None) -> None:
        """Counts one response of a speech-to-speech model; None: the vendor has not reported its usage."""
        counts = self._counts[ref]
        if usage is None:
            counts["calls"] += 1
            counts["unreported_responses"] += 1
            return
        counts["calls"] += usage.responses
        for name, amount in usage.counts().items():
            _add_reported(counts, name, amount)

    def add_early(self, early: Mapping[str, Any], *, is_used: bool) -> None:
        """Adds the result of :meth:`as_dict` of a request that was made before the caller's turn was over. What came to
        nothing is also counted by itself: it is paid like the rest."""
        for entry in early["llm"]:
            counts = self._counts[ModelRef("llm", entry["provider"], entry["model"])]
            for name in sorted(entry.keys() - {"provider", "model"}):
                _add_reported(counts, name, entry[name])
                if not is_used and name in _EARLY_COUNTS:
                    _add_reported(counts, f"early_unused_{name}", entry[name])
            _add_reported(counts, "early_calls", entry.get("calls", 0))

    def add_units(self, ref: ModelRef, unit: Literal["calls", "characters", "seconds"], amount: float) -> None:
        """Counts requests to an LLM, characters for a voice, or seconds for a recognizer."""
        self._counts[ref][unit] += amount

    def as_dict(self) -> dict[str, list[UsageEntry]]:
        """Returns the counts by kind of model, one entry per provider and model."""
        result: dict[str, list[UsageEntry]] = {kind: [] for kind in _KINDS}
        for ref, counts in self._counts.items():
            numbers = {name: round(value, 1) if name == "seconds" else int(value) for name, value in counts.items()}
            result.setdefault(ref.kind, []).append({"provider": ref.provider, "model": ref.model, **numbers})
        return result


def _add_reported(counts: dict[str, float], name: str, amount: float) -> None:
    """Adds what a vendor reported. Amounts below zero would take back what another server under the same name has used."""
    counts[name] = min(counts[name] + max(0, amount), _MAX_COUNTED)
