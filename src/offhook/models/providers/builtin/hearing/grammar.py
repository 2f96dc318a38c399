# ruff: noqa: RUF001 - IPA is written in letters that look like others
"""Compiles the caller's likely words into a JSGF grammar for pocketsphinx. Pure.

Offline recognition is only as good as its grammar is small: whole phrases first, ready-made vocabularies where the node
asks for them, one polite word at the end. Loops over many words are expensive (measured: 17 times), so only digits have
one.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from offhook.models.ports import Expectation
from offhook.models.providers.builtin.hearing.sized_cache import SizedCache

MAX_PHRASES: Final = 120
MAX_WORDS: Final = 14
# Longer phrases have more words than that, and longer words are never said.
MAX_PHRASE_CHARS: Final = 400
MAX_WORD_LETTERS: Final = 40
# Room for hundreds of typical grammars; a step with the longest allowed phrases has one of 50,000 characters.
MAX_KEPT_CHARS: Final = 4_000_000
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)*")
_TEMPLATE: Final = re.compile(r"\{\{[^{}]*\}\}")
_HOURS: Final = "one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve"
_NUMBER_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_RULES: Final = {
    "yes_no": (
        "(yes | sure | okay | correct | right | no) | yes sure | that is correct | that's right | of course | exactly "
        "| not really | no thanks | that is wrong | i don't think so | i think so"
    ),
    "digits": "[it's | it is | my number is] <digit>+",
    "digit": "[double] (zero | oh | one | two | three | four | five | six | seven | eight | nine)",
    "days": (
        "[on | next | this] <weekday> [morning | afternoon | evening | at <hour> | works for me | would be good] "
        "| today | tomorrow [morning | afternoon | evening] | the day after tomorrow | next week"
    ),
    "weekday": "monday | tuesday | wednesday | thursday | friday | saturday | sunday",
    "times": (
        "[at] <hour> [o'clock | thirty | fifteen | forty five] | [at] <hour> (a m | p m) "
        "| [at] (half past | quarter past | quarter to) <hour> | [<hour>] in the (morning | afternoon | evening) "
        "| noon | morning | afternoon | evening"
    ),
    "hour": _HOURS,
    "numbers": f"({' | '.join(_NUMBER_WORDS)}) | <tens> [<unit>] | <unit> out of (five | ten)",
    "tens": "twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety",
    "unit": "one | two | three | four | five | six | seven | eight | nine",
}
_NEEDS: Final = {"digits": ("digit",), "days": ("weekday", "hour"), "times": ("hour",), "numbers": ("tens", "unit")}
KINDS: Final = ("yes_no", "digits", "days", "times", "numbers")
ALWAYS_EXPECTED: Final = ("hello", "goodbye", "i want to speak to a person", "can you repeat that")
# Words that sound alike and mean the same are one word with several sounds (recognizer/decoders.py).
_SAME_MEANING: Final = {"yeah": "yes", "yep": "yes", "yup": "yes", "nope": "no", "nah": "no"}
# Rare; otherwise the end of other speech would turn into a word of thanks.
_COURTESY: Final = "(/0.98/ <NULL> | /0.01/ please | /0.01/ thank you)"


@dataclass(frozen=True, slots=True)
class SpeechGrammar:
    """JSGF text, its words and a name: equal expectations give equal grammars, which can be cached."""

    name: str
    jsgf: str
    words: frozenset[str]
    phrases: tuple[str, ...]
    sentence_pattern: re.Pattern[str]

    def complete_sentence(self, text: str) -> str | None:
        """Completes a sentence of the grammar; None when it cannot. A recognizer may stop mid-sentence: when only one
        continuation exists and at most two words are missing, they are added ("no thank" was "no thank you"); otherwise
        the words after a whole sentence are dropped ("next friday at").
        """
        words = text.split()
        if self.sentence_pattern.fullmatch(_join_words(words)):
            return " ".join(words)
        ahead = [phrase for phrase in self.phrases if phrase.startswith(f"{text} ")]
        if len(ahead) == 1 and len(ahead[0].split()) - len(words) <= 2 and len(words) >= 2:
            return ahead[0]
        if words[-1:] == ["thank"] and self.sentence_pattern.fullmatch(_join_words([*words, "you"])):
            return f"{text} you"
        shorter = (words[:-missing] for missing in (1, 2) if len(words) > missing)
        return next((" ".join(kept) for kept in shorter if self.sentence_pattern.fullmatch(_join_words(kept))), None)


def words_of(phrase: str) -> list[str]:
    """Returns a phrase as spoken words: digits become words, template slots and punctuation are dropped."""
    text = _TEMPLATE.sub(" ", phrase.lower().replace("\u2019", "'"))
    text = re.sub(r"\d", lambda match: f" {_NUMBER_WORDS[int(match.group())]} ", text)
    return [word for word in _WORD.findall(text) if len(word) <= MAX_WORD_LETTERS]


_kept: Final = SizedCache[tuple[tuple[str, ...], tuple[str, ...]], SpeechGrammar](MAX_KEPT_CHARS)


def compile_grammar(expectation: Expectation) -> SpeechGrammar:
    """Returns the compiled grammar of one node, from the cache if possible."""
    usable = tuple(phrase for phrase in expectation.phrases[:MAX_PHRASES] if len(phrase) <= MAX_PHRASE_CHARS)
    key = (usable, tuple(kind for kind in KINDS if kind in expectation.kinds or kind == "yes_no"))
    grammar = _kept.find(key)
    if grammar is None:
        grammar = _compile(*key)
        _kept.keep(key, grammar, sum(map(len, usable)) + len(grammar.jsgf))
    return grammar


def _compile(usable: tuple[str, ...], kinds: tuple[str, ...]) -> SpeechGrammar:
    phrases: dict[str, None] = {}
    for phrase in (*usable, *ALWAYS_EXPECTED):
        words = [_SAME_MEANING.get(word, word) for word in words_of(phrase)]
        if 0 < len(words) <= MAX_WORDS:
            phrases[" ".join(words)] = None
    names = dict.fromkeys(rule for kind in kinds for rule in (kind, *_NEEDS.get(kind, ())))
    rules = {"phrase": " | ".join(phrases), **{name: _RULES[name] for name in names}}
    turn = f"({' | '.join(f'<{core}>' for core in ('phrase', *kinds))}) {_COURTESY}"
    jsgf = _jsgf(turn, rules)
    spoken = re.sub(r"<\w+>|/[\d.]+/", " ", " ".join([turn, *rules.values()]))
    return SpeechGrammar(
        name=hashlib.sha256(jsgf.encode()).hexdigest()[:16],
        jsgf=jsgf,
        words=frozenset(_WORD.findall(spoken)),
        phrases=tuple(phrases),
        sentence_pattern=re.compile(_regex_for(turn, rules)),
    )


def _jsgf(turn: str, rules: Mapping[str, str]) -> str:
    lines = ["#JSGF V1.0;", "grammar expected;", f"public <turn> = {turn};"]
    return "\n".join([*lines, *(f"<{name}> = {body};" for name, body in rules.items())]) + "\n"


_PART: Final = re.compile(r"<(\w+)>|/[\d.]+/|([\[\]()|+])|([a-z']+)")
_SIGNS: Final = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|", "+": "+"}


def _regex_for(body: str, rules: Mapping[str, str]) -> str:
    """Returns the same rules as a regular expression over words that each end in a space."""

    def convert_part(match: re.Match[str]) -> str:
        rule, sign, word = match.groups()
        if rule == "NULL":
            return ""
        if rule:
            return f"(?:{_regex_for(rules[rule], rules)})"
        if sign:
            return _SIGNS[sign]
        return f"(?:{word} )" if word else ""

    return "".join(convert_part(match) for match in _PART.finditer(body))


def _join_words(words: Sequence[str]) -> str:
    return "".join(f"{word} " for word in words)


def jsgf_without(grammar: SpeechGrammar, unknown: frozenset[str]) -> str:
    """Returns the JSGF without the phrases that contain unpronounceable words."""
    lines = []
    for line in grammar.jsgf.splitlines():
        if line.startswith("<phrase> = "):
            kept = [phrase for phrase in grammar.phrases if unknown.isdisjoint(phrase.split())]
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


def ipa_to_arpabet(ipa: str) -> str:
    """Returns an unknown word's sound for the recognizer's dictionary; empty when none of it is known."""
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
