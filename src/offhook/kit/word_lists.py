"""Lists of words as people type them."""

import re


def split_words(text: str) -> tuple[str, ...]:
    """Returns the words or phrases of a list that is separated by commas or new lines, each once."""
    return tuple(dict.fromkeys(word for part in re.split(r"[,\n]", text) if (word := " ".join(part.split()))))
