"""Weighs what the caller's words do against what each edge takes."""

from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, final_edges
from offhook.models.providers.builtin.acts.classifier import (
    UNKNOWN_ACTS,
    ActOdds,
    CallerAct,
    compared_texts,
)
from offhook.models.providers.builtin.acts.edge_acts import acts_of_edge, opts_out
from offhook.models.providers.builtin.english import assent
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.turns.wish_turn import WishTurn

# What is final is done when the words carry it, unless they do something else, and when they do not but surely do what
# it takes.
OTHER_THAN_YES: Final[tuple[CallerAct, ...]] = (
    "yes_but",
    "no",
    "change",
    "leave",
    "later",
    "question",
    "wait",
    "unclear",
)
OTHER_THAN_NO: Final[tuple[CallerAct, ...]] = ("yes", "yes_but", "question", "wait", "unclear", "person")
OTHER_THAN_LATER: Final[tuple[CallerAct, ...]] = (
    "yes",
    "yes_but",
    "change",
    "request",
    "question",
    "unclear",
    "person",
)
OTHER_THAN_PERSON: Final[tuple[CallerAct, ...]] = ("yes", "wait")
UNLIKELY_ODDS: Final = 0.2
LIKELY_ODDS: Final = 0.6
SURE_ODDS: Final = 0.85
CERTAIN_ODDS: Final = 0.95


class ActTurn(WishTurn):
    """A turn that knows whether the caller agrees, declines, leaves or wants a person, where there is a classifier and
    the offline embedding model is installed. Where there is none, rules alone decide.
    """

    def _texts_of_acts(self, heard: str) -> tuple[str, ...]:
        """Returns what is compared to know what the caller does."""
        return () if self._meaning.classifier is None else compared_texts(self._last_question(), heard)

    def _odds(self) -> ActOdds:
        """Returns what the caller's words do, as an answer to the current question; nothing where no model tells it."""
        return self._odds_of(self._latest_utterance() or "", self._last_question())

    def _odds_of(self, said: str, asked: str = "") -> ActOdds:
        classifier = self._meaning.classifier
        if classifier is None or not said:
            return UNKNOWN_ACTS
        vectors = [self._meaning.vector(text) for text in compared_texts(asked, said)]
        known = [vector for vector in vectors if vector is not None]
        return classifier.odds(said, known) if len(known) == len(vectors) else UNKNOWN_ACTS

    def _is_otherwise_meant(self, said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct]) -> bool:
        """Returns True where the caller does what none of the acts can be: a condition is no yes, a yes no goodbye."""
        if not acts or said.is_correction or final_edges.ends_in(said, acts):
            return False
        if final_edges.takes_doubt(edge):
            acts |= {"yes_but"}
        other = OTHER_THAN_YES if "yes" in acts else OTHER_THAN_PERSON if "person" in acts else OTHER_THAN_NO
        if "later" in acts:
            other = OTHER_THAN_LATER
        others = {act for edge in self._edges for act in acts_of_edge(edge, self._odds_of)}
        odds = self._odds()
        is_rival = said.polarity not in acts and odds.of(*(others - acts)) >= LIKELY_ODDS
        is_rival = is_rival and odds.of(*acts) < UNLIKELY_ODDS
        return is_rival or odds.of(*(others.union(other) - acts)) >= SURE_ODDS

    def _acts_of(self, edge: EdgeHint) -> frozenset[CallerAct]:
        """Returns the acts that take an edge."""
        acts = acts_of_edge(edge, self._odds_of)
        if "no" in acts and (edge_matching.is_closing(edge) or self._declines_all(edge)):
            acts |= {"leave"}
        others = [acts_of_edge(other, self._odds_of) for other in self._edges if other is not edge]
        if "leave" in acts and not any("later" in other for other in others):
            # who calls again another time needs nothing more now
            return acts | {"later"}
        return acts

    def _keeps_truth(self) -> bool:
        return any(variable.get("type") == "boolean" for variable in self._hint.variables)

    def _declines_all(self, edge: EdgeHint) -> bool:
        """Returns True for the "no" to a greeting behind which the call ends, where none is for not being called again."""
        is_refusal = self._hint.kind == "startCall" and edge.is_final
        return is_refusal and not any(opts_out(other) for other in self._edges if other is not edge)

    def _edge_of_act(self, said: CallerUtterance) -> EdgeHint | None:
        """Returns the only edge that takes what the caller does, where that is sure enough."""
        fitting = [edge for edge in self._edges if self._is_sure_of(said, self._acts_of(edge))]
        return fitting[0] if len(fitting) == 1 else None

    def _is_sure_of(self, said: CallerUtterance, acts: frozenset[CallerAct]) -> bool:
        """Returns True where the caller does one of the acts: the surer, the less the words alone say the same."""
        odds = self._odds()
        if odds.likeliest not in acts:
            return False
        if final_edges.contradicts(said, odds.likeliest):
            return False
        is_said = {
            "yes": said.polarity == "yes" and not said.is_modified and not assent.has_reservation(said.heard),
            "no": said.polarity == "no",
            "leave": said.is_goodbye or said.wants_to_stop,
        }
        if {"yes": "no", "no": "yes", "leave": "yes", "later": "yes"}.get(odds.likeliest, "") == said.polarity:
            return False
        if self._keeps_truth() and odds.likeliest in ("yes", "no") and said.polarity != odds.likeliest:
            # a yes that is kept is said in so many words: "I have no friends" recommends nothing
            return False
        needed = LIKELY_ODDS if is_said.get(odds.likeliest) else SURE_ODDS
        return odds.of(*acts) >= needed
