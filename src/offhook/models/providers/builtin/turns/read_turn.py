"""Takes the edge that an answer means as the model that reads edges sees it, where the rules would ask again."""

import re
from dataclasses import replace
from typing import Final

from offhook.models.edge_reading import AnswerToRead, EdgeOdds, EdgeText
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values, phrases
from offhook.models.providers.builtin.denied_edges import says_phrase_of
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.assent import has_yes_word
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, essential_tokens, is_plain_polarity
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.quoting_turn import QuotingTurn

# Chosen on conversations that the model was not trained on (docs/decisions/0134-plain-steps.md).
MIN_PROBABILITY: Final = 0.74
MIN_PROBABILITY_OF_END: Final = 0.85
MIN_PROBABILITY_AGAINST: Final = 0.95
# Of one instead of an edge that a "no" took.
MIN_PROBABILITY_INSTEAD: Final = 0.75
# Of an edge that a "no" took, where another one is meant.
MAX_PROBABILITY_OF_DOUBTED: Final = 0.05
# With two readings (docs/decisions/0139-second-reading.md). Where the rules ask again: of an edge of which the first is
# not sure enough, by the first and the second; of one that declines and needs no words of its own, by both.
MIN_PROBABILITY_OF_FIRST: Final = 0.3
SURE_OF_SECOND: Final = 0.9
SURE_OF_BOTH: Final = 0.8
# If the second model is this certain of an edge that ends the call, the first needs no more than for any other edge.
CERTAIN_OF_SECOND: Final = 0.97
# Of one that ends nothing and is doubted by the guard, by both.
CERTAIN_OF_BOTH: Final = 0.9
# Where no edge of a step has an example (docs/decisions/0134-plain-steps.md): instead of asking again; of an edge that ends
# the call; of one instead of the rules' own; of one that needs no guard.
MIN_PLAIN: Final = 0.5
MIN_PLAIN_OF_END: Final = 0.65
MIN_PLAIN_INSTEAD: Final = 0.85
SURE_PLAIN: Final = 0.9
# With more words than these, an edge's label is said in passing: "it was going to be mowing, but now …".
MAX_NAMING_WORDS: Final = 4
# Words of a reason beside the "no".
MIN_REASON: Final = 2
MAX_EXAMPLES: Final = 4
# More are more than the model reads at once.
MAX_EDGES: Final = 24
_TAKES_ALL_BACK: Final = re.compile(r"(?:\w+[, ]+){0,2}I(?:'ve| have)? changed my mind\W*$", re.IGNORECASE)
_FIRST: Final = re.compile(r"[,.;!?]")


