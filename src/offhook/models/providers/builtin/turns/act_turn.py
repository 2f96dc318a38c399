"""Weighs what the caller's words do against what each edge takes."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values, final_edges
from offhook.models.providers.builtin.acts.classifier import (
    UNKNOWN_ACTS,
    ActOdds,
    CallerAct,
    compared_texts,
)
from offhook.models.providers.builtin.acts.edge_acts import acts_of_edge, does_only, opts_out
from offhook.models.providers.builtin.edge_matching import EdgeMatch
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import assent
from offhook.models.providers.builtin.english.overlap import CONTAINED, NEGATIONS, phrase_fit
from offhook.models.providers.builtin.english.refusals import (
    without_denied_answer,
    without_disclaimer,
    without_farewell,
)
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import Polarity, content_stems, word_tokens
from offhook.models.providers.builtin.turns.courtesy_turn import CourtesyTurn
from offhook.models.providers.builtin.turns.node_turn import ASKS_MORE, SURE_SCORE

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
MAX_OUTRIGHT_WORDS: Final = 6
# Of a yes that is said outright, before what it could be beside.
MIN_LEAD_OF_YES: Final = 0.16
LIKELY_ODDS: Final = 0.6
SURE_ODDS: Final = 0.85
CERTAIN_ODDS: Final = 0.95
# What is as good as ruled out.
NO_ODDS: Final = 0.1
UNSURE_ODDS: Final = 0.4
# How near a wish is to what callers say of an edge, and how much nearer than to any other.
MIN_LIKENESS: Final = 0.45
MIN_LEAD_OF_REQUEST: Final = 0.1
_ASKS_LEAVE: Final = re.compile(r"\b(?:may|can|could) (?:i|we) (?:ask|have|take)\b", re.IGNORECASE)


class ActTurn(CourtesyTurn):
    """A turn that knows whether the caller agrees, declines, leaves or wants a person, where there is a classifier and
    the offline embedding model is installed. Where there is none, rules alone decide.
    """

    def _texts_of_acts(self, heard: str) -> tuple[str, ...]:
        """Returns what is compared to know what the caller does."""
        return compared_texts(self._last_question(), heard) if self._meaning.tells_acts else ()

    def _odds(self) -> ActOdds:
        """Returns what the caller's words do, as an answer to the current question; nothing where no model tells it."""
        heard = without_disclaimer(without_denied_answer(self._latest_utterance() or ""))
        answer = without_farewell(heard)
        if answer != heard and not any("leave" in acts_of_edge(edge, self._odds_of) for edge in self._edges):
            # nothing is ended here: "certainly, have a good day, bye" answers
            heard = answer
        return self._odds_of(heard, self._last_question())

    def _odds_of(self, said: str, asked: str = "") -> ActOdds:
        return self._meaning.odds(said, compared_texts(asked, said)) if said else UNKNOWN_ACTS

    def _is_otherwise_meant(self, said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct]) -> bool:
        """Returns True where the caller does what none of the acts can be: a condition is no yes, a yes no goodbye."""
        changes = bool({"leave", "later"} & acts) and self._odds().of("change") >= CERTAIN_ODDS
        if changes and not final_edges.is_written(said, edge):
            # "take me off Monday and give me Thursday instead"
            return True
        if not acts or said.is_correction or final_edges.ends_in(said, acts) or self._agrees_outright(said, edge, acts):
            return False
        if said.wants_to_stop and ("leave" in acts or ("later" in acts and self._odds().of("leave") < LIKELY_ODDS)):
            return False
        if "person" in acts and not does_only(edge, "person", self._odds_of):
            # complaints and the like, which are no act of their own
            return self._odds().of("question") >= SURE_ODDS and not edge_matching.asks_for_person(said.heard)
        if final_edges.takes_doubt(edge) or final_edges.only_remarks(said, self._last_question()):
            acts |= {"yes_but"}
        other = OTHER_THAN_YES if "yes" in acts else OTHER_THAN_PERSON if "person" in acts else OTHER_THAN_NO
        if "later" in acts:
            other = OTHER_THAN_LATER
        others = {act for edge in self._edges for act in acts_of_edge(edge, self._odds_of)}
        odds = self._odds()
        if self._is_unlikely(said, edge, acts, odds):
            return True
        is_rival = said.polarity not in acts and odds.of(*(others - acts)) >= LIKELY_ODDS
        is_rival = is_rival and odds.of(*acts) < UNLIKELY_ODDS
        return is_rival or odds.of(*(others.union(other) - acts)) >= SURE_ODDS

    def _is_unlikely(self, said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct], odds: ActOdds) -> bool:
        """Returns True where the words of an edge are said, and hardly do what it takes: "let somebody see it"."""
        if self._corrects_answer(said):
            return True
        if odds.of("change") >= LIKELY_ODDS and said.polarity in acts:
            return odds.of(*acts) < UNSURE_ODDS and not final_edges.shares_words(said.heard, edge)
        is_apart = said.polarity is None and not final_edges.shares_words(said.heard, edge)
        if {"leave", "later"} & acts and is_apart and odds.of(*acts) < UNSURE_ODDS:
            return True
        if "person" not in acts or odds.of("person") >= UNLIKELY_ODDS or edge_matching.asks_for_person(said.heard):
            return False
        return odds.of("question") >= SURE_ODDS or does_only(edge, "person", self._odds_of)

    @staticmethod
    def _agrees_outright(said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct]) -> bool:
        """Returns True for a short yes in an author's words: "sorry, yes, the label please"."""
        is_short = "yes" in acts and len(word_tokens(said.heard)) <= MAX_OUTRIGHT_WORDS
        is_yes = is_short and not said.is_question and assent.has_yes_word(said.heard)
        return is_yes and final_edges.shares_words(said.heard, edge) and not assent.has_reservation(said.heard)

    def _corrects_answer(self, said: CallerUtterance) -> bool:
        """Returns True for "no no, not the food, the mood", which says no to nothing but the answer before."""
        denied = assent.denied_stems(said.heard) - set(content_stems(self._last_question()))
        before = self._earlier_utterances()[:1]
        return said.polarity == "no" and any(denied & set(content_stems(text)) for text in before)

    def _acts_of(self, edge: EdgeHint) -> frozenset[CallerAct]:
        """Returns the acts that take an edge."""
        acts = acts_of_edge(edge, self._odds_of)
        if "yes" in acts and not edge.is_final:
            # a condition is heard out later
            acts |= {"yes_but"}
        if "no" in acts and (edge_matching.is_closing(edge) or self._declines_all(edge)):
            acts |= {"leave"}
        if "leave" in acts and edge_polarity(edge) == "no" and self._asks_more():
            acts |= {"no"}
        others = [acts_of_edge(other, self._odds_of) for other in self._edges if other is not edge]
        if "leave" in acts and not any("later" in other for other in others):
            # who calls again another time needs nothing more now
            return acts | {"later"}
        return acts

    def _asks_more(self) -> bool:
        return ASKS_MORE.search(self._last_question()) is not None

    def _keeps_truth(self) -> bool:
        return any(variable.get("type") == "boolean" for variable in self._hint.variables)

    def _declines_all(self, edge: EdgeHint) -> bool:
        """Returns True for the "no" to a greeting behind which the call ends, where none is for not being called again."""
        is_refusal = self._hint.kind == "startCall" and edge.is_final
        return is_refusal and not any(opts_out(other) for other in self._edges if other is not edge)

    def _edge_of_act(self, said: CallerUtterance) -> EdgeHint | None:
        """Returns the only edge that takes what the caller does, where that is sure enough."""
        fitting = [edge for edge in self._edges if self._is_sure_of(said, edge, self._acts_of(edge))]
        return fitting[0] if len(fitting) == 1 else None

    def _speaks_against(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True where the caller surely does something else than take an edge that leads on.

        They ask back, talk to somebody else, or leave: a number or a yes in such words is no answer.
        """
        odds = self._odds()
        if not odds or final_edges.is_written(said, edge):
            return False
        if edge_matching.is_person(edge):
            # "thank God, somebody picked up" asks for no person
            is_said = any(phrase_fit(part, edge.examples) >= CONTAINED for part in said.standing.split(", "))
            return odds.of("person") < NO_ODDS and not (is_said or edge_matching.asks_for_person(said.heard))
        polarity = edge_polarity(edge)
        if polarity is not None and self._means_opposite(said, edge, polarity):
            return True
        is_asked = (
            polarity is not None or bool(edge_values.asked_value_kinds(edge)) or edge_values.is_scale(self._edges)
        )
        if not is_asked or (polarity is not None and said.polarity == polarity):
            return False
        if edge in edge_matching.question_edges(self._edges) or (polarity is None and self._hint.kind == "startCall"):
            return False
        return self._asks_or_waits(said, ("answer", "change", *((polarity,) if polarity is not None else ())))

    def _means_opposite(self, said: CallerUtterance, edge: EdgeHint, polarity: Polarity) -> bool:
        """Returns True for a yes in words of a no, or of a goodbye: "lovely, that's all I was after, cheers"."""
        odds = self._odds()
        if polarity == "no" and said.polarity is None and odds.of("no") < NO_ODDS and odds.of("yes") >= LIKELY_ODDS:
            # "Thursday works, my wife is home" wants no other day
            return True
        if odds.of(polarity) >= NO_ODDS or final_edges.shares_words(said.heard, edge):
            return False
        if polarity == "yes" and odds.of("leave") >= CERTAIN_ODDS and not assent.has_yes_word(said.heard):
            return True
        opposite: CallerAct = "no" if polarity == "yes" else "yes"
        return said.polarity != polarity and odds.of(opposite, *(("leave",) if polarity == "yes" else ())) >= SURE_ODDS

    def _asks_or_waits(self, said: CallerUtterance, answers: tuple[CallerAct, ...]) -> bool:
        """Returns True for a question or an aside without an answer behind it: "let me think... three" has one."""
        odds = self._odds()
        if odds.of("wait", "question") < SURE_ODDS or odds.of(*answers) >= NO_ODDS:
            return False
        names_value = any(self._values_said(said).values())
        if names_value and odds.of("wait") >= odds.of("question"):
            # "let me ask her... Friday, she says": whether it is chosen or only mentioned, other rules know
            return False
        left = said.statement if names_value and said.statement else said.standing
        return self._odds_of(left, self._last_question()).of(*answers) < UNLIKELY_ODDS

    def _edge_of_request(self, said: CallerUtterance, other: EdgeHint | None = None) -> EdgeHint | None:
        """Returns the edge that leads on and is nearest to a wish in other words than an author's: "a tooth hurts"."""
        if said.polarity is not None or self._odds().of("request", "question", "answer", "change") < LIKELY_ODDS:
            return None
        is_denied = bool(said.refused or said.denied or NEGATIONS & set(content_stems(said.heard)))
        if self._tools or self._hint.variables or said.is_correction or is_denied:
            return None
        ways = [
            edge
            for edge in self._edges
            if edge is not other and not edge.is_final and not self._acts_of(edge) and not edge_matching.is_person(edge)
        ]
        near = sorted(
            ((self._meaning.nearest(said.heard, (*edge.examples, edge.condition)), at) for at, edge in enumerate(ways))
        )
        if not near or near[-1][0] < MIN_LIKENESS:
            return None
        is_alone = len(near) == 1 or near[-1][0] - near[-2][0] >= MIN_LEAD_OF_REQUEST
        return ways[near[-1][1]] if is_alone else None

    def _outweighs(self, said: CallerUtterance, edge: EdgeHint, wanted: EdgeMatch | None) -> bool:
        """Returns True where the edge of what the caller does goes before the one that words choose."""
        if wanted is None or wanted.edge is edge:
            return True
        is_weak = not wanted.edge.is_final and wanted.score < SURE_SCORE
        if self._odds().of("leave") >= CERTAIN_ODDS and edge_matching.is_about_change(wanted.edge):
            # "wrong" in "you've got the wrong number" changes nothing
            return True
        return is_weak or self._speaks_against(said, wanted.edge)

    def _is_certain(self, said: CallerUtterance) -> bool:
        """Returns True where no single word counts against what the whole sentence does."""
        odds = self._odds()
        is_open = said.asks_to_wait or said.is_question or bool(said.denied)
        if odds.certainty < CERTAIN_ODDS or odds.likeliest == "no":
            return False
        return odds.likeliest == "person" or not is_open

    def _is_sure_of(self, said: CallerUtterance, edge: EdgeHint, acts: frozenset[CallerAct]) -> bool:
        """Returns True where the caller does one of the acts: the surer, the less the words alone say the same."""
        odds = self._odds()
        is_absent = assent.is_absent(said.heard) and not any(map(assent.is_absent, edge.examples))
        if odds.likeliest == "no" and edge.is_final and (self._corrects_answer(said) or is_absent):
            return False
        if odds.likeliest == "person" and self._takes_notes(said):
            return False
        if odds.likeliest not in acts or (odds.likeliest == "yes_but" and not self._lets_go_on(said)):
            return False
        if odds.likeliest == "leave" and said.is_goodbye and self._asks_more():
            # "right, okay, that's all I wanted"
            return odds.of(*acts) >= SURE_ODDS and not final_edges.contradicts(said, "leave", is_certain=False)
        is_certain = self._is_certain(said) and (not edge.is_final or odds.likeliest == "person")
        if final_edges.contradicts(said, odds.likeliest, is_certain=is_certain):
            return False
        is_said = {
            "yes_but": said.polarity == "yes",
            "yes": said.polarity == "yes" and not said.is_modified and not assent.has_reservation(said.heard),
            "no": said.polarity == "no",
            "leave": said.is_goodbye or said.wants_to_stop,
        }
        is_opposite = {"yes": "no", "no": "yes", "leave": "yes", "later": "yes"}.get(
            odds.likeliest, ""
        ) == said.polarity
        # "perfect, that's all I needed" to "anything else?" is no yes
        is_content = odds.of("leave") >= CERTAIN_ODDS and self._asks_more() and not assent.has_yes_word(said.heard)
        if is_opposite and not is_content:
            return False
        if self._keeps_truth() and odds.likeliest in ("yes", "no") and said.polarity != odds.likeliest:
            # a yes that is kept is said in so many words, or surely: "I have no friends" recommends nothing
            return self._is_certain(said)
        if odds.likeliest == "yes" and is_said["yes"] and odds.lead >= MIN_LEAD_OF_YES:
            return True
        needed = LIKELY_ODDS if is_said.get(odds.likeliest) else SURE_ODDS
        return odds.of(*acts) >= needed

    def _takes_notes(self, said: CallerUtterance) -> bool:
        """Returns True where anything may be the answer, and nobody is asked for: "they'll have to ring me"."""
        is_open = self._hint.kind != "startCall" and any(map(edge_matching.takes_any_answer, self._edges))
        return is_open and not edge_matching.asks_for_person(said.heard)

    def _lets_go_on(self, said: CallerUtterance) -> bool:
        """Returns True for a yes with a "but", and for "if you're quick" to "may I ask you something?"."""
        if said.polarity == "yes":
            return True
        is_asked_leave = _ASKS_LEAVE.search(self._last_question()) is not None
        is_open = said.polarity is None and not said.is_question
        return is_asked_leave and is_open and self._odds().of("yes_but") >= LIKELY_ODDS
