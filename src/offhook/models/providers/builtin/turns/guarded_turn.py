"""Withholds steps that a caller's words do not carry: what ends the call, and what is kept of a value."""

import re
from typing import Final

from offhook.kit.opt_out_sentences import asks_not_to_be_called
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import (
    arguments,
    denied_edges,
    edge_matching,
    edge_values,
    final_edges,
    persona_answers,
    phrases,
)
from offhook.models.providers.builtin.acts.edge_acts import opts_out
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english import assent, names, offered_options, refusals, spoken_values
from offhook.models.providers.builtin.english.choices import drop_mentions
from offhook.models.providers.builtin.english.numbers.ratings import is_only_number
from offhook.models.providers.builtin.english.overlap import CONTAINED, phrase_fit
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.turns.act_turn import LIKELY_ODDS, NO_ODDS, SURE_ODDS, ActTurn
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.value_kinds import kind_of

# So many times a value is asked for once more; then the call goes on without it.
MAX_VALUE_REQUESTS: Final = 2
# Of an edge that commits a caller to nothing.
_DECLINING: Final = frozenset({"later", "person"})
_BEGINS_WITH_NO: Final = re.compile(r"\W*(?:no|nope|nah)\b", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(
    r"\b(?:wrong|not the right) (?:person|number)\b|\bsome(?:one|body) else\b|\bnot (?:here|there|at home|available)\b",
    re.IGNORECASE,
)
# "Monday... hmm, no, I'd need longer than that": the day before it is none.
_THEN_NO: Final = re.compile(
    r"[,.;!?\u2026]\W*(?:(?:hmm+|oh|ah|well|wait|sorry)\W+)*no\W+(?=(?:i|we|that|it)\b)", re.IGNORECASE
)
_ASKS_WHO: Final = re.compile(
    r"\b(?:am i (?:speaking|talking)|is (?:this|that) (?!right|correct|okay|ok|fine)|may i speak|can i speak)\b",
    re.IGNORECASE,
)
_SOMEONE_ELSE: Final = re.compile(
    r"\b(?:he|his|him|she|her|they|behalf|husband|wife|son|daughter|mother|father|mom|dad|brother|sister|roommate|partner|boss)\b"
)
_RETURNS: Final = re.compile(r"\b(?:return|money back|send \w+ back)\b", re.IGNORECASE)
_IS_ME: Final = re.compile(
    r"\b(?:this|that|it) (?:is|would be) (?:he|she|him|her)\b|\bi am (?:he|she|him|her|the one)\b|\b(?:got|reached|found|(?:speaking|talking) (?:to|with)) (?:him|her)\b"
)


class GuardedTurn(ActTurn):
    """A turn that takes an edge only when everything that was said belongs to it."""

    def _guard(self, reply: RuleReply, *, is_sure: bool = False, is_certain: bool = False) -> RuleReply:
        """Returns a reply, or one that asks again instead of a step that the caller's words leave open. Where the models are sure
        that the caller declines, or certain of a step that ends nothing, it is not asked whether the words carry it."""
        heard = self._latest_utterance()
        taken = reply.call[0] if reply.call is not None else None
        edge = next((edge for edge in self._edges if edge.tool == taken), None)
        if edge is None or heard is None or reply.text == phrases.GIVES_UP or edge_matching.is_unconditional(edge):
            return reply
        if self._fresh_result() is not None:
            return reply
        said = parse_utterance(heard)
        if not self._hint.entered and self._is_denied(said, edge):
            return self._follow_denial(reply, said, edge)
        declines = is_sure and self._commits_to_nothing(edge, said) and final_edges.may_decline(said, edge)
        if edge.is_final and not declines and not self._is_carried(said, edge):
            meant = None if self._hint.entered else self._edge_instead(said, edge)
            return (
                self._ask_for_decision(reply, said)
                if meant is None or meant is edge
                else RuleReply(call=(meant.tool, {}))
            )
        is_certain = is_certain and not (said.is_question or said.asks_to_wait or self._lacks_value(said, edge))
        if not self._hint.entered and self._is_of_someone_else(said, edge):
            return RuleReply(f"{phrases.TO_BE_SURE} {self._current_question()}")
        if not self._hint.entered and not is_certain and (doubt := self._doubt_step(reply, said, edge)) is not None:
            return doubt
        if not edge.is_final and self._mentions_only(said, edge):
            return self._ask_for_value(phrases.TO_BE_SURE)
        if not self._hint.entered and (missing := self._missing_value(said, edge)) is not None:
            return self._ask_for_value(missing)
        return reply

    def _doubt_step(self, reply: RuleReply, said: CallerUtterance, edge: EdgeHint) -> RuleReply | None:
        """Returns what is said instead of a step that the words leave open; None where they do not."""
        if edge.is_final:
            return None
        if self._speaks_against(said, edge):
            return self._answer_otherwise(reply, said, edge)
        if self._is_doubtful_yes(said, edge):
            return RuleReply(f"{phrases.TO_BE_SURE} {self._current_question()}")
        if self._answers_otherwise(said, edge):
            return RuleReply(f"{phrases.TO_BE_SURE} {self._asked_again()}")
        return None

    def _commits_to_nothing(self, edge: EdgeHint, said: CallerUtterance) -> bool:
        acts = self._acts_of(edge)
        is_farewell = "leave" in acts and _BEGINS_WITH_NO.match(said.heard) is not None
        return (
            bool(acts & _DECLINING) or is_farewell or _OF_OTHERS.search(f"{edge.label}. {edge.condition}") is not None
        )

    def _is_denied(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True where an edge's own words are denied, or behind a no those of the yes are said word by word."""
        if edge_values.is_scale(self._edges):
            # "not quite a five, a four" denies no four
            return False
        if denied_edges.is_denied(said.heard, edge):
            return True
        others = [other for other in self._edges if edge_polarity(other) == "yes"]
        return edge_polarity(edge) == "no" and any(denied_edges.says_phrase_of(said.heard, other) for other in others)

    def _follow_denial(self, reply: RuleReply, said: CallerUtterance, edge: EdgeHint) -> RuleReply:
        """Takes the yes of who denies what a no means: "no, we don't rent" to "do you own it?"."""
        ways = [other for other in self._edges if edge_polarity(other) == "yes"]
        is_yes = edge_polarity(edge) == "no" and len(ways) == 1 and not ways[0].is_final
        if is_yes and not denied_edges.is_denied(said.heard, ways[0]):
            return RuleReply(reply.text, (ways[0].tool, {}))
        return self._ask_for_decision(reply, said)

    def _edge_instead(self, said: CallerUtterance, edge: EdgeHint) -> EdgeHint | None:
        """Returns the edge of what the caller does, or asks for, instead of one that ends the call."""
        meant = self._edge_of_act(said) or self._edge_of_request(said, edge)
        return None if meant is None or self._is_of_someone_else(said, meant) else meant

    def _is_carried(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        if self._edge_of_courtesy(said) is edge or (opts_out(edge) and asks_not_to_be_called(said.heard)):
            return True
        told = f"{self._opening} {self._last_sentence()}"
        if self._mentions_only(said, edge) or self._lacks_value(said, edge):
            return False
        is_carried = final_edges.is_carried_by(said, edge, told=told, is_asked_again=self._times_asked() > 0)
        if final_edges.is_written(said, edge) or not self._odds():
            return is_carried
        if edge_matching.is_otherwise(edge):
            return is_carried or (bool(content_stems(said.heard)) and self._odds().of("answer", "no") >= LIKELY_ODDS)
        acts = self._acts_of(edge)
        return not self._is_otherwise_meant(said, edge, acts) if is_carried else self._is_sure_of(said, edge, acts)

    def _ask_for_decision(self, reply: RuleReply, said: CallerUtterance) -> RuleReply:
        if self._hint.entered:
            return RuleReply(self._opening)
        if reply.text:
            return RuleReply(f"{reply.text.strip()} {self._current_question()}")
        if said.asks_to_wait:
            return RuleReply(phrases.HOLDS)
        if said.is_question:
            return RuleReply(f"{persona_answers.UNKNOWN} {self._current_question()}")
        return RuleReply(f"{phrases.TO_BE_SURE} {self._current_question()}")

    def _answer_otherwise(self, reply: RuleReply, said: CallerUtterance, edge: EdgeHint) -> RuleReply:
        """Follows what the caller does instead of taking an edge."""
        meant = self._edge_of_act(said)
        if meant is not None and meant is not edge:
            return RuleReply(call=(meant.tool, {}))
        if self._odds().of("wait") >= SURE_ODDS:
            return RuleReply(phrases.HOLDS)
        return self._ask_for_decision(reply, said)

    def _ask_for_value(self, opener: str) -> RuleReply:
        if self._hint.entered:
            return RuleReply(self._opening)
        return RuleReply(f"{opener} {self._asked_again()}")

    def _is_of_someone_else(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True for a yes that is another person's: "yes, this is his number" to "am I speaking with Alex?"."""
        if edge_polarity(edge) != "yes":
            return False
        words = " ".join(word_tokens(said.heard))
        is_other = self._asks_who() and _SOMEONE_ELSE.search(_IS_ME.sub("", words)) is not None
        return is_other or assent.concerns_others(words)

    def _asks_who(self) -> bool:
        return _ASKS_WHO.search(self._opening) is not None

    def _is_doubtful_yes(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True for words that share some with a yes of this node, and are none: "I turn eighteen in March"."""
        if edge_polarity(edge) != "yes" or said.polarity is not None or not self._keeps_truth():
            return False
        return assent.is_not_yet(said.heard)

    def _answers_otherwise(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True for words that share some with an edge and are another answer, or none.

        "Not today, thanks, I have a dentist" books nothing, "take your time" names no time, "I'd rather not say" is no
        "no", and "like a three" is no topic.
        """
        polarity = edge_polarity(edge)
        is_wish = assent.wants_to_go_on(said.heard) or said.is_question or said.polarity == "yes"
        is_left = edge_matching.is_closing(edge) or polarity == "no" or is_wish
        is_asked = edge in edge_matching.question_edges(self._edges)
        if self._hint.kind == "startCall" and not is_left and not is_asked and refusals.declines(said.heard):
            return True
        if polarity is None and _RETURNS.search(edge.condition) and refusals.keeps_it(said.heard):
            return True
        if self._lacks_value(said, edge) and not self._picks(said, edge):
            return True
        if polarity is not None and self._keeps_truth() and refusals.withholds_answer(said.heard):
            return True
        return edge_matching.is_otherwise(edge) and self._asked_for_number() and is_only_number(said.heard)

    def _picks(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True for one of what was offered that is chosen without its name: "the earliest", "any day"."""
        if edge_matching.is_about_change(edge) or edge_matching.is_person(edge):
            return True
        if edge_matching.edge_of_phrase(said.heard, self._edges) is not None:
            return True
        return refusals.picks_any(said.heard) and not (said.is_question and not said.statement)

    def _leaves_midway(self, said: CallerUtterance) -> bool:
        """Returns True for who has to go in the middle of a call: "my bus is here, can we do this another day?"."""
        odds = self._odds()
        is_left = odds.of("leave", "later") >= SURE_ODDS and odds.of("answer", "change", "request") < NO_ODDS
        if len(self._edges) == 1 or said.polarity == "yes":
            # what is said there may be the answer: "maybe give me a ring in June"
            return False
        return is_left and not any(self._values_said(said).values()) and self._edge_of_act(said) is None

    def _asked_for_number(self) -> bool:
        return any(variable.get("type") in ("integer", "number") for variable in self._hint.known_variables)

    def _kinds_kept(self) -> dict[str, str]:
        """Returns the kinds of value that this node keeps, each with its description."""
        described = {
            f"{v.get('name')}": str(v.get("prompt") or "")
            for v in self._hint.variables
            if v.get("type", "string") == "string"
        }
        kinds = {kind_of(name, prompt): f"{name.replace('_', ' ')} {prompt}" for name, prompt in described.items()}
        return {kind: about for kind, about in kinds.items() if kind}

    def _mentions_only(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True where the day or the time that takes an edge is mentioned and not chosen."""
        if edge_polarity(edge) == "no" or edge_matching.is_about_change(edge) or edge_matching.is_person(edge):
            return False
        kinds = edge_values.asked_value_kinds(edge) & set(self._kinds_kept())
        if not kinds:
            return False
        text = said.statement or said.standing
        chosen = drop_mentions(text, self._known_words(edge))
        if chosen == text:
            return False
        named = {
            "day": (spoken_values.day_phrase(text), spoken_values.day_phrase(chosen)),
            "time": (spoken_values.time_of_day(text), spoken_values.time_of_day(chosen)),
        }
        return any(named[kind][0] is not None and named[kind][1] is None for kind in kinds)

    def _lacks_value(self, said: CallerUtterance, edge: EdgeHint) -> bool:
        """Returns True where an edge that ends the call is taken by a day or a time, and none is named."""
        kinds = edge_values.asked_value_kinds(edge) & set(self._kinds_kept())
        taken_back = _THEN_NO.search(said.heard)
        text = said.heard[taken_back.end() :] if taken_back is not None else said.statement or said.standing
        named = {"day": offered_options.answered_day(text), "time": spoken_values.time_of_day(text)}
        return bool(kinds) and not any(named[kind] for kind in kinds)

    def _known_words(self, edge: EdgeHint) -> str:
        return ". ".join((self._opening, self._last_sentence(), edge.label, *edge.examples))

    def _missing_value(self, said: CallerUtterance, edge: EdgeHint) -> str | None:
        """Returns how to ask again where an answer has not the value that this node is for; None when it has it."""
        if (
            self._times_asked() >= MAX_VALUE_REQUESTS
            or edge_matching.is_person(edge)
            or edge_polarity(edge) is not None
        ):
            return None
        if edge_matching.is_about_change(edge) or not edge_matching.takes_any_answer(edge):
            return None
        kept = self._kinds_kept()
        text = said.statement or said.standing
        if refusals.withholds_value(self._latest_utterance() or ""):
            # once it is asked for all the same; who says so again is not asked a third time
            return phrases.UNDERSTANDS if self._times_asked() == 0 else None
        if "digits" in kept:
            return self._missing_digits(text, said, edge, kept["digits"])
        # "her name's Ana": what stands of it has lost the sign
        if "name" in kept and not any(map(names.person_name, (text, said.heard))):
            return phrases.REPROMPTS[self._times_asked()]
        return None

    def _missing_digits(self, text: str, said: CallerUtterance, edge: EdgeHint, about: str) -> str | None:
        digits = spoken_values.all_digits(text)
        if len(digits) >= arguments.min_digits(about):
            return None
        plain = [example for example in edge.examples if not spoken_values.all_digits(example)]
        if not digits and phrase_fit(said.heard, plain) >= CONTAINED:
            return None
        return phrases.WHOLE_NUMBER if digits else phrases.REPROMPTS[self._times_asked()]
