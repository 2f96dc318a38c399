"""Whether a word is English, by the pronunciation dictionary of the offline recognizer: 130,000 words and names."""

import mmap
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_DICTIONARY: Final = "model/en-us/cmudict-en-us.dict"


@lru_cache(maxsize=4096)
def is_english_word(word: str) -> bool:
    """Returns True for a word of the dictionary; False for all words where there is none."""
    return _open_dictionary().find(f"\n{word.lower()} ".encode()) >= 0


@cache
def _open_dictionary() -> mmap.mmap | bytes:
    """Returns the dictionary, which stays a file: importing its package would load the recognizer into the server."""
    found = find_spec("pocketsphinx")
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        path = Path(folder, _DICTIONARY)
        if path.exists():
            with path.open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return b""
