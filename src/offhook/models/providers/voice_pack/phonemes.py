"""A text as the phonemes that a voice was trained with, which the speech program knows."""

import re
from typing import Final

from offhook.kit.unicode_forms import normalize_text
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess

# A mark ends a clause only before a space: not in 10.5, nor in 9:30.
_CLAUSE: Final = re.compile(r"(.+?)([,;:.?!\u2026]+(?=\s|$)|$)\s*", re.DOTALL)
# "(en)" before a word of another language.
_LANGUAGE_SWITCH: Final = re.compile(r"\([a-z-]+\)")
# Languages that espeak-ng has only with a region.
_ESPEAK_VOICES: Final = {"en": "en-us", "fr": "fr-fr", "pt": "pt-br", "zh": "cmn"}


def espeak_voice(language: str) -> str:
    """Returns espeak-ng's name of a language tag."""
    name = language.lower().replace("_", "-")
    return _ESPEAK_VOICES.get(name, name)


async def phonemize(speech: SynthesizerProcess, text: str, voice: str) -> list[int]:
    """Returns IPA code points with the marks between them, which voices were trained with too. Raises ModelError."""
    clauses = [(match[1].strip(), match[2]) for match in _CLAUSE.finditer(text)]
    sounds = await speech.word_phonemes([words for words, _ in clauses], voice=voice)
    spoken = [
        sound + ("." if mark[:1] == "\u2026" else mark[:1])
        for words, mark in clauses
        if (sound := _LANGUAGE_SWITCH.sub("", sounds.get(words, "")).strip())
    ]
    return [ord(char) for char in normalize_text("NFD", " ".join(spoken))]
