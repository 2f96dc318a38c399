"""Follows wishes that run ahead of a question, or go past it."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_matching, edge_values
from offhook.models.providers.builtin.arguments import MIN_PHONE_DIGITS
from offhook.models.providers.builtin.edge_matching import EdgeMatch
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import names, spoken_values
from offhook.models.providers.builtin.english.numbers import ratings
from offhook.models.providers.builtin.english.overlap import count_shared_words, phrase_fit
from offhook.models.providers.builtin.english.questions import VALUE_PATTERN
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.turns.node_turn import ASKS_MORE, MAX_EDGES_A_TURN, SURE_SCORE, RuleReply
from offhook.models.providers.builtin.turns.value_turn import ValueTurn
from offhook.models.providers.builtin.value_kinds import asks_address, asks_phone, kind_of, street_address

# How near a wish is to what leads to the only edge of a node.
LIKELY_MEANING: Final = 0.3
# Fewer words of content are no wish.
MIN_WISH_WORDS: Final = 2
# A day or a time that an appointment is to move to, not the one that it has.
_MOVES_TO: Final = re.compile(
    rf"\b(?:move|change|switch|reschedule|push|shift|swap|put|postpone)\w*\b.* (?:to|till|until|for) (?P<value>{VALUE_PATTERN})"
)
# Of what was said before, a wish is still what the caller wants.
MAX_SINCE_WISH: Final = 2
# A day beside these is that of something that is there already.
_HAS_ONE: Final = re.compile(
    r"\b(?:my|our|his|her|their|the) (?:\w+ )?(?:appointment|booking|reservation|slot|order|delivery)\b|"
    r"\b(?:have|has|had|got)(?: got)? an? (?:\w+ )?(?:appointment|booking|reservation|delivery)\b|\bcancel",
    re.IGNORECASE,
)
_OPENING_PARTS: Final = re.compile(
    r"(?<=[.!?;])\s+|,? (?:so|but|because|and) (?=(?:i|we|my|could|can)\b)", re.IGNORECASE
)
_PARTS: Final = re.compile(r"[,.;!?]|\b(?:and|but|because|so)\b", re.IGNORECASE)
# Of an author's sentence, all words are said and few others.
MIN_TOLD: Final = 0.84
_ABOUT: Final = re.compile(
    r"^.*\b(?:help|advice|questions?|lawyer|attorney|solicitor|somebody|someone|appointment|consultation|calling) (?:with|for|about|regarding|concerning) "
    r"|\b(?:thing|stuff|matter|question|issue|problem|case)s?$",
    re.IGNORECASE,
)
MAX_PARTS: Final = 6
_WHAT_ELSE: Final = re.compile(r"\b(?:anything|something|what|who|how) else\b", re.IGNORECASE)
_LEADING_YES: Final = re.compile(r"^(?:(?:yes|yeah|yep|yup|sure|well|um|uh|oh|actually|and|so)\b[ ,]*)+", re.IGNORECASE)
# Said of what the agent has just told.
_DOES_THAT: Final = re.compile(
    r"\b(?:do|take|try|want|like|need|have) (?:that|this)\b(?: one)?(?: then| please| too)?$|"
    r"\b(?:book|schedule|arrange|make|get|have|need|set up) one\b(?: (?:then|please|too|up))*$|\bset one up\b"
)


class WishTurn(ValueTurn):
    """A turn with wishes that are not the answer that was asked for."""

    def _wished_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "yes, where is order 4711?" to "anything else?" and "can I move my appointment to Thursday?": what
        this node asks has been said. What cannot be undone is asked first.
        """
        if self._tools or self._hint.variables or self._edges_since_heard() > MAX_EDGES_A_TURN:
            return None
        if (moved := _MOVES_TO.search(" ".join(word_tokens(said.heard)))) is not None:
            altering = [edge for edge in self._edges if edge_matching.is_about_change(edge)]
            is_named = moved["value"] in said.standing and len(altering) == 1
            return RuleReply(call=(altering[0].tool, {})) if is_named else None
        if len(self._edges) == 1 or _WHAT_ELSE.search(f"{self._opening} {self._hint.prompt}") is None:
            return None
        choice = edge_matching.choose_edge(_LEADING_YES.sub("", said.standing), self._edges, self._meaning)
        if choice is None or choice.score < SURE_SCORE or edge_matching.is_closing(choice.edge):
            return None
        return None if choice.edge.tool == self._last_edge() else RuleReply(call=(choice.edge.tool, {}))

    def _told_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "I'm selling my house and I need a lawyer", whose need led here: what it is about has been said."""
        if self._tools or len(self._edges) < 2 or edge_values.is_scale(self._edges):
            return None
        if said.is_question or said.denied or said.is_correction:
            return None
        if len(self._earlier_utterances()) > 1 or self._edges_since_heard() > MAX_EDGES_A_TURN:
            return None
        clauses = [part for part in _PARTS.split(said.standing) if content_stems(part)]
        parts = [part for part in clauses if len(content_stems(part)) >= MIN_WISH_WORDS]
        parts += [about for part in clauses if (about := _ABOUT.sub("", part)) not in ("", part)]
        told = [
            edge
            for edge in self._edges
            if not (edge.is_final or edge_matching.is_otherwise(edge))
            and edge_polarity(edge) is None
            and any(phrase_fit(part, edge.examples) >= MIN_TOLD for part in parts)
        ]
        # one part alone is what led here
        is_more = len({*clauses, *parts}) > 1 and len(told) == 1
        return RuleReply(call=(told[0].tool, {})) if is_more and told[0].tool != self._last_edge() else None

    def _leaves_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "not today, that's all, bye", which led to "is there anything else?"."""
        closing = edge_matching.closing_edge(self._edges)
        if closing is None or not said.is_goodbye or ASKS_MORE.search(self._opening) is None:
            return None
        return None if self._edges_since_heard() > MAX_EDGES_A_TURN else RuleReply(call=(closing.tool, {}))

    def _asked_for_first(self, said: CallerUtterance) -> RuleReply | None:
        """Takes the day or the time that the caller wished for when the call began: "how late are you open, and could I
        get Thursday at four?" was answered, and led on only then.
        """
        earlier = self._earlier_utterances()
        is_early = 0 < len(earlier) <= MAX_SINCE_WISH and not self._hint.is_revisit and not self._tools
        if not is_early or self._edges_since_heard() > MAX_EDGES_A_TURN:
            return None
        if said.is_correction or said.wants_change or said.denied or any(self._values_said(said).values()):
            return None
        wish = parse_utterance(earlier[-1])
        if wish.wants_change or wish.denied or wish.refused or _HAS_ONE.search(wish.heard) or self._has_no_room(wish):
            return None
        choice = self._edge_of_value(wish, may_pick=False)
        return (
            None if choice is None or self._last_edge() == choice.edge.tool else RuleReply(call=(choice.edge.tool, {}))
        )

    def _edge_of_part(self, said: CallerUtterance) -> EdgeHint | None:
        """Returns the only edge that leads on and that a part of a longer opening chooses: "… so I thought I'd better come
        in. It's been a while."
        """
        if self._hint.kind != "startCall":
            return None
        chosen = [edge_matching.choose_edge(part, self._edges, self._meaning) for part in parts_of_opening(said.heard)]
        ways = {match.edge.tool: match.edge for match in chosen if match is not None and match.score >= SURE_SCORE}
        # "thank God, somebody picked up" asks for no person
        leading = [edge for edge in ways.values() if not edge.is_final and not edge_matching.is_person(edge)]
        return leading[0] if len(ways) == len(leading) == 1 else None

    def _rated_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "sure, and it was a five" to "may I ask how it was?": the rating needs no question."""
        if self._tools or self._edges_since_heard() > MAX_EDGES_A_TURN or not ratings.tells_rating(said.heard):
            return None
        if "digits" in self._kinds_asked():
            # the house number of an address is no telephone number
            return None
        choice = edge_matching.choose_edge(said.statement or said.standing, self._edges)
        return None if choice is None or not choice.is_by_value else RuleReply(call=(choice.edge.tool, {}))

    def _given_ahead(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "my name is Ana Diaz, and the furnace quit at 27 Elm Street": neither has to be asked for again."""
        if self._tools or self._edges_since_heard() > MAX_EDGES_A_TURN or len(self._hint.variables) != 1:
            return None
        variable = self._hint.variables[0]
        name, about = str(variable.get("name")), str(variable.get("prompt") or "")
        is_name = kind_of(name, about) == "name" and " " in (names.person_name(said.heard, may_be_whole=False) or "")
        is_address = asks_address(name, about) and street_address(said.heard) is not None
        is_number = asks_phone(name, about) and len(spoken_values.all_digits(said.heard)) >= MIN_PHONE_DIGITS
        ways = [
            edge
            for edge in self._edges
            if edge_matching.takes_any_answer(edge) and not edge_matching.is_person(edge) and not edge.is_final
        ]
        return RuleReply(call=(ways[0].tool, {})) if (is_name or is_address or is_number) and len(ways) == 1 else None

    def _walk_again(self, said: CallerUtterance) -> RuleReply | None:
        """Takes the edge of the last time here, when the caller has come back to correct something else."""
        again = self._edge_taken_before()
        if again is not None and any(
            edge.tool == again and edge_matching.is_about_change(edge) for edge in self._edges
        ):
            return None
        if again is None or self._tools or self._edges_since_heard() > MAX_EDGES_A_TURN:
            return None
        named = {kind for kind, value in self._values_said(said).items() if value}
        if not named or self._kinds_asked() & named:
            return None
        return RuleReply(call=(again, {}))

    def _kinds_asked(self) -> set[str | None]:
        return {kind_of(str(v.get("name")), str(v.get("prompt") or "")) for v in self._hint.variables}

    def _edge_beside_denied(self, said: CallerUtterance, edges: tuple[EdgeHint, ...]) -> EdgeMatch | None:
        """Returns the other of two ways when the caller denies one: "I don't want to cancel it" leaves "move it"."""
        person = edge_matching.person_edge(self._edges)
        left = [edge for edge in edges if edge is not person and not edge_matching.is_closing(edge)]
        all_ways = [edge for edge in self._edges if edge is not person]
        is_other = said.denied and len(left) == 1 and len(all_ways) == 2 and edge_polarity(left[0]) is None
        return EdgeMatch(left[0], SURE_SCORE) if is_other else None

    def _edge_of_wish(self, said: CallerUtterance, edges: tuple[EdgeHint, ...]) -> EdgeMatch | None:
        wish = edge_matching.choose_edge(said.wish, edges) if said.wish else None
        return wish if wish is not None and wish.score >= SURE_SCORE else None

    def _edge_of_new_value(self, said: CallerUtterance) -> EdgeMatch | None:
        """Returns the edge to another day where one is named: "Friday at two" to "shall I move or cancel it?", "what about
        Wednesday?" to "which time?".
        """
        altering = [edge for edge in self._edges if edge_matching.is_about_change(edge)]
        kinds = {kind for kind, value in self._values_said(said).items() if value and not value.startswith("any ")}
        is_asked = any(edge_values.asked_value_kinds(edge) & kinds for edge in self._edges)
        named = (said.polarity != "no" or said.refused) and bool(kinds)
        # nothing is agreed yet in a greeting: "at eight" may be heard of any sentence
        is_change = self._hint.kind != "startCall" and len(altering) == 1
        return EdgeMatch(altering[0], SURE_SCORE) if named and is_change and not is_asked else None

    def _edge_to_more(self, said: CallerUtterance) -> EdgeMatch | None:
        """Returns the yes to "is there anything else?" for a caller who says at once what."""
        more = [edge for edge in self._edges if edge_polarity(edge) == "yes"]
        is_wish = said.polarity != "no" and len(content_stems(said.heard)) >= MIN_WISH_WORDS
        is_wish = is_wish and count_shared_words(said.heard, f"{self._hint.prompt} {self._hint.persona}") > 0
        said_last = next((message.content for message in reversed(self._messages) if message.role == "assistant"), "")
        is_asked = _WHAT_ELSE.search(said_last) is not None
        return EdgeMatch(more[0], SURE_SCORE) if is_wish and is_asked and len(more) == 1 else None

    def _edge_of_that(self, said: CallerUtterance) -> EdgeMatch | None:
        """Returns the edge of what the agent has just told, for a caller who says "okay, I'll do that"."""
        if not _DOES_THAT.search(" ".join(word_tokens(said.standing))):
            return None
        told = next((message.content for message in reversed(self._messages) if message.role == "assistant"), "")
        return edge_matching.choose_edge(told.partition("?")[0].rpartition(".")[0], self._edges)

    def _is_likely_wish(self, heard: str, edge: EdgeHint) -> bool:
        """Returns True when the one wish that a node knows is near in meaning, when the caller has said it again, or when
        it is what the agent answers calls for.
        """
        if len(content_stems(heard)) < MIN_WISH_WORDS:
            return False
        return (
            self._hint.kind == "startCall"
            or self._times_asked() > 0
            or self._meaning.nearest(heard, (edge.condition, edge.label)) >= LIKELY_MEANING
        )


def parts_of_opening(heard: str) -> list[str]:
    """Returns the sentences and clauses of a longer opening that say something; none of a short one."""
    parts = [part.strip(" ,") for part in _OPENING_PARTS.split(heard)]
    meant = [part for part in parts if len(content_stems(part)) >= MIN_WISH_WORDS]
    return meant[-MAX_PARTS:] if len(parts) > 1 else []
