"""What a call says without asking a model, in each of the languages that have it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from offhook.models.spoken_text import JoiningWords

DEFAULT_LANGUAGE: Final = "en"


@dataclass(frozen=True, slots=True)
class CannedPhrases:
    """Fixed phrases for when no model can be relied on; cached as audio when the first call begins.

    ``joining`` puts the choices and keys of a step into them.
    """

    filler: str
    reprompt: str
    reprompt_again: str
    reprompt_choices: str
    reprompt_keys: str
    not_understood: str
    apology: str
    idle: str
    idle_goodbye: str
    resumed: str
    time_warning: str
    time_over: str
    joining: JoiningWords

    def canned_texts(self) -> list[str]:
        """Returns those that are said word for word, without a model."""
        return [
            self.filler, self.apology, self.reprompt, self.idle, self.idle_goodbye,
            self.time_warning, self.time_over, self.not_understood,
        ]  # fmt: skip

    def with_own(self, own: Mapping[str, Any]) -> "CannedPhrases":
        """Returns the phrases with those that an agent's author wrote."""
        return replace(self, **own) if own else self


PHRASE_NAMES: Final = tuple(field.name for field in fields(CannedPhrases) if field.name != "joining")


def primary_language(tag: str) -> str:
    """Returns the language of a tag without its region: "pt" of "pt-BR"."""
    return tag.replace("_", "-").partition("-")[0].lower()


def phrase_languages() -> tuple[str, ...]:
    """Returns the languages that have phrases, without regions."""
    return tuple(_read_phrases())


@cache
def phrases_for(language: str) -> CannedPhrases:
    """Returns the phrases of a language tag ("de-DE"); English where there are none."""
    by_language = _read_phrases()
    found = by_language.get(primary_language(language)) or by_language[DEFAULT_LANGUAGE]
    return CannedPhrases(**{**found, "joining": JoiningWords(**found["joining"])})


@cache
def _read_phrases() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "phrases.json").read_text("utf-8"))
    return loaded
