"""Sentences of the rule-based agent: a node's opening from its prompt, repeated questions, tool results. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.models.ports import EdgeHint, NodeHint
from offhook.models.providers.builtin.english.instructions import speak_instructions
from offhook.models.providers.builtin.english.wording.addressing import address_caller, state_sentence
from offhook.models.providers.builtin.english.words import word_tokens
from offhook.models.spoken_text import join_choices, join_keys, pick_examples

_QUOTED: Final = re.compile(r"[\u201c\"\u00ab]([^\u201d\"\u00bb]{3,300})[\u201d\"\u00bb]")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")


def opening_sentence(hint: NodeHint) -> str:
    """Returns the sentence on entering a node: its own, a quoted one, or one made from the prompt."""
    if hint.say_text and hint.say_text.strip():
        return hint.say_text.strip()
    if match := _quoted_in(hint.prompt):
        quoted, asked = match[1].strip(), speak_instructions(hint.prompt[match.end() :])
        if quoted.endswith("?") or not asked.endswith("?"):
            return quoted
        return f"{quoted if quoted.endswith(('.', '!')) else f'{quoted}.'} {asked}"
    if made := speak_instructions(hint.prompt):
        return made
    if hint.kind == "endCall":
        return "Thank you for calling. Goodbye!"
    if hint.kind == "startCall":
        return "Hello! How can I help you?"
    offers = spoken_choices(hint.edges)
    return f"What would you like? You can say: {offers}." if offers else "How can I help you with that?"


def is_written(hint: NodeHint) -> bool:
    """Returns whether an author wrote what is said on entering a node, word by word."""
    return bool(hint.say_text and hint.say_text.strip()) or _quoted_in(hint.prompt) is not None


def _quoted_in(prompt: str) -> re.Match[str] | None:
    match = _QUOTED.search(prompt)
    return match if match is not None and " " in match[1].strip() else None


def offers_help(text: str) -> bool:
    """Returns True for "Hello, how can I help?"."""
    return _OFFERS_HELP.search(text) is not None


def spoken_choices(edges: Sequence[EdgeHint]) -> str:
    """Lists what a caller can say, by an example of each edge; "" without examples. Labels are never read out."""
    said = pick_examples(edge.examples for edge in edges)
    return join_choices(said) if len(said) > 1 else ""


_PLEASANTRY: Final = re.compile(
    r"^(?:lovely|great|perfect|wonderful|excellent|good choice|got it|happy to help|no problem|of course|sure|all right|okay|done|"
    r"thank you(?: for being honest)?|thanks|i'm glad to hear that)[.!,] +(?=\w)|"
    r"^(?:hello|hi|hey|good (?:morning|afternoon|evening))\b[^.!?]*[.!] +(?=\w)",
    re.IGNORECASE,
)


def drop_pleasantry(text: str) -> str:
    """Returns a sentence without the "Lovely." before it, which welcomes an answer that there has not been."""
    return _PLEASANTRY.sub("", text)


_OFFERS_HELP: Final = re.compile(r"\b(?:how|what) (?:can|may|could) (?:i|we) (?:help|do for)\b", re.IGNORECASE)

REPROMPTS: Final = (
    "Sorry, I didn't get that.",
    "I'm sorry, I'm not sure I understood.",
    "I still didn't catch that.",
    "Let's try that once more.",
)
# After a yes, or another wish that ends the call, with something left over.
TO_BE_SURE: Final = "I want to make sure I get this right."
WHOLE_NUMBER: Final = "I need the whole number, please."
AND_NUMBER: Final = "Thank you. And the number?"
# To who would rather not say it.
UNDERSTANDS: Final = "I understand, but it would really help."
GIVES_UP: Final = "I'm sorry, I'm having trouble understanding you."


def reprompt_sentence(attempt: int, question: str, edges: Sequence[EdgeHint]) -> str:
    """Returns a repeated question in other words than the time before; ``attempt`` counts from 0.

    First the question, then what can be said, then the keys, where edges have some.
    """
    opener = REPROMPTS[attempt % len(REPROMPTS)]
    offers, keys = spoken_choices(edges), join_keys((edge.digits, edge.examples) for edge in edges)
    if attempt % 3 == 1 and offers:
        return f"{opener} You can say: {offers}."
    if attempt % 3 == 2 and keys:
        return f"{opener} You can also press a key: {keys}."
    return f"{opener} {question}"


def vary_sentence(text: str, last: str) -> str:
    """Returns a sentence in words that were not the last ones."""
    if text != last:
        return text
    return HOLDS_ON if text == HOLDS else f"Let me say that again. {text}"


def is_reprompt(text: str) -> bool:
    return text.startswith((*REPROMPTS, TO_BE_SURE, WHOLE_NUMBER, UNDERSTANDS))


_ASKS_AGAIN: Final = re.compile(
    r"^(?:(?:uh|um|oh|er|hmm?) )?(sorry|pardon|pardon me|excuse me|what|what was that|what is that|come again|huh|again|one more time|"
    r"(sorry )?(can|could|would) you (please )?(repeat|say) (that|it|this)?( again)?|(please )?repeat( that| it)?|"
    r"say (that|it) again|what did you say|i did not (hear|catch|understand|get) (you|that|it)|"
    r"i (can|could) not hear (you|that|it)|(?:hello )*(?:are )?you (?:still )?there|hello(?: hello)*|(?:hello )?is (?:anyone|anybody|somebody|someone) there|can you hear me)( please)?$"
)


_TO_REPEAT: Final = re.compile(
    r"\b(?:what|which|when|who|how much|where) (?:\w+ ){0,3}(?:was (?:it|that)(?: again| now)?|(?:is it|is that) again|did you say|were (?:they|those|the options))$|"
    r"\b(?:what|which) (?:\w+ ){0,2}(?:day|time|date|times|days) (?:was|is|did|were|are) (?:it|that|we|you|they|those)\b(?! (?:open|close|closed|closing|free|available|there|here|in|around|working)\b)|"
    r"\b(?:what was (?:the|your|that) (?:question|last)|where were we|what (?:are|were) (?:the|my) (?:options|choices|times))\b|"
    r"\b(?:again|one more time|once more)(?: please)?$|\b(?:repeat|run (?:that|it) by me|say (?:that|it) again)\b"
)


_ASKS_BACK: Final = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,2}?(?:number|order|day|time|date|one|digits?|name|address)?(?: \w+)? ?(?:did|do|have|was|were|is) (?:it |that )?(?:you|i) (?:\w+ )?(?:get|got|have|hear|heard|put|write|written|take|took|taken|look|looked|say|said|give|gave|tell|told|type|typed|note|noted)\b|"
    r"\b(?:what|which) (?:\w+ )?(?:number|order number|digits|day|time) (?:was|were) (?:it|that|the|you)\b|\bwhat was the (?:\w+ )?(?:number|day|time)\b|"
    r"\b(?:read|say|repeat) (?:it|that|this|them|those|the (?:\w+ )?(?:number|digits|order|day|time|date)|my (?:\w+ )?number)(?: (?:back|to me|again)| you (?:have|got))|"
    r"\bdid you (?:get|hear|catch|take|write|note|put) (?:that|it|the (?:\w+ )?(?:number|day|time|date)|my number|this|them)(?: \w+)?(?: right| down| correctly)?$|"
    r"\bdid i (?:say|give|get|read) (?:that|it|the|you)\b.*\b(?:right|number|correctly)\b|\bdid you say(?= \w)|\bwhich (?:order|number|day) was (?:that|it)\b|"
    r"\b(?:is|was) that (?:the|my) (?:right |correct )?(?:\w+ )?(?:number|order number|order|day|time)$|\b(?:have|got) the (?:right|correct) (?:\w+ )?(?:number|order|day|time)\b|"
    r"\bhow (?:do|did) you (?:have|write|spell|put|get) (?:it|that|the|my)\b|\bthat is for which\b|\bwhat (?:did|do) you (?:put down|write down|have down|have for)\b"
)


def asks_back(text: str) -> bool:
    """Returns True for a question about what was understood: "what number did you get?", "read that back to me"."""
    return _ASKS_BACK.search(" ".join(word_tokens(text))) is not None


_ASKS_HOW: Final = re.compile(
    r"^(?:\w+ ){0,8}?"
    r"(?:how are (?:you|things)|how is (?:it going|everything|your (?:day|morning|afternoon|evening|week))|how do you do|"
    r"how have you been)\b(?: (?:you|doing|going|today|so far|there|this \w+|all))*$"
)


def small_talk(text: str) -> str | None:
    """Returns the answer to "how are you?"; None to anything else."""
    return "I'm doing well, thank you for asking." if _ASKS_HOW.match(" ".join(word_tokens(text))) else None


LETS_GO: Final = "I'm sorry to have kept you. Thank you for your time, you can hang up now."
HOLDS: Final = "Of course, take your time."
HOLDS_ON: Final = "No hurry, I'm still here."


def asks_to_repeat(text: str) -> bool:
    """Returns True for a question about what we have just said: "what time was it again?"."""
    return _TO_REPEAT.search(" ".join(word_tokens(text))) is not None


def asks_again(words: Sequence[str]) -> bool:
    """Returns True when the caller did not hear us; ``words`` are tokens."""
    return _ASKS_AGAIN.match(" ".join(words)) is not None


_SPOKEN_KEYS: Final = (
    "say", "spoken", "speech", "message", "summary", "sentence", "text", "answer", "description", "result",
)  # fmt: skip
_FOR_MODELS: Final = re.compile(r"^(ask|tell|say|call|use|try|do not|don't|please ask)\b", re.IGNORECASE)


def tool_error(result: Any) -> str | None:
    """Returns the sentence about a failure for the caller, or None when the tool worked."""
    if not isinstance(result, Mapping) or not result.get("error"):
        return None
    first = next((part.strip() for part in _SENTENCE.findall(str(result["error"])) if part.strip()), "")
    if not first or _FOR_MODELS.match(first):
        return "I'm sorry, that didn't work."
    return f"I'm sorry. {first if first[-1] in '.!?' else first + '.'}"


def tool_result(result: Any) -> str:
    """Returns a tool's result as a sentence."""
    if isinstance(result, str):
        return state_sentence(result) if result.strip() else "That is done."
    if isinstance(result, bool | int | float):
        return f"The answer is {_spoken_value(result)}."
    if isinstance(result, Mapping):
        for key in _SPOKEN_KEYS:
            if isinstance(result.get(key), str) and result[key].strip():
                return state_sentence(result[key])
        facts = [(key, value) for key, value in result.items() if isinstance(value, str | int | float)][:4]
        if facts:
            return state_sentence(", ".join(f"{_split_name(key)}: {_spoken_value(value)}" for key, value in facts))
        if len(result) == 1:
            return tool_result(next(iter(result.values())))
    if isinstance(result, list) and result:
        named = [_spoken_value(item) for item in result if isinstance(item, str | int | float)][:5]
        return f"I found {', '.join(named)}." if named else f"I found {len(result)} results."
    return "That is done."


def _split_name(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", name).lower()


def _spoken_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def ask_for(name: str, schema: Mapping[str, Any]) -> str:
    """Returns a question for a missing parameter."""
    described = str(schema.get("description") or "").strip().rstrip(".")
    return f"Could you please tell me {address_caller(_parameter_phrase(name, described))}?"


def _parameter_phrase(name: str, described: str) -> str:
    if re.match(r"(the|your|a|an|their)\s", described, re.IGNORECASE) and len(described.split()) <= 9:
        return described[0].lower() + described[1:]
    return f"the {_split_name(name)}"
