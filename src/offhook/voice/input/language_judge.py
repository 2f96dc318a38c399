"""Judges by its words which of an agent's languages a text is in. Its table is loaded once, beside the calls."""

import threading
from collections.abc import Sequence
from math import exp
from typing import Any, ClassVar

from offhook.voice.dialog.phrases import primary_language


class LanguageJudge:
    """py3langid's table, which takes 0.8 s and some 60 MB: only processes with a call in several languages load it."""

    _identifier: ClassVar[Any] = None
    _loading: ClassVar[threading.Thread | None] = None

    @classmethod
    def prepare(cls) -> None:
        """Begins to load the table, unless that has been done; returns at once."""
        if cls._loading is None:
            cls._loading = threading.Thread(target=cls._load, name="language-judge", daemon=True)
            cls._loading.start()

    @classmethod
    def wait_ready(cls) -> None:
        """Waits until the table is loaded, for those who have the time."""
        cls.prepare()
        if cls._loading is not None:
            cls._loading.join()

    @classmethod
    def _load(cls) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - 60 MB, for few calls

        cls._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)

    @classmethod
    def judge(cls, text: str, languages: Sequence[str]) -> tuple[str, float] | None:
        """Returns the likeliest of the language tags and how likely it is among them; None while that is not known."""
        if cls._identifier is None:
            return None
        wanted = {primary_language(language): language for language in reversed(languages)}
        scores = {wanted[code]: float(score) for code, score in cls._identifier.rank(text.lower()) if code in wanted}
        if not scores:
            return None
        best = max(scores, key=scores.__getitem__)
        return best, round(1 / sum(exp(score - scores[best]) for score in scores.values()), 3)
