"""What the offline agent can do at a node, derived from how the node is written. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from offhook.models.providers.builtin.english.instructions import speak_instructions
from offhook.models.providers.builtin.value_kinds import kind_of

_QUOTED: Final = re.compile(r"[\u201c\"\u00ab][^\u201d\"\u00bb]{3,300}[\u201d\"\u00bb]")
# Without a word of their author's these say something that fits.
_HAVE_A_SENTENCE: Final = frozenset({"startCall", "endCall"})
# Of the edges of a step, far more than authors write. A turn compares all of it, in the loop that carries calls.
MAX_EDGE_CHARS: Final = 40_000
# The same limit for a step's prompt, and for the global prompt.
MAX_PROMPT_CHARS: Final = 40_000


def can_open_node(kind: str, prompt: str) -> bool:
    """Returns whether a prompt gives the offline agent something to say on entering the node."""
    return kind in _HAVE_A_SENTENCE or _QUOTED.search(prompt) is not None or bool(speak_instructions(prompt))


def count_edge_chars(label: str, condition: str, examples: Iterable[str]) -> int:
    """Returns how much of :data:`MAX_EDGE_CHARS` an edge takes."""
    return len(label) + len(condition) + sum(map(len, examples))


def can_recognize_value(name: str, described: str, value_type: str) -> bool:
    """Returns whether a value has a vocabulary: numbers, truths, days, times, names, digits and addresses do. Of other values the
    whole answer is kept."""
    return value_type != "string" or kind_of(name, described) is not None
