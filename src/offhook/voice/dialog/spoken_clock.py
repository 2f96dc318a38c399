"""Formats the clock of templates in the language of a call, with Unicode's data (CLDR). The first call that is not in
English loads Babel."""

import re
import threading
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, Final

from offhook.kit.template import WEEKDAY, ClockFormat, plain_clock
from offhook.voice.dialog.phrases import DEFAULT_LANGUAGE, primary_language

# A voice stumbles over the narrow spaces that are printed between a time and "p.m.".
_ENGLISH_DAY: Final = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b", re.IGNORECASE)
_SPACES: Final = str.maketrans({"\u202f": " ", "\u00a0": " "})


def spoken_clock(language: str) -> ClockFormat:
    """Returns the clock format of fixed sentences: "lunes" and "5 de enero de 2026, 14:05". English and languages that
    CLDR does not know use the plain clock."""
    return plain_clock if _is_english(language) else _SpokenClock(language)


def written_clock(language: str, prompt: str) -> ClockFormat:
    """Returns the clock format for a prompt: only weekdays are words. Models need the time with seconds and zone.

    A prompt that names a day in English ("If {{ current_weekday }} is Sunday") gets the weekday in English.
    """
    spoken = plain_clock if _ENGLISH_DAY.search(prompt) else spoken_clock(language)
    return lambda name, moment: (spoken if name == WEEKDAY else plain_clock)(name, moment)


def prepare_clock(language: str) -> None:
    """Begins to load what the clock of a language needs; returns at once."""
    if not _is_english(language):
        _begin_loading()


class _SpokenClock:
    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, name: str, moment: datetime) -> str:
        locale = _find_locale(self._language)
        if locale is None:
            return plain_clock(name, moment)
        return _say_weekday(moment, locale) if name == WEEKDAY else _say_time(moment, locale)


def _is_english(language: str) -> bool:
    return primary_language(language) in ("", DEFAULT_LANGUAGE)


@cache
def _begin_loading() -> None:
    threading.Thread(target=_find_locale, args=("es",), name="spoken-clock", daemon=True).start()


@lru_cache(maxsize=256)
def _find_locale(language: str) -> Any:
    import babel.dates  # noqa: F401, PLC0415 - 80 ms, for few calls
    from babel import Locale, UnknownLocaleError  # noqa: PLC0415

    for tag in (language, primary_language(language)):
        try:
            return Locale.parse(tag.replace("_", "-"), sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return None


def _say_weekday(moment: datetime, locale: Any) -> str:
    from babel.dates import format_date  # noqa: PLC0415

    return format_date(moment, "cccc", locale).translate(_SPACES)


def _say_time(moment: datetime, locale: Any) -> str:
    from babel.dates import format_date, format_time, get_datetime_format  # noqa: PLC0415

    joined = str(get_datetime_format("long", locale)).replace("'", "")
    time, day = format_time(moment, "short", moment.tzinfo, locale), format_date(moment, "long", locale)
    return joined.replace("{0}", time).replace("{1}", day).translate(_SPACES)
