"""Sentences of callers who ask not to be called again. Pure.

Only clear sentences match, by rules and without a model: the result must not depend on a vendor, and an ambiguous
sentence (“don't call me Bob”, “don't call me before nine”) must not block a customer.
"""

import re
import unicodedata
from typing import Final

_NOT: Final = r"(?:do not|dont|never|please no)(?: ever)?"
_CALL: Final = r"(?:call|phone|ring|contact|dial)"
_US: Final = r"(?:me|us|here|this (?:phone )?number|my (?:phone )?number|my (?:phone|house|home|office))"
_EVER: Final = r"(?:again|anymore|any more|any longer|ever)"
# Words that make the sentence about a time, a name or a means of contact, and not about being called at all.
_NOT_FOR_GOOD: Final = r"(?! (?:until|till|before|after|today|tonight|tomorrow|unless|this|next|on|at|in|during|between|by|so|when|while|if)\b)"
_END: Final = r"(?= *(?:$|[.!?,;]| please| now| already| thank| thanks| and| or| you| i ))"
_LIST_KIND: Final = r"(?:call|calling|phone|contact|contacts|mailing|marketing|dialing|dialling|telemarketing|customer)"

_SENTENCES: Final = (
    rf"\b{_NOT} {_CALL} {_US} {_EVER}\b{_NOT_FOR_GOOD}",
    rf"\b{_NOT} {_CALL} (?:again|anymore|any more)\b{_NOT_FOR_GOOD}",
    rf"\b{_NOT} {_CALL} (?:here|this (?:phone )?number|my (?:phone )?number){_END}",
    rf"\b(?:stop|quit) (?:{_CALL}ing|ringing|contacting|dialing|dialling) {_US}{_END}",
    rf"\b(?:stop|quit) (?:{_CALL}ing) {_US} {_EVER}\b{_NOT_FOR_GOOD}",
    r"^(?:please )?stop calling(?: please)?[.!]*$",
    rf"\b(?:do not|dont|no longer|never) want (?:you|anyone|you guys) to {_CALL} {_US} {_EVER}\b{_NOT_FOR_GOOD}",
    (
        r"\b(?:do not|dont|no longer|never) want to (?:be called|be contacted|get called)"
        rf"(?: by you)?(?: {_EVER}\b{_NOT_FOR_GOOD}|{_END})"
    ),
    r"\b(?:do not|dont|no longer|never) want(?: to (?:get|receive))? any more (?:phone )?calls\b",
    (
        r"\b(?:do not|dont|no longer|never) want to (?:get|receive) (?:any |these |your )*(?:phone )?calls"
        rf"(?: from you)?(?: {_EVER}\b|{_END})"
    ),
    (
        r"\b(?:take|remove|delete|strike|scratch|get|drop) (?:me|us|my (?:phone )?number|my name|this (?:phone )?number) "
        rf"(?:off|off of|from|out of) (?:(?:your|this|that)(?: {_LIST_KIND})?|(?:the|any|all)(?: your)? {_LIST_KIND}|all your)"
        r" (?:lists?|database|system|records)\b"
    ),
    (
        r"\b(?:put|add|place) (?:me|us|my (?:phone )?number|this (?:phone )?number) (?:on|onto|to|in) (?:your|the|a) "
        r"(?:do not call|dont call|no call|internal do not call) (?:list|registry)\b"
    ),
    r"\blose my (?:phone )?number\b",
    # German, Spanish, French; accents are stripped first.
    r"\bruf(?:en sie|t|) (?:mich|uns|hier)(?: bitte)? (?:nie|nicht) (?:wieder|mehr) an\b",
    (
        r"\b(?:streichen|loschen|nehmen|entfernen) sie (?:mich|uns|meine nummer)(?: bitte)? (?:von|aus) "
        r"(?:ihrer|der|dieser) (?:anruf|telefon|kontakt|anrufer)?liste\b"
    ),
    r"\b(?:will|mochte|wunsche) (?:nicht mehr (?:von ihnen )?angerufen werden|keine anrufe mehr)\b",
    r"\bno (?:me|nos) (?:vuelvan?|vuelvas) a (?:llamar|contactar)\b(?! (?:hasta|antes|despues|hoy|manana))",
    r"\bno (?:me|nos) llam(?:e|en|es) (?:mas|nunca mas|nunca)\b",
    r"\b(?:quite|quiten|borre|borren|elimine|eliminen|saque|saquen)(?:me|nos) de (?:su|la|esta) (?:lista|base de datos)\b",
    r"\bne (?:m ?appelez|me rappelez|me contactez|nous appelez|m ?appelle|me telephonez) plus\b(?! (?:avant|apres|aujourd))",
    r"\b(?:retirez|enlevez|supprimez|rayez) (?:moi|nous|mon numero) de (?:votre|vos|cette) (?:listes?|base)\b",
)
_CLEAR: Final = re.compile("|".join(f"(?:{sentence})" for sentence in _SENTENCES))
# A caller who reports such a sentence, or negates it, is not asking.
_REPORTED: Final = re.compile(
    r"\b(?:did not|didnt|never|not) (?:say|said|saying|ask|asked|tell|told|mean|meant)\b|\bif i (?:say|said|ask|asked|tell)\b"
)
_MAX_LENGTH: Final = 2000


def asks_not_to_be_called(text: str) -> bool:
    """Returns whether this utterance clearly asks never to be called again (English, German, Spanish, French)."""
    plain = flatten_words(text)
    return bool(_CLEAR.search(plain)) and not _REPORTED.search(plain)


def flatten_words(text: str) -> str:
    """Returns what patterns see: lower case without accents and apostrophes, single spaces and sentence punctuation."""
    decomposed = unicodedata.normalize("NFKD", text[:_MAX_LENGTH].lower())
    letters = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
    letters = re.sub(r"['\u2019`\u00b4]", "", letters)
    return " ".join(re.sub(r"[^\w.!?,;]+", " ", letters).split())
