"""Answers what callers say out of courtesy, or to find out what they can say: "hi", "okay, thanks", "help"."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values, final_edges, phrases
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import word_tokens
from offhook.models.providers.builtin.turns.node_turn import ASKS_MORE, RuleReply
from offhook.models.providers.builtin.turns.wish_turn import WishTurn

_ACKNOWLEDGES: Final = (
    r"(?:oh|ah|well|and|so|ok|okay|alright|all right|right|good|great|cool|nice|lovely|perfect|brilliant|awesome|wonderful|excellent|fantastic|fine|"
    r"sweet|got it|i see|good to know|that is (?:good|great|fine|perfect|lovely|wonderful|brilliant|helpful)|then)"
)
_THANKS: Final = (
    r"(?:many thanks|thanks|thank you|cheers|much appreciated|i appreciate (?:it|that)|ta)"
    r"(?: (?:so much|very much|a lot|a bunch|again|for (?:that|your help|the help|everything|letting me know)))*"
)
_ONLY_ACKNOWLEDGES: Final = re.compile(rf"^{_ACKNOWLEDGES}(?: {_ACKNOWLEDGES})*$")
_ONLY_THANKS: Final = re.compile(rf"^(?:{_ACKNOWLEDGES} )*{_THANKS}(?: {_ACKNOWLEDGES}| {_THANKS})*$")
_GREETS: Final = re.compile(
    r"^(?:(?:oh|um|uh|well|yeah|yes) )*(?:hi|hey|hiya|howdy|good (?:morning|afternoon|evening|day))"
    r"(?: (?:there|hi|hello|to you|what is (?:up|new|good)|good (?:morning|afternoon|evening)))*$|^(?:what is up|sup|yo)(?: (?:there|dude|man|bro))?$"
)
_ASKS_HELP: Final = re.compile(
    r"^(?:(?:um|uh|well|so|please|hi|hello|ok|okay) )*(?:(?:i need |can you |could you )?help(?: me)?(?: please)?|"
    r"what (?:can|do) you do(?: for me)?|what can (?:i|you) (?:say|ask|do|help(?: me)?(?: with)?)|what (?:else )?can you help(?: me)? with|"
    r"what are (?:my|the) (?:options|choices)|how (?:does|do) (?:this|it) work|what (?:should|do|can) i say|options|(?:main )?menu)(?: please)?$"
)
_HAS_QUESTION: Final = re.compile(
    r"^(?:(?:um|uh|well|so|hi|hello|yes|yeah) )*(?:i (?:just )?(?:have|got|had) (?:a |an |one |another |a quick |some |a couple of )?questions?|"
    r"(?:can|could|may) i (?:just )?ask (?:you )?(?:something|a (?:quick )?question)|(?:quick )?question)(?: please)?$"
)
# Spaces are part of each repetition: else a long word could be split in every way, which takes minutes.
_HAS_LOST: Final = r"(?:i|we|my \w+) (?:must have |have |already )*(?:threw|thrown|tossed|deleted|lost|shredded|binned|left)(?: \w+){1,6}"
NO_NUMBER: Final = re.compile(
    rf"^(?:(?:um|uh|oh|well|sorry|no) )*(?:{_HAS_LOST} (?:so |and )?)?"
    r"(?:i (?:really )?(?:do not|can not) (?:know|have|remember|find)(?: (?:it|one|that|(?:my|the|any)(?: order)? number|the number|what (?:that|it|the number) is))?"
    r"(?: (?:with me|on me|here|right now|any ?more|to hand|at hand))?|(?:i have )?no idea(?: what (?:it|that|the number) is)?|i (?:have )?(?:lost|forgot|forgotten) (?:it|that|the number))"
    rf"(?: (?:because |since )?{_HAS_LOST})?$"
)
_KNOWS_NOT: Final = re.compile(r"^i do not (?:know|have|remember)\b")
_SAYS_YES: Final = re.compile(
    r"^(?:(?:um|uh|oh|well) )*(?:yes|yeah|yep|yup|sure|please)(?: (?:yes|yeah|please|sure|i would|i do|that is right))*$"
)
_ASKS_VALUE: Final = re.compile(
    r"^(?:\W*(?:and|so|then|okay|all right)\b)*\W*(?:what|which|when|where|who|how)\b", re.IGNORECASE
)
WELCOME: Final = "You're welcome."
AGREES: Final = "Of course."


class CourtesyTurn(WishTurn):
    """A turn that knows short courtesies, and what they mean to the question that was asked."""

    def _say_again(self, said: CallerUtterance) -> RuleReply | None:
        if not phrases.asks_again(word_tokens(said.heard)):
            return None
        return RuleReply(self._opening if self._times_asked() == 0 else self._current_question())

    def _reply_to_courtesy(self, said: CallerUtterance) -> RuleReply | None:
        words = " ".join(word_tokens(said.heard))
        reply: str | None = None
        if _SAYS_YES.match(words) and self._takes_no_yes(self._current_question()):
            reply = f"{AGREES} {self._current_question()}"
        elif not any(final_edges.is_written(said, edge) for edge in self._edges):
            if (edge := self._edge_of_courtesy(said)) is not None:
                return RuleReply(call=(edge.tool, {}))
            reply = self._short_reply(words)
        # said once; who says the same again was not helped by it
        return None if reply is None or reply == self._last_sentence() else RuleReply(reply)

    def _edge_of_courtesy(self, said: CallerUtterance) -> EdgeHint | None:
        """Returns the way on for "okay, thanks" to "anything else?", and for who does not know the number."""
        words = " ".join(word_tokens(said.heard))
        asks_more = ASKS_MORE.search(self._last_question()) is not None
        has_asked_twice = asks_more and self._last_sentence() == self._last_question()
        if asks_more and (_ONLY_THANKS.match(words) or (has_asked_twice and _ONLY_ACKNOWLEDGES.match(words))):
            return edge_matching.closing_edge(self._edges)
        if words in ("please", "please do"):
            agreeing = [edge for edge in self._edges if edge_polarity(edge) == "yes"]
            return agreeing[0] if len(agreeing) == 1 else None
        if not NO_NUMBER.match(words):
            return None
        unknowing = [
            edge
            for edge in self._edges
            if any(_KNOWS_NOT.match(" ".join(word_tokens(example))) for example in edge.examples)
        ]
        return unknowing[0] if len(unknowing) == 1 else None

    def _short_reply(self, words: str) -> str | None:
        question = self._current_question()
        if _GREETS.match(words):
            return f"Hello! {question}"
        if ASKS_MORE.search(self._last_question()) and _ONLY_ACKNOWLEDGES.match(words):
            return self._last_question()
        if _ONLY_THANKS.match(words) and not any(edge_polarity(edge) == "yes" for edge in self._edges):
            return f"{WELCOME} {question}"
        if _ASKS_HELP.match(words) and (offers := phrases.spoken_choices(self._edges)):
            return f"You can say: {offers}."
        if _HAS_QUESTION.match(words):
            return f"{AGREES} What would you like to know?"
        return None

    def _takes_no_yes(self, question: str) -> bool:
        """Returns True where a yes says nothing: "what is your order number?", "to book one, or to change one?"."""
        if not any(edge_polarity(edge) == "yes" for edge in self._edges):
            may_be_taken = (
                edge_values.is_scale(self._edges) or edge_matching.choose_edge("yes", self._edges) is not None
            )
            return question.endswith("?") and len(self._edges) > 1 and not may_be_taken
        return bool(self._tools) and _ASKS_VALUE.match(question) is not None
