"""Takes the edge for what a caller added to an answer, before the agent asks: "Sure, we own the place and …"."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values
from offhook.models.providers.builtin.acts.edge_acts import opts_out
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import CONDITION_STOP, content_stems
from offhook.models.providers.builtin.turns.node_turn import MAX_EDGES_A_TURN, RuleReply
from offhook.models.providers.builtin.turns.second_turn import SecondTurn

# Probability of the edge by the first and the second model (docs/decisions/0146-read-ahead.md).
MIN_OF_FIRST: Final = 0.85
MIN_OF_SECOND: Final = 0.93
# More clauses are a story.
MAX_ADDED: Final = 4
_CLAUSES: Final = re.compile(r"[,.;!?]+|\band(?= (?:i|we|it|my|our|the|no|yes)\b)", re.IGNORECASE)
MIN_WORDS: Final = 2
# "There's no light on it, none at all"
_SAYS_IT_AGAIN: Final = re.compile(r"^(?:none|not|nothing|no|never)\b.*\b(?:at all|whatsoever|ever)$", re.IGNORECASE)


class AheadTurn(SecondTurn):
    """A turn that reads what a caller added to an answer at the step that would ask for it."""

    def _read_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Returns the edge for the clause that answers this step, among those after the clause that led here."""
        if self._tools or self._hint.is_revisit or not 0 < self._edges_since_heard() <= MAX_EDGES_A_TURN:
            return None
        if said.is_question or said.is_correction or said.denied or said.refused or said.wants_change:
            return None
        clauses = [part.strip() for part in _CLAUSES.split(said.heard) if part.strip()]
        # "I already have a lawyer, I only want to leave her a message" gives no message
        led_here = set(content_stems((self._last_edge() or "").replace("_", " ")))
        added = [
            part
            for part in clauses[1:]
            if (stems := set(content_stems(part)))
            and not stems & led_here
            and len(part.split()) >= MIN_WORDS
            and not _SAYS_IT_AGAIN.search(part)
        ]
        if not 0 < len(added) <= MAX_ADDED or edge_values.is_scale(self._edges):
            return None
        if not any(edge.examples for edge in self._edges):
            # without examples, the models read too much into half a sentence
            return None
        meant = [edge for part in added if (edge := self._edge_of_added(part)) is not None]
        # people add their answers in the order of the questions
        return RuleReply(call=(meant[-1].tool, {})) if meant and meant[-1].tool != self._last_edge() else None

    def _edge_of_added(self, clause: str) -> EdgeHint | None:
        """Returns the edge that both models see in a clause, unless it ends the call, opts out, or reaches a person."""
        first, second = self._odds_of_edges(clause), self._odds_of_edges(clause, is_second=True)
        if first is None or second is None:
            return None
        best = max(range(len(self._edges)), key=second.__getitem__)
        edge = self._edges[best]
        if edge.is_final or edge_matching.is_otherwise(edge) or edge_matching.is_person(edge) or opts_out(edge):
            return None
        described = f"{edge.label}. {edge.condition}"
        denies = NEGATIONS & set(content_stems(described)) and not NEGATIONS & set(content_stems(clause))
        if denies or edge_polarity(edge) == "no":
            # "I need to come back" is not "not coming back"; "I don't want it anymore" is why they send it back
            return None
        asked = content_stems(f"{self._current_question()} {described}", extra_stop=CONDITION_STOP)
        # "I'm on my break, go for it" says nothing about what is asked here
        is_about = bool(set(content_stems(clause)) & set(asked))
        return edge if is_about and first[best] >= MIN_OF_FIRST and second[best] >= MIN_OF_SECOND else None
