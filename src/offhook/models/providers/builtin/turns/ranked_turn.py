"""Takes the edge that an answer most probably means, where the rules would ask again."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values, phrases
from offhook.models.providers.builtin.acts.classifier import CallerAct
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import assent, spoken_values
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, essential_tokens
from offhook.models.providers.builtin.ranking.features import turn_features
from offhook.models.providers.builtin.ranking.ranker import shipped_ranker
from offhook.models.providers.builtin.turns.act_turn import LIKELY_ODDS, SURE_ODDS
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.quoting_turn import QuotingTurn

# Chosen on the answers that the rules asked about again, each judged by weights that were trained without its agent
# (scripts/edge_ranking/train.py): of 10 edges that lead on, 7 are right, of 10 that end the call, 8, before words rule any out.
MIN_PROBABILITY: Final = 0.77
MIN_PROBABILITY_OF_END: Final = 0.85
_SHUNS_PERSON: Final = re.compile(r"\b(?:not|n't|don't) (?:\w+ ){0,3}(?:speak|talk)\b", re.IGNORECASE)
# What these say is said to no edge that is for something else.
_OTHER_ACTS: Final = frozenset({"leave", "later", "wait", "unclear", "change"})
_IS_UNSURE: Final = re.compile(r"\bnot (?:\w+ )?sure\b", re.IGNORECASE)


class RankedTurn(QuotingTurn):
    """A turn that asks again only when no edge is probable enough."""

    def _follow_ranked(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or the edge that is probably meant instead of a question that is asked again."""
        heard = self._latest_utterance()
        if heard is None or self._hint.entered or reply.call is not None or not phrases.is_reprompt(reply.text):
            return reply
        if not self._meaning.tells_acts or not self._odds() or edge_values.is_scale(self._edges):
            return reply
        said = parse_utterance(heard)
        acts = [self._acts_of(edge) for edge in self._edges]
        features = turn_features(said, self._edges, acts, self._odds(), self._meaning)
        *found, _ = shipped_ranker().probabilities(features)
        best = max(range(len(found)), key=found.__getitem__, default=None)
        if best is None or not self._may_be_meant(said, self._edges[best], acts[best]):
            return reply
        is_probable = found[best] >= (MIN_PROBABILITY_OF_END if self._edges[best].is_final else MIN_PROBABILITY)
        taken = self._guard(RuleReply(call=(self._edges[best].tool, {}))) if is_probable else reply
        return taken if taken.call is not None else reply

    def _may_be_meant(self, said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct]) -> bool:
        """Returns False where a word counts for more than the whole: what is denied, or ends a call that goes on."""
        if edge_matching.is_person(edge) and (said.is_correction or _SHUNS_PERSON.search(said.heard)):
            return False
        odds = self._odds()
        polarity = edge_polarity(edge)
        is_said = said.polarity == polarity or (polarity == "yes" and assent.has_yes_word(said.heard))
        if polarity is not None and not is_said and odds.of(polarity) < SURE_ODDS:
            return False
        if said.wants_change and not edge_matching.is_about_change(edge):
            return False
        if odds.likeliest in acts and odds.certainty >= LIKELY_ODDS:
            return True
        if odds.likeliest in _OTHER_ACTS and not edge_matching.is_about_change(edge):
            return False
        if polarity is not None and _IS_UNSURE.search(said.heard):
            return False
        if said.is_question and not said.statement:
            return False
        if edge_matching.is_closing(edge) or edge_matching.is_person(edge):
            return False
        if edge not in edge_matching.without_denied(said.denied, self._edges):
            return False
        if polarity is not None:
            return True
        is_negated = bool(NEGATIONS & set(content_stems(said.heard)))
        written = any(NEGATIONS & set(content_stems(example)) for example in edge.examples)
        return not is_negated or written or said.polarity is not None

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