class ReadTurn(QuotingTurn):
    """A turn that reads an answer once more before it asks again."""

    def _follow_reading(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or the edge that is probably meant instead of a question that is asked again."""
        heard = self._latest_utterance()
        if heard is None or self._hint.entered:
            return reply
        if not any(edge.examples for edge in self._edges):
            return self._follow_plain_reading(reply, heard)
        doubted = self._taken_for_no(reply, heard)
        if doubted is None and not self._is_open(reply, heard):
            return reply
        odds, second = self._odds_of_edges(heard), self._odds_of_edges(heard, is_second=True)
        if odds is None:
            return reply
        best = max(range(len(self._edges)), key=odds.__getitem__)
        edge = self._edges[best]
        # instead of an edge that is hardly meant, another step is worth less certainty than a goodbye
        is_end = edge.is_final and (doubted is None or edge_matching.is_closing(edge))
        least = MIN_PROBABILITY_OF_END if is_end else MIN_PROBABILITY if doubted is None else MIN_PROBABILITY_INSTEAD
        if edge_polarity(edge) == "yes" and polarity_of(heard) == "no":
            # "nah, I took something at the post office"
            least = MIN_PROBABILITY_AGAINST
        of_second = 0.0 if second is None else second[best]
        is_agreed = of_second >= SURE_OF_SECOND and not edge.is_final and least < MIN_PROBABILITY_AGAINST
        if edge.is_final and of_second >= CERTAIN_OF_SECOND and edge_polarity(edge) != "yes":
            least = min(least, MIN_PROBABILITY)
        is_read = odds[best] >= (MIN_PROBABILITY_OF_FIRST if is_agreed else least)
        # "thanks" says nothing that ends a call
        if not is_read or (edge.is_final and not content_stems(heard)) or self._agrees_instead(edge, heard):
            return reply
        if doubted is not None and (edge is doubted or odds[self._edges.index(doubted)] > MAX_PROBABILITY_OF_DOUBTED):
            return reply
        taken = RuleReply(call=(edge.tool, {}))
        if not self._may_be_of_others(edge, odds[best]):
            of_both = min(odds[best], of_second)
            is_certain = of_both >= CERTAIN_OF_BOTH and not edge.is_final
            taken = self._guard(taken, is_sure=of_both >= SURE_OF_BOTH, is_certain=is_certain)
        return reply if taken.call is None else taken

    def _edge_taken(self, reply: RuleReply) -> EdgeHint | None:
        return next((edge for edge in self._edges if reply.call is not None and edge.tool == reply.call[0]), None)

    def _follow_plain_reading(self, reply: RuleReply, heard: str) -> RuleReply:
        """Returns a reply, or the edge that is meant where an author gave no examples: there the model knows more than
        the rules, which see words alone."""
        taken = self._edge_taken(reply)
        is_open = taken is None and (self._is_open(reply, heard) or reply.text == phrases.LETS_GO)
        if not (taken or is_open) or self._says_words_of(taken, heard):
            return reply
        odds = self._odds_of_edges(heard)
        if odds is None:
            return reply
        best = max(range(len(self._edges)), key=odds.__getitem__)
        edge = self._edges[best]
        if taken is not None:
            return RuleReply(reply.text, (edge.tool, {})) if odds[best] >= MIN_PLAIN_INSTEAD else reply
        if odds[best] < (MIN_PLAIN_OF_END if edge.is_final or reply.text == phrases.LETS_GO else MIN_PLAIN):
            return reply
        followed = RuleReply(call=(edge.tool, {}))
        guarded = followed if odds[best] >= SURE_PLAIN else self._guard(followed)
        return reply if guarded.call is None else guarded

    def _odds_of_edges(self, heard: str, *, is_second: bool = False) -> EdgeOdds | None:
        """Returns the odds of this step's edges and of none, by the first or the second model; None where it is not asked,
        or does not know yet."""
        if not 0 < len(self._edges) <= MAX_EDGES or edge_values.is_scale(self._edges):
            return None
        return self._meaning.readings.odds(replace(self._answer_to_read(heard), is_second=is_second))

    def _says_words_of(self, taken: EdgeHint | None, heard: str) -> bool:
        """Returns True for an edge that is taken for its own words, or for a plain yes or no."""
        if taken is None:
            return False
        if is_plain_polarity(heard) and edge_polarity(taken) == polarity_of(heard):
            return True
        match = edge_matching.edge_of_phrase(heard, self._edges)
        if match is not None:
            return match.edge is taken
        # "deliver it, please" where one label is "deliver": the model was seldom shown a label's own words
        spoken = set(content_stems(heard))
        named = [edge for edge in self._edges if (stems := set(content_stems(edge.label))) and stems <= spoken]
        return named == [taken] and len(spoken) <= MAX_NAMING_WORDS

    def _is_open(self, reply: RuleReply, heard: str) -> bool:
        """Returns True where the rules ask again, or only wait though more was said: "hmm, wait, yes, do send it"."""
        if reply.call is not None or parse_utterance(heard).wants_to_stop or _TAKES_ALL_BACK.match(heard):
            return False
        is_waiting = reply.text == phrases.HOLDS and bool(content_stems(parse_utterance(heard).standing))
        return is_waiting or phrases.is_reprompt(reply.text)

    def _agrees_instead(self, edge: EdgeHint, heard: str) -> bool:
        """Returns True for the "no" of a step where a yes comes first: "okay sure, as long as he's here by midnight"."""
        first = _FIRST.split(heard, maxsplit=1)[0]
        return edge_polarity(edge) == "no" and polarity_of(first) == "yes" and has_yes_word(first)

    def _taken_for_no(self, reply: RuleReply, heard: str) -> EdgeHint | None:
        """Returns the edge that a reply takes for a "no" alone, though more was said: "no, I mailed the check last week"."""
        edge = self._edge_taken(reply)
        if edge is None or reply.text or edge_polarity(edge) != "no" or edge.is_final:
            return None
        said = parse_utterance(heard)
        if said.polarity != "no" or said.is_question or any(self._values_said(said).values()):
            return None
        stems = set(content_stems(said.standing)) - NEGATIONS
        return edge if len(stems) >= MIN_REASON and not says_phrase_of(heard, edge) else None

    def _may_be_of_others(self, edge: EdgeHint, probability: float) -> bool:
        """Returns True for a yes that somebody else can give: "my daughter will be here" to "will someone be home?"."""
        said = parse_utterance(self._latest_utterance() or "")
        is_sure = probability >= MIN_PROBABILITY_OF_END and not edge.is_final and not self._asks_who()
        if not is_sure or self._is_denied(said, edge) or self._speaks_against(said, edge):
            return False
        return self._is_of_someone_else(said, edge)

    def _answer_to_read(self, heard: str) -> AnswerToRead:
        edges = tuple(EdgeText(edge.label, edge.condition, self._nearest_examples(heard, edge)) for edge in self._edges)
        return AnswerToRead(self._current_question(), heard, edges)

    def _nearest_examples(self, heard: str, edge: EdgeHint) -> tuple[str, ...]:
        nearness = {example: self._meaning.similarity(heard, example) for example in edge.examples}
        return tuple(sorted(nearness, key=lambda example: -nearness[example])[:MAX_EXAMPLES])

    def _only_edge(self, heard: str) -> EdgeHint | None:
        """Returns the only edge for a real answer: a caller who answers the one question expects to go on. An edge that
        needs a wish ("wants to end the call") is never taken just because it is the only one.
        """
        attempts = self._times_asked()
        otherwise = edge_matching.fallback_edge(self._edges)
        if otherwise is not None and (edge_matching.is_otherwise(otherwise) or attempts > 0):
            return otherwise
        if len(self._edges) != 1 or self._tools:
            return None
        edge = self._edges[0]
        if edge_matching.is_unconditional(edge):
            return edge
        own, said = edge_polarity(edge), polarity_of(heard)
        if own is not None and said is not None:
            return edge if own == said else None
        takes_any = edge_matching.takes_any_answer(edge)
        is_closing = edge_matching.is_closing(edge) and not takes_any
        if said == ("no" if is_closing else "yes") and self._current_question().endswith("?"):
            return edge  # "Anything else?" "No.", "Can you do that?" "Yes."
        is_plain = not edge.examples and not self._hint.variables
        is_answer = bool(content_stems(heard)) or said is not None or (is_plain and bool(essential_tokens(heard)))
        if own is not None or not is_answer:
            return None
        if is_closing:
            return None
        if edge_matching.requires_wish(edge) and not takes_any:
            return edge if self._is_likely_wish(heard, edge) else None
        if edge_matching.takes_number(edge) and spoken_values.first_number(heard) is None:
            return None
        return edge if takes_any or is_plain or self._fits_variables(heard) else None
