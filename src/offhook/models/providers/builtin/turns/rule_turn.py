"""Decides what the offline agent says and which edge it takes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from offhook.kit.opt_out_sentences import asks_not_to_be_called
from offhook.models.ports import EdgeHint, LlmMessage
from offhook.models.providers.builtin import (
    arguments,
    edge_matching,
    edge_values,
    passage_quotes,
    persona_answers,
    phrases,
)
from offhook.models.providers.builtin.acts.edge_acts import opts_out
from offhook.models.providers.builtin.edge_matching import EdgeMatch
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import refusals, spoken_values
from offhook.models.providers.builtin.english.corrections import values_in
from offhook.models.providers.builtin.english.questions import asks_question, is_about_question
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.outright_edges import edge_named_first, edge_said_outright
from offhook.models.providers.builtin.turns.act_turn import CERTAIN_ODDS, SURE_ODDS, UNSURE_ODDS
from offhook.models.providers.builtin.turns.fact_turn import FactTurn
from offhook.models.providers.builtin.turns.node_turn import SURE_SCORE, RuleReply
from offhook.models.providers.builtin.turns.wish_turn import parts_of_opening

SURE_QUESTION: Final = 0.95
# After so many in a row the caller is handed to a person, where the graph has one.
MAX_MISSES: Final = 3
# "Where are you again?" and "what does it cost again?" are about the house, not about what was said.
_ASKS_PLACE: Final = re.compile(
    r"\bwhere (?:are|is) (?:you|it|that|the)\b|\b(?:costs?|price|how (?:much|many|long))\b", re.IGNORECASE
)

# "How long does it take? Because I would rather not wait."
_EXPLAINS: Final = re.compile(r"^(?:because|since|cause|as|it is just)\b")


class RuleTurn(FactTurn):
    """A turn that answers the caller or takes an edge."""

    def sentences(self) -> list[str]:
        """Returns the sentences whose meaning is compared in this turn; none while the caller has said nothing."""
        heard = self._latest_utterance()
        if heard is None:
            return []
        said = parse_utterance(heard)
        parts = parts_of_opening(said.heard) if self._hint.kind == "startCall" else []
        texts = (said.heard, said.standing, said.statement, *parts)
        return [*texts, *self._texts_of_acts(heard), *self.node_sentences()]

    def node_sentences(self) -> list[str]:
        """Returns the sentences of this node with which callers' words are compared."""
        return [
            *(phrase for edge in self._edges for phrase in (edge.label, edge.condition, *edge.examples)),
            *self._texts_of_acts(""),
            *self._facts.facts,
            *(rule.situation for rule in self._facts.rules),
            *(sentence for passage in self._hint.passages for sentence, _ in passage_quotes.split_sentences(passage)),
        ]

    def decide_reply(self) -> RuleReply:
        if self._hint.entered:
            return self._guard(self._reply_on_entry())
        reply = self._read_facts(self._follow_readings(self._guard(self._reply_at_node())))
        if reply.text == phrases.HOLDS and (answer := self._after_waiting()) is not None:
            return answer
        said = [message.content for message in self._messages if message.role == "assistant" and message.content]
        if reply.call is not None or not said:
            return reply
        if phrases.asks_again(word_tokens(self._latest_utterance() or "")):
            return reply
        return RuleReply(phrases.vary_sentence(reply.text, said[-1].strip()))

    def _after_waiting(self) -> RuleReply | None:
        """Returns the step of what is said after "hang on": "days. Hmm, let me think. No, nights, please"."""
        heard = self._latest_utterance() or ""
        rest = refusals.after_waiting(heard)
        if rest is None:
            return None
        earlier = list(self._messages)
        while earlier and earlier[-1].role == "user":
            earlier.pop()
        request = replace(self._request, messages=(*earlier, LlmMessage("user", rest)))
        turn = RuleTurn(request, self._meaning)
        if turn._odds().of("wait", "question", "unclear") >= UNSURE_ODDS:
            return None
        reply = turn.decide_reply()
        taken = next((edge for edge in self._edges if reply.call is not None and edge.tool == reply.call[0]), None)
        is_answer = taken is not None and (
            not taken.is_final or values_in(rest) or refusals.after_waiting(heard, is_sentence=True)
        )
        return reply if is_answer else None

    def _reply_at_node(self) -> RuleReply:
        if (result := self._fresh_result()) is not None:
            return self._after_tool(*result)
        heard = self._latest_utterance()
        if heard is None:
            return self._move_on() or RuleReply(self._current_question())
        return self._reply_to(heard)

    # -- entering -------------------------------------------------------------------------------------------------

    def _reply_on_entry(self) -> RuleReply:
        if (heard := self._latest_utterance()) is not None:
            said = parse_utterance(heard)
            if (
                ahead := self._answered_ahead(said)
                or self._rated_ahead(said)
                or self._given_ahead(said)
                or self._wished_ahead(said)
                or self._told_ahead(said)
                or self._walk_again(said)
                or self._leaves_ahead(said)
                or self._asked_for_first(said)
                or self._read_ahead(said)
            ) is not None:
                return ahead
            if self._has_no_room(said) and (offer := self._offer_of_hours(said)) is not None:
                return offer
            for tool in self._tools:
                required = tool.parameters.get("required") or ()
                found, missing = arguments.extract_arguments(tool.parameters, [heard], is_asked=False)
                if required and not missing and not arguments.is_too_short(tool.parameters, found):
                    return RuleReply(call=(tool.name, found))
            # "where is my parcel?" led here: a wish, which no document answers
            is_asked = said.is_question and (said.statement or not self._edges_since_heard())
            if is_asked and (quoted := self._quote_document(heard)) is not None:
                return quoted
        for tool in self._tools:
            if not tool.parameters.get("required") and tool.name in self._hint.prompt:
                # only an authored sentence: one made from the prompt would ask for what the tool is about to say
                return RuleReply(self._hint.say_text or "", (tool.name, {}))
        if not self._opening.rstrip().endswith("?") and (onward := self._unconditional_edge()) is not None:
            return RuleReply(self._opening, (onward.tool, {}))
        return RuleReply(phrases.drop_pleasantry(self._opening) if self._hint.is_revisit else self._opening)

    # -- answering ------------------------------------------------------------------------------------------------

    def _reply_to(self, heard: str) -> RuleReply:
        said = parse_utterance(heard)
        if not word_tokens(heard) and heard.isascii():
            return self._ask_again()
        for reply_with in (
            self._say_urgent,
            self._opt_out,
            self._say_again,
            self._say_back,
            self._reply_to_courtesy,
            self._leave_or_hand_over,
            self._say_closed,
            self._reply_to_question,
            self._take_up_values,
        ):
            if (reply := reply_with(said)) is not None:
                return reply
        return self._follow(said, heard)

    def _say_urgent(self, said: CallerUtterance) -> RuleReply | None:
        if (ways := self._edges_of_danger()) and persona_answers.names_danger(said.heard):
            return RuleReply(call=(ways[0].tool, {}))
        urgent = persona_answers.situation_sentence(said, self._facts, self._edges, self._meaning)
        if urgent is None or urgent == persona_answers.CALL_FOR_HELP:
            return None if urgent is None else RuleReply(urgent)
        return RuleReply(f"{urgent} {self._current_question()}")

    def _opt_out(self, said: CallerUtterance) -> RuleReply | None:
        ways = [edge for edge in self._edges if opts_out(edge)]
        return RuleReply(call=(ways[0].tool, {})) if len(ways) == 1 and asks_not_to_be_called(said.heard) else None

    def _leave_or_hand_over(self, said: CallerUtterance) -> RuleReply | None:
        """Takes the edge of a caller who plainly wants a person, or to go, whatever else is said beside it."""
        if self._odds().of("person", "leave", "later") < SURE_ODDS:
            return None
        has_value = any(self._values_said(said).values()) or spoken_values.all_digits(said.heard)
        # "I'm eighty-one and I don't get on with machines" gives no number
        asks_for_person = self._odds().of("person") >= SURE_ODDS and edge_matching.asks_for_person(said.heard)
        if said.is_correction or (has_value and self._odds().certainty < CERTAIN_ODDS and not asks_for_person):
            return None
        edge = self._edge_of_act(said)
        if edge is None or edge_polarity(edge) == "yes":
            return None
        return RuleReply(call=(edge.tool, {})) if self._outweighs(said, edge, self._choose(said)) else None

    def _reply_to_question(self, said: CallerUtterance) -> RuleReply | None:
        asks = said.is_question and not asks_not_to_be_called(said.heard)
        if asks and (answered := self._answer_question(said)) is not None:
            return answered
        return RuleReply(phrases.HOLDS) if said.only_waits and said.polarity is None else None

    def _take_up_values(self, said: CallerUtterance) -> RuleReply | None:
        text = said.statement or said.standing
        return (
            self._tool_for_number(text)
            or self._tool_for_number(said.standing)
            or self._offer_of_hours(said)
            or self._note_correction(said)
            or self._note_refusal(said)
        )

    def _follow(self, said: CallerUtterance, heard: str) -> RuleReply:
        """Takes the edge or calls the tool that is meant, quotes a document, or asks again."""
        text = said.statement or said.standing
        choice = edge_matching.edge_of_phrase(said.heard, self._edges) or self._choose(said)
        choice = choice or edge_named_first(said.standing, self._edges)
        is_open = choice is None or edge_matching.is_otherwise(choice.edge) or choice.score < SURE_SCORE
        leaves = refusals.puts_off(said.heard) and not (_lets_leave(choice) or _declines_offer(said, choice))
        if leaves and self._hint.kind != "startCall":
            return RuleReply(phrases.LETS_GO)
        if is_open and self._hint.kind != "startCall" and (said.wants_to_stop or self._leaves_midway(said)):
            return RuleReply(phrases.LETS_GO)
        if choice is not None and choice.score >= SURE_SCORE:
            return RuleReply(call=(choice.edge.tool, {}))
        if (tool := self._tool_for(text or said.heard)) is not None:
            return tool
        is_wish = choice is not None and (said.is_correction or any(self._values_said(said).values()))
        if not (is_wish or asks_not_to_be_called(said.heard)) and (quoted := self._quote_document(heard)) is not None:
            return quoted
        if choice is not None:
            return RuleReply(call=(choice.edge.tool, {}))
        if said.asks_to_wait:
            return RuleReply(phrases.HOLDS)
        if (done := self._edge_of_act(said) or self._edge_of_request(said) or self._edge_of_part(said)) is not None:
            return RuleReply(call=(done.tool, {}))
        if said.says_little and spoken_values.first_number(text) is None:
            return RuleReply(f"{persona_answers.UNKNOWN} {self._current_question()}")
        if (more := self._ask_missing_number(text)) is not None:
            return more
        # without variables there is nothing that a correction could change but the answer to this question
        is_answer = not self._hint.known_variables or not (said.is_modified or said.is_correction)
        is_answer = is_answer or bool(content_stems(said.standing) and not values_in(said.standing))
        if is_answer and (only := self._only_edge(text)) is not None:
            return RuleReply(call=(only.tool, {}))
        return self._ask_again()

    def _choose(self, said: CallerUtterance) -> EdgeMatch | None:
        """Returns the edge for what stands: a yes with a "but", or with another value, is no yes."""
        text = said.statement or said.standing
        edges = self._edges
        if said.refused and not content_stems(text):
            # "I can't make it tomorrow" says what is wrong, not which day
            edges = tuple(edge for edge in edges if not edge_values.asked_value_kinds(edge))
            return edge_matching.choose_edge(said.heard, edges) if edges and said.polarity != "yes" else None
        if not text or edge_values.is_off_scale(text, edges):
            return None
        if (by_value := self._edge_by_value(said, text)) is not None:
            return by_value
        if said.is_question and not said.statement and not said.wants_change:
            # a question is no answer, unless it says an edge's words
            meant = edge_matching.choose_edge(text, edges)
            is_sure = meant is not None and meant.score >= SURE_QUESTION and not meant.is_by_value
            return meant if is_sure else self._edge_to_more(said)
        if said.denied:
            edges = edge_matching.without_denied(said.denied, edges)
        if said.is_goodbye and (closing := edge_matching.closing_edge(edges)) is not None:
            return EdgeMatch(closing, SURE_SCORE)
        if said.is_goodbye and self._times_asked() > 0:
            # "okay, thanks, bye" of a caller who was not understood is no yes
            edges = tuple(edge for edge in edges if edge_polarity(edge) != "yes")
        at_stake = self._kinds_at_stake()
        changes = said.is_modified or (
            said.polarity != "no"
            and (said.is_correction or self._wants_other_value(said))
            and bool(at_stake)
            and any(edge_polarity(edge) == "yes" for edge in edges)
        )
        if changes:
            edges = tuple(edge for edge in edges if edge_polarity(edge) != "yes")
            if at_stake and (altering := self._altering_edge(said, edges)) is not None:
                return EdgeMatch(altering, SURE_SCORE)
        if (wished := self._edge_beside_denied(said, edges) or self._edge_of_wish(said, edges)) is not None:
            return wished
        chosen = edge_matching.choose_edge(text, edges, self._meaning)
        if chosen is None and text != said.heard and not any(edge.examples for edge in edges):
            # what was taken out may be the answer: "oh wait, no, don't block it, my wife just found it"
            chosen = edge_matching.choose_edge(said.heard, edges, self._meaning)
        return (
            edge_said_outright(said, chosen, self._edges)
            or self._edge_of_new_value(said)
            or self._edge_of_that(said)
            or self._edge_to_more(said)
        )

    def _answer_question(self, said: CallerUtterance) -> RuleReply | None:
        """Answers a question in between and asks our own again; a wish beside it is followed."""
        question = self._current_question()
        introduced = self._facts.introduce(said.heard)
        person = edge_matching.person_edge(self._edges)
        if introduced is not None and said.statement:
            # "Is this a robot? I want a human.", "who is this? You have the wrong person."
            wanted = edge_matching.choose_edge(said.statement, self._edges)
            is_other = wanted is not None and (wanted.edge is person or wanted.edge.is_final)
            if wanted is not None and is_other and wanted.score >= SURE_SCORE:
                return RuleReply(call=(wanted.edge.tool, {}))
        if introduced is not None:
            agreed = self._choose(said) if said.polarity == "yes" and said.statement else None
            is_agreed = agreed is not None and edge_polarity(agreed.edge) == "yes" and not agreed.edge.is_final
            if agreed is not None and is_agreed:
                return RuleReply(f"{introduced} ", (agreed.edge.tool, {}))
            return RuleReply(f"{introduced} {question}")
        if phrases.asks_to_repeat(said.heard) and not _ASKS_PLACE.search(said.heard):
            return RuleReply(self._opening)
        meant = edge_matching.choose_edge(said.heard, _ways_of_questions(self._edges), self._meaning)
        if meant is not None and meant.score >= SURE_SCORE:
            return RuleReply(call=(meant.edge.tool, {}))
        fact = phrases.small_talk(said.heard) or persona_answers.answer_question(said.heard, self._facts, self._meaning)
        if fact is None:
            return None
        quoted = self._quote_passage(said.heard)
        if quoted is not None and self._answers_better(said.heard, quoted, fact):
            fact = quoted
        is_reason = _EXPLAINS.match(said.statement) is not None
        wish = self._choose(said) if said.statement and not said.is_modified and not is_reason else None
        is_visit = self._hint.kind == "startCall" and any(self._values_said(said).values())
        if wish is not None and (wish.score >= SURE_SCORE or (is_visit and not wish.edge.is_final)):
            return RuleReply(f"{fact} ", (wish.edge.tool, {}))
        return RuleReply(f"{fact} {question}")

    def _ask_again(self) -> RuleReply:
        attempts = self._times_asked()
        person = edge_matching.person_edge(self._edges)
        if attempts >= MAX_MISSES - 1 and person is not None:
            return RuleReply(phrases.GIVES_UP, (person.tool, {}))
        missing = self._missing_parameter()
        if missing is not None and attempts < 2:
            return RuleReply(phrases.reprompt_sentence(attempts, missing, ()))
        return RuleReply(phrases.reprompt_sentence(attempts, self._current_question(), self._edges))

    def _move_on(self) -> RuleReply | None:
        onward = self._unconditional_edge()
        return None if onward is None else RuleReply(call=(onward.tool, {}))


def _ways_of_questions(edges: Sequence[EdgeHint]) -> list[EdgeHint]:
    """Returns the edges that a question takes, with only the questions of those that are not about one.

    "Does the night shift pay more?" is no answer to "days or nights?", though "when everybody is asleep" is one.
    """
    return [
        edge
        if is_about_question(edge.condition)
        else replace(edge, label="", condition="", examples=tuple(filter(asks_question, edge.examples)))
        for edge in edge_matching.question_edges(edges)
    ]


def _lets_leave(choice: EdgeMatch | None) -> bool:
    """Returns True for an edge that is meant for who has no time now, or wants nothing."""
    return choice is not None and choice.edge.is_final and not edge_matching.is_person(choice.edge)


def _declines_offer(said: CallerUtterance, choice: EdgeMatch | None) -> bool:
    """Returns True for "I'll hold off for now" where a no leads on, and to no other day."""
    if choice is None or edge_polarity(choice.edge) != "no":
        return False
    return refusals.holds_off(said.heard) and not edge_matching.is_about_change(choice.edge)
