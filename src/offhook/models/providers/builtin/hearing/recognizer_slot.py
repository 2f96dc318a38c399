"""One recognizer process with the grammars, language models and words that it has learned."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from offhook.models.ports import Expectation, ModelError
from offhook.models.providers.builtin.hearing.grammar import SpeechGrammar, ipa_to_arpabet, jsgf_without
from offhook.models.providers.builtin.hearing.language_model import (
    CommonWords,
    LanguageModel,
    build_language_model,
    vocabulary,
)
from offhook.models.providers.builtin.hearing.program_wire import (
    COMMON,
    FORGET_WORDS,
    HEAR_AGAIN,
    LEARN,
    MAX_DECODING_S,
    PRONOUNCE,
    WORDS,
    recognizer_command,
)
from offhook.models.providers.builtin.hearing.sized_cache import SizedCache
from offhook.models.speech_programs.recognizer_process import SILENCE_TIMEOUT_S, RecognizerProcess
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess

# More common words make the recognizer slower and no better: most are never said on the telephone.
COMMON_WORDS: Final = 800
# Room for hundreds of typical grammars with their words.
MAX_PREPARED_CHARS: Final = 8_000_000
# Unusual words of all agents together, some 30 MB. Organizations choose them, and each call can bring thousands.
MAX_TAUGHT: Final = 100_000


@dataclass(frozen=True, slots=True)
class _PreparedGrammar:
    """A grammar as one process of the program knows it."""

    order: dict[str, Any]
    generation: int


class RecognizerSlot:
    """A recognizer process. Everything that it learned is learned again after it was replaced."""

    def __init__(
        self,
        speech: SynthesizerProcess,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
        max_decoding_s: float = MAX_DECODING_S,
    ) -> None:
        self.program = RecognizerProcess(recognizer_command(max_decoding_s), silence_timeout_s)
        self._speech = speech
        self._prepared = SizedCache[str, _PreparedGrammar](MAX_PREPARED_CHARS)
        self._teaching = asyncio.Lock()
        self._common: CommonWords | None = None
        self._taught = 0

    async def prepare_grammar(self, grammar: SpeechGrammar) -> dict[str, Any]:
        """Returns the ``begin`` parameters for this grammar; teaches words without a known sound first."""
        await self.program.start()
        known = self._prepared.find(grammar.name)
        if known is not None and known.generation == self.program.generation:
            return known.order
        async with self._teaching:
            generation = self.program.generation
            unknown = await self._teach_words(grammar.words)
            order: dict[str, Any] = {
                "grammar": f"{grammar.name}-{len(unknown)}",
                "jsgf": jsgf_without(grammar, unknown) if unknown else grammar.jsgf,
                "words": sorted(grammar.words - unknown),
            }
            size = len(order["jsgf"]) + sum(map(len, order["words"]))
            self._prepared.keep(grammar.name, _PreparedGrammar(order, generation), size)
            return order

    async def prepare_language(self, expectation: Expectation) -> LanguageModel:
        """Returns the language model for what is expected, and lets the program learn it."""
        await self.program.start()
        async with self._teaching:
            if self._common is None:
                found = await self.program.request_answer(0, COMMON, json.dumps(COMMON_WORDS).encode())
                self._common = CommonWords(found)
            unknown = await self._teach_words(await asyncio.to_thread(vocabulary, expectation))
            model = await asyncio.to_thread(build_language_model, expectation, self._common, unknown)
            await self._learn(model)
            return model

    async def hear_again(self, caller: int, model: LanguageModel) -> dict[str, Any]:
        """Returns ``{text, margin}`` of the caller's last utterance by a language model."""
        name = json.dumps(model.name).encode()
        found: dict[str, Any] = await self.program.request_answer(caller, HEAR_AGAIN, name)
        if found["unknown"]:
            async with self._teaching:
                await self._teach_words(model.words)
                await self._learn(model)
            found = await self.program.request_answer(caller, HEAR_AGAIN, name)
        return found

    async def _learn(self, model: LanguageModel) -> None:
        order = {"name": model.name, "arpa": model.arpa, "words": model.words}
        await self.program.request_answer(0, LEARN, json.dumps(order).encode())

    async def _teach_words(self, words: Iterable[str]) -> frozenset[str]:
        """Returns the words that cannot be pronounced."""
        if self._taught > MAX_TAUGHT:
            # What was prepared is taught again with the next utterance that needs it.
            self._prepared.clear()
            self._taught = 0
            self.program.send_request(0, FORGET_WORDS)
        unknown: list[str] = await self.program.request_answer(0, WORDS, json.dumps(sorted(words)).encode())
        if not unknown:
            return frozenset()
        self._taught += len(unknown)
        sounds: dict[str, str] = {}
        with suppress(ModelError):  # without a voice these words stay unknown
            spoken = await self._speech.word_phonemes(unknown, voice="en-us")
            sounds = await asyncio.to_thread(_known_sounds, spoken)
        await self.program.request_answer(0, PRONOUNCE, json.dumps(sounds).encode())
        return frozenset(set(unknown) - sounds.keys())


def _known_sounds(spoken: Mapping[str, str]) -> dict[str, str]:
    return {word: phones for word, ipa in spoken.items() if (phones := ipa_to_arpabet(ipa))}
