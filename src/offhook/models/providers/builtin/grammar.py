# ruff: noqa: RUF001 - IPA is written in letters that look like others
"""From what a caller may say now to a JSGF grammar that pocketsphinx can follow. Pure.

Offline recognition is only as good as its grammar is small: whole phrases first, ready-made vocabularies where the node
asks for them, one polite word behind. Loops over many words cost real time (measured: 17 times), so there are none but
for digits.
"""

import re
from dataclasses import dataclass
from typing import Final

from offhook.models.ports import Expectation

MAX_PHRASES: Final = 120
MAX_WORDS: Final = 14
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)*")
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}")
_HOURS: Final = "one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve"
_NUMBER_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_RULES: Final = {
    "yes_no": (
        "yes | yeah | yep | sure | okay | correct | right | that is correct | that's right | of course | exactly "
        "| no | nope | no thank you | no thanks | that is wrong"
    ),
    "digits": "<digit>+",
    "digit": "zero | oh | one | two | three | four | five | six | seven | eight | nine",
    "days": (
        "[on | next | this] <weekday> [morning | afternoon | evening | at <hour>] "
        "| today | tomorrow [morning | afternoon | evening] | the day after tomorrow"
    ),
    "weekday": "monday | tuesday | wednesday | thursday | friday | saturday | sunday",
    "times": (
        "[at] <hour> | [at] <hour> o'clock | [at] <hour> thirty | <hour> a m | <hour> p m | half past <hour> | quarter past <hour> "
        "| noon | in the morning | in the afternoon | in the evening | morning | afternoon | evening"
    ),
    "hour": _HOURS,
    "numbers": " | ".join(_NUMBER_WORDS),
}
_NEEDS: Final = {"digits": ("digit",), "days": ("weekday", "hour"), "times": ("hour",)}
KINDS: Final = ("yes_no", "digits", "days", "times", "numbers")
ALWAYS: Final = ("hello", "goodbye", "i want to speak to a person", "can you repeat that")


@dataclass(frozen=True, slots=True)
class Grammar:
    """JSGF text and the words in it; equal expectations give equal grammars, so that they can be cached."""

    jsgf: str
    words: frozenset[str]


def words_of(phrase: str) -> list[str]:
    """A phrase as spoken words: digits become words, template slots and punctuation go."""
    text = _TEMPLATE.sub(" ", phrase.lower().replace("\u2019", "'"))
    text = re.sub(r"\d", lambda match: f" {_NUMBER_WORDS[int(match.group())]} ", text)
    return _WORD.findall(text)


def compile_grammar(expectation: Expectation) -> Grammar:
    """The grammar of one node."""
    phrases: dict[str, None] = {}
    for phrase in (*expectation.phrases[:MAX_PHRASES], *ALWAYS):
        words = words_of(phrase)
        if 0 < len(words) <= MAX_WORDS:
            phrases[" ".join(words)] = None
    kinds = [kind for kind in KINDS if kind in expectation.kinds or kind == "yes_no"]
    rules = dict.fromkeys(rule for kind in kinds for rule in (kind, *_NEEDS.get(kind, ())))
    cores = ["<phrase>", *(f"<{kind}>" for kind in kinds)]
    lines = [
        "#JSGF V1.0;",
        "grammar expected;",
        f"public <turn> = ({' | '.join(cores)}) [/0.1/ please | /0.05/ thank you];",
        f"<phrase> = {' | '.join(phrases)};",
        *(f"<{rule}> = {_RULES[rule]};" for rule in rules),
    ]
    body = "\n".join(lines[2:])
    spoken = re.sub(r"<\w+>", " ", body.replace("public", " "))
    return Grammar("\n".join(lines) + "\n", frozenset(_WORD.findall(spoken)))


def without(grammar: Grammar, unknown: frozenset[str]) -> str:
    """The grammar without the phrases that have unpronounceable words in them."""
    lines = []
    for line in grammar.jsgf.splitlines():
        if line.startswith("<phrase> = "):
            kept = [p for p in line[11:-1].split(" | ") if unknown.isdisjoint(p.split())]
            lines.append(f"<phrase> = {' | '.join(kept)};")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


# IPA of espeak-ng's American English to the phones of the acoustic model (CMU's ARPABET), longest first.
_IPA: Final = (
    ("aɪə", "AY ER"), ("aʊə", "AW ER"), ("tʃ", "CH"), ("dʒ", "JH"), ("aɪ", "AY"), ("aʊ", "AW"), ("eɪ", "EY"), ("oʊ", "OW"),
    ("əʊ", "OW"), ("ɔɪ", "OY"), ("ɑːɹ", "AA R"), ("ɔːɹ", "AO R"), ("oːɹ", "AO R"), ("ɪɹ", "IH R"), ("ɛɹ", "EH R"), ("ʊɹ", "UH R"),
    ("iə", "IY AH"), ("ɜː", "ER"), ("ɚ", "ER"), ("ɑː", "AA"), ("ɔː", "AO"), ("iː", "IY"), ("uː", "UW"), ("θ", "TH"), ("ð", "DH"),
    ("ʃ", "SH"), ("ʒ", "ZH"), ("ŋ", "NG"), ("ɹ", "R"), ("ɾ", "T"), ("ɡ", "G"), ("ɪ", "IH"), ("ᵻ", "IH"), ("i", "IY"), ("ɛ", "EH"),
    ("æ", "AE"), ("a", "AE"), ("ɐ", "AH"), ("ʌ", "AH"), ("ə", "AH"), ("ɑ", "AA"), ("ɒ", "AA"), ("ɔ", "AO"), ("ʊ", "UH"), ("u", "UW"),
    ("e", "EH"), ("o", "OW"), ("j", "Y"), ("p", "P"), ("b", "B"), ("t", "T"), ("d", "D"), ("k", "K"), ("g", "G"), ("f", "F"),
    ("v", "V"), ("s", "S"), ("z", "Z"), ("h", "HH"), ("m", "M"), ("n", "N"), ("l", "L"), ("w", "W"), ("x", "K"), ("r", "R"),
)  # fmt: skip


def arpabet(ipa: str) -> str:
    """How an unknown word sounds, for the recogniser's dictionary; empty when nothing of it is known."""
    phones = []
    at = 0
    while at < len(ipa):
        for symbol, phone in _IPA:
            if ipa.startswith(symbol, at):
                phones.append(phone)
                at += len(symbol)
                break
        else:
            at += 1
    return " ".join(phones)
