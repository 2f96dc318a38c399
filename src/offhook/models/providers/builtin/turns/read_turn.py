"""Takes the edge that an answer means as the model that reads edges sees it, where the rules would ask again."""

import re
from typing import Final

from offhook.models.edge_reading import AnswerToRead, EdgeText
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values, phrases
from offhook.models.providers.builtin.denied_edges import says_phrase_of
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.assent import has_yes_word
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, essential_tokens
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.quoting_turn import QuotingTurn

# Chosen on conversations that the model was not trained on (docs/decisions/0128-read-edges.md).
MIN_PROBABILITY: Final = 0.75
MIN_PROBABILITY_OF_END: Final = 0.9
# Of an edge that a "no" took, where another one is meant.
MAX_PROBABILITY_OF_DOUBTED: Final = 0.05
# Words of a reason beside the "no".
MIN_REASON: Final = 2
MAX_EXAMPLES: Final = 4
# More are more than the model reads at once.
MAX_EDGES: Final = 24
_FIRST: Final = re.compile(r"[,.;!?]")


class ReadTurn(QuotingTurn):
    """A turn that reads an answer once more before it asks again."""

    def _follow_reading(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or the edge that is probably meant instead of a question that is asked again."""
        heard = self._latest_utterance()
        if heard is None or self._hint.entered:
            return reply
        doubted = self._taken_for_no(reply, heard)
        if doubted is None and not self._is_open(reply, heard):
            return reply
        if not 0 < len(self._edges) <= MAX_EDGES or edge_values.is_scale(self._edges):
            return reply
        odds = self._meaning.readings.odds(self._answer_to_read(heard))
        if odds is None:
            return reply
        best = max(range(len(self._edges)), key=odds.__getitem__)
        edge = self._edges[best]
        # instead of an edge that is hardly meant, another step is worth less certainty than a goodbye
        must_be_sure = edge.is_final and (doubted is None or edge_matching.is_closing(edge))
        if odds[best] < (MIN_PROBABILITY_OF_END if must_be_sure else MIN_PROBABILITY):
            return reply
        if self._agrees_instead(edge, heard):
            return reply
        if doubted is not None and (edge is doubted or odds[self._edges.index(doubted)] > MAX_PROBABILITY_OF_DOUBTED):
            return reply
        taken = RuleReply(call=(edge.tool, {}))
        if not self._may_be_of_others(edge, odds[best]):
            taken = self._guard(taken)
        return reply if taken.call is None else taken

    def _is_open(self, reply: RuleReply, heard: str) -> bool:
        """Returns True where the rules ask again, or only wait though more was said: "hmm, wait, yes, do send it"."""
        if reply.call is not None:
            return False
        is_waiting = reply.text == phrases.HOLDS and bool(content_stems(parse_utterance(heard).standing))
        return is_waiting or phrases.is_reprompt(reply.text)

    def _agrees_instead(self, edge: EdgeHint, heard: str) -> bool:
        """Returns True for the "no" of a step where a yes comes first: "okay sure, as long as he's here by midnight"."""
        first = _FIRST.split(heard, maxsplit=1)[0]
        return edge_polarity(edge) == "no" and polarity_of(first) == "yes" and has_yes_word(first)

    def _taken_for_no(self, reply: RuleReply, heard: str) -> EdgeHint | None:
        """Returns the edge that a reply takes for a "no" alone, though more was said: "no, I mailed the check last week"."""
        edge = next((edge for edge in self._edges if reply.call is not None and edge.tool == reply.call[0]), None)
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
