"""Which of an agent's languages a caller speaks, by what was heard so far. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from offhook.voice.dialog.phrases import primary_language

# One word is the same in many languages, or a greeting out of politeness.
MIN_WORDS: Final = 2
LONG_WORDS: Final = 5
MIN_TURNS: Final = 2
MIN_LIKELIHOOD: Final = 0.9
MAX_NAME_WORDS: Final = 4
_CJK_FROM: Final = "\u3040"
# Characters of a language without spaces that are about a word.
_CJK_PER_WORD: Final = 2

Judge = Callable[[str, Sequence[str]], tuple[str, float] | None]

_NAMES: Final = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "ta": "Tamil", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def answer_rule(language: str) -> str:
    """Returns the sentence that tells a model which language to answer in."""
    name = _NAMES.get(primary_language(language)) or f"the language with the code {language}"
    return f"Answer in {name}, also where these instructions are written in another language."


@dataclass(frozen=True, slots=True)
class LanguageWords:
    """Settings of a conversation in a language (a tag): the model's instruction, and the translations of fixed sentences.
    ``first``: the agent's first language, in which sentences without a translation are said."""

    tag: str = ""
    rule: str = ""
    translations: Mapping[str, str] = field(default_factory=dict)
    first: str = ""

    def translate(self, text: str | None, recording: str | None) -> tuple[str | None, str | None]:
        """Returns the translation of a fixed sentence, in place of its recording; both as they are without one."""
        translated = self.translations.get(text.strip()) if text is not None else None
        return (text, recording) if translated is None else (translated, None)

    def language_of(self, text: str) -> str:
        """Returns the language in which a fixed sentence is said."""
        return self.tag if not self.first or text.strip() in self.translations else self.first


@dataclass(frozen=True, slots=True)
class LanguageChange:
    """``because``: the recognizer reported the language, or the words were judged. ``turns``: how many in a row said so."""

    language: str
    because: Literal["reported", "words"]
    turns: int


class CallerLanguage:
    """The language of one caller, among the agent's own.

    It changes after two turns in a row in another language, or one long sentence. A single word and a name say nothing.
    """

    def __init__(self, languages: Sequence[str], judge: Judge) -> None:
        self.languages = tuple(languages)
        self.current = languages[0]
        self._judge = judge
        self._other: str | None = None
        self._turns = 0

    def hear(self, text: str, reported: str | None) -> LanguageChange | None:
        """Takes one turn of the caller; returns the change if it is now clear that they speak another language."""
        size = _count_words(text)
        if size < MIN_WORDS or _looks_like_name(text):
            return None
        found = self._find(reported) if reported else self._judge_words(text)
        if found is None:
            return None
        if primary_language(found) == primary_language(self.current):
            self._other, self._turns = None, 0
            return None
        self._turns = self._turns + 1 if found == self._other else 1
        self._other = found
        if self._turns < MIN_TURNS and size < LONG_WORDS:
            return None
        change = LanguageChange(found, "reported" if reported else "words", self._turns)
        self.change_to(found)
        return change

    def change_to(self, language: str) -> None:
        self.current, self._other, self._turns = language, None, 0

    def _find(self, reported: str) -> str | None:
        code = primary_language(reported)
        return next((each for each in self.languages if primary_language(each) == code), None)

    def _judge_words(self, text: str) -> str | None:
        judged = self._judge(text, self.languages)
        return judged[0] if judged is not None and judged[1] >= MIN_LIKELIHOOD else None


def _count_words(text: str) -> int:
    unspaced = sum(character >= _CJK_FROM and character.isalnum() for character in text)
    if unspaced:
        return unspaced // _CJK_PER_WORD
    return sum(any(map(str.isalpha, word)) for word in text.split())


def _looks_like_name(text: str) -> bool:
    words = [word for word in text.split() if word[:1].isalpha()]
    return 1 < len(words) <= MAX_NAME_WORDS and all(word[0].isupper() for word in words)
