"""Doubts an edge that the second model does not see in an answer."""

from typing import Final

from offhook.kit.opt_out_sentences import asks_not_to_be_called
from offhook.models.edge_reading import EdgeOdds
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, phrases
from offhook.models.providers.builtin.acts.edge_acts import opts_out
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.refusals import keeps_it, puts_off
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.read_turn import CERTAIN_OF_BOTH, MIN_REASON, SURE_OF_SECOND, ReadTurn

# Chosen on conversations that the models were not trained on (docs/decisions/0139-second-reading.md): of an edge that is
# doubted, by the second model.
MAX_OF_DOUBTED: Final = 0.02
# Of an edge that is taken instead, by the second model and by the first, and of the doubted one by the first.
MIN_INSTEAD: Final = 0.9
MIN_INSTEAD_BY_FIRST: Final = 0.1
MAX_OF_DOUBTED_BY_FIRST: Final = 0.3
# The same of both, where both see the same edge.
MIN_OF_BOTH: Final = 0.8
MAX_OF_DOUBTED_BY_BOTH: Final = 0.15
# Of what is likelier than an edge that ends the call, or that none is meant.
MIN_OTHERWISE: Final = 0.5
# Of an edge that ends the call of who is leaving, by both models.
MIN_OF_LEAVING: Final = 0.5
# Who has to go says so: "I thought, Lord, I better go" is part of a story.
MAX_LEAVING_WORDS: Final = 16


class SecondTurn(ReadTurn):
    """A turn that has a second opinion on the edge that it takes."""

    def _follow_readings(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or what is meant instead of an edge that was taken and is hardly meant: another edge, or, where
        it ends the call, the question again. "Sure, I get paid Wednesday, I'll do it then" has paid nothing."""
        reply = self._let_go(self._follow_reading(reply))
        heard, taken = self._latest_utterance(), self._edge_taken(reply)
        if heard is None or self._hint.entered or taken is None or self._says_words_of(taken, heard):
            return reply
        said = parse_utterance(heard)
        if not (taken.is_final or self._is_reason(said)) or self._leaves_by(said, taken):
            return reply
        second = self._odds_of_edges(heard, is_second=True)
        if second is None or second[self._edges.index(taken)] > MAX_OF_DOUBTED_BY_BOTH:
            return reply
        other = self._edge_of_readings(said, taken, second)
        if other is not None:
            instead = self._guard(RuleReply(reply.text, (other.tool, {})))
            if instead.call is not None:
                return instead
        is_doubted = taken.is_final and second[self._edges.index(taken)] <= MAX_OF_DOUBTED
        return self._ask_for_decision(RuleReply(""), said) if is_doubted and max(second) >= MIN_OTHERWISE else reply

    def _let_go(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or the end that both models see for a caller who is leaving: "never mind, I don't want the job"."""
        heard = self._latest_utterance()
        if heard is None or self._hint.entered or reply.call is not None:
            return reply
        goes = reply.text == phrases.LETS_GO
        if not goes and not parse_utterance(heard).wants_to_stop:
            return reply
        first, second = self._odds_of_edges(heard), self._odds_of_edges(heard, is_second=True)
        if first is None or second is None:
            return reply
        best = max(range(len(self._edges)), key=lambda at: min(first[at], second[at]))
        edge, of_both = self._edges[best], min(first[best], second[best])
        if not edge.is_final:
            # "that's steep, nah, we'll pile on the blankets till tomorrow"
            if not goes or of_both < CERTAIN_OF_BOTH or puts_off(heard):
                return reply
            stays = self._guard(RuleReply(call=(edge.tool, {})), is_certain=True)
            return reply if stays.call is None else stays
        # the no of a question is no farewell: "you couldn't pay me to say anything bad, my friends have to go"
        is_sure = second[best] >= SURE_OF_SECOND and not keeps_it(heard)
        is_way = opts_out(edge) or (goes and is_sure and edge_polarity(edge) is None)
        declines = edge_polarity(edge) == "no" or bool(self._acts_of(edge) & {"leave", "no"})
        is_way = is_way or (asks_not_to_be_called(heard) and declines)
        is_end = is_way and edge_polarity(edge) != "yes" and not edge_matching.is_person(edge)
        return RuleReply(call=(edge.tool, {})) if is_end and of_both >= MIN_OF_LEAVING else reply

    def _edge_of_readings(self, said: CallerUtterance, taken: EdgeHint, second: EdgeOdds) -> EdgeHint | None:
        """Returns the edge that is read instead of the one that was taken; None where there is none to be sure of."""
        best = max(range(len(self._edges)), key=second.__getitem__)
        edge, doubted = self._edges[best], self._edges.index(taken)
        if edge is taken or opts_out(edge) or not any(one.examples for one in self._edges):
            return None
        if edge.is_final and not taken.is_final and edge_matching.is_closing(edge):
            return None  # "there's nothing wrong with it" is no goodbye of who returns something
        first = self._odds_of_edges(said.heard)
        if first is None:
            return None
        is_of_both = min(first[best], second[best]) >= MIN_OF_BOTH and first[doubted] <= MAX_OF_DOUBTED_BY_BOTH
        is_sure = second[best] >= MIN_INSTEAD and second[doubted] <= MAX_OF_DOUBTED
        is_possible = first[best] >= MIN_INSTEAD_BY_FIRST and first[doubted] <= MAX_OF_DOUBTED_BY_FIRST
        return edge if is_of_both or (is_sure and is_possible) else None

    def _is_reason(self, said: CallerUtterance) -> bool:
        """Returns True for more than a yes, a no or a value, at a step with examples: else there is nothing to doubt."""
        has_reason = len(set(content_stems(said.standing)) - NEGATIONS) >= MIN_REASON
        is_asked = said.is_question or "?" in said.heard
        is_told = has_reason and not is_asked and not any(self._values_said(said).values())
        return is_told and any(edge.examples for edge in self._edges)

    def _leaves_by(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True for the edge of who has to go: asked again, they would hang up."""
        acts = self._acts_of(edge) & {"leave", "later"}
        is_short = len(word_tokens(said.heard)) <= MAX_LEAVING_WORDS
        is_sure = is_short and ("later" in acts or (bool(acts) and self._is_sure_of(said, edge, acts)))
        return is_sure or self._edge_of_courtesy(said) is edge
