"""Answers questions from documents, repeats what was understood, and takes the edges that an author has drawn for
danger."""

import re
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import arguments, edge_values, passage_quotes, persona_answers, phrases
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.english.words import content_stems, word_tokens
from offhook.models.providers.builtin.turns.guarded_turn import GuardedTurn
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.tool_turn import ANYTHING_ELSE

# What an author tells the agent itself goes before a document that answers as well.
MIN_LEAD_OF_DOCUMENTS: Final = 0.15
# Where both have what is asked for.
MIN_LEAD_IN_MEANING: Final = 0.08
TOPIC_LETTERS: Final = 5
# Fewer are no number that a caller gave.
MIN_DIGITS_BACK: Final = 4
_WEEKDAY: Final = rf"(?:{'|'.join(spoken_values.WEEKDAYS)})s?"
_CLOSED: Final = re.compile(
    rf"\bclosed (?:on )?(?P<days>{_WEEKDAY}(?:(?:,| and| or|, and)? (?:on )?{_WEEKDAY})*)", re.IGNORECASE
)
_ASKS_DAY: Final = re.compile(r"\b(?:day|when|date)\b", re.IGNORECASE)
_NAME_AND_NUMBER: Final = re.compile(
    r"\bname\b.* and .*\b(?:phone|telephone|mobile|cell|contact)?(?: phone)? ?number\b", re.IGNORECASE
)
_MONEY_BACK: Final = re.compile(
    r"\b(?P<get>get|have|want|need|receive|see) (?:my|the|our|all my) money (?:back|returned|again)\b", re.IGNORECASE
)


class QuotingTurn(GuardedTurn):
    """A turn that quotes what an author has written."""

    def _edges_of_danger(self) -> list[EdgeHint]:
        """Returns the edges that an author has drawn for danger to life."""
        return [edge for edge in self._edges if persona_answers.names_danger(". ".join((edge.label, edge.condition)))]

    def _quote_document(self, heard: str) -> RuleReply | None:
        """Answers a question out of the documents and asks our own again, a greeting's in other words."""
        quoted = self._quote_passage(heard)
        return None if quoted is None else self._with_question(quoted)

    def _with_question(self, quoted: str) -> RuleReply:
        """Returns what answers and our own question again, a greeting's in other words."""
        question = ANYTHING_ELSE if phrases.offers_help(self._opening) else self._current_question()
        return RuleReply(f"{quoted} {question}" if question.endswith("?") else quoted)

    def _quote_passage(self, heard: str) -> str | None:
        asked = _asks_refund(heard)
        return passage_quotes.quote_passage(
            asked,
            self._hint.passages,
            lambda sentence: self._meaning.similarity(heard, sentence) + persona_answers.name_cue(heard, sentence),
        )

    def _say_closed(self, said: CallerUtterance) -> RuleReply | None:
        """Says so where a caller names a day on which the author's house is closed: "could I come by on Sunday?"."""
        day = (spoken_values.day_phrase(said.standing) or "").lower()
        if not day or _ASKS_DAY.search(self._current_question()) is None:
            return None
        for fact in self._facts.facts:
            closed = _CLOSED.search(fact)
            if closed is not None and any(
                name in day and name in closed["days"].lower() for name in spoken_values.WEEKDAYS
            ):
                return RuleReply(f"{fact} {self._current_question()}")
        return None

    def _answers_better(self, heard: str, quoted: str, fact: str) -> bool:
        quoted_score, fact_score = (
            persona_answers.score_answer(heard, sentence, self._meaning) for sentence in (quoted, fact)
        )
        if quoted_score > fact_score + MIN_LEAD_OF_DOCUMENTS:
            return True
        # Both have what is asked for, an amount or a time, and one is about what it is asked of: a refund, canceling.
        has_topic = bool(shared_topics(heard, quoted) - _topics_of(fact))
        has_cue = persona_answers.name_cue(heard, quoted) >= persona_answers.name_cue(heard, fact)
        nearer = self._meaning.similarity(heard, quoted) - self._meaning.similarity(heard, fact)
        return has_topic and has_cue and nearer >= MIN_LEAD_IN_MEANING

    def _say_back(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "wait, what number did you get?": what was understood is in what the agent has said since."""
        if not phrases.asks_back(said.heard) or said.is_correction:
            return None
        last = self._last_sentence()
        if len(spoken_values.all_digits(last)) >= MIN_DIGITS_BACK:
            return RuleReply(last)
        is_named = spoken_values.day_phrase(self._opening) or spoken_values.clock_time(self._opening)
        return RuleReply(self._opening) if is_named and not edge_values.names_weekdays(self._opening) else None

    def _ask_missing_number(self, heard: str) -> RuleReply | None:
        """Asks for the number, where one question asked for a name and a number and the caller gave only the name."""
        last = next((message.content for message in reversed(self._messages) if message.role == "assistant"), "")
        asks_both = _NAME_AND_NUMBER.search(self._current_question()) is not None
        if not asks_both or len(self._edges) != 1 or last == phrases.AND_NUMBER or not content_stems(heard):
            return None
        return None if spoken_values.first_number(heard) is not None else RuleReply(phrases.AND_NUMBER)

    def _fits_variables(self, heard: str) -> bool:
        """Returns True when the answer has a value that the node wants."""
        for variable in self._hint.variables:
            name, prompt = str(variable.get("name") or ""), str(variable.get("prompt") or "")
            schema = {"type": variable.get("type") or "string", "description": prompt}
            if arguments.value_of(heard, name, schema, may_be_whole=True) is not None:
                return True
        return False


def _asks_refund(heard: str) -> str:
    return _MONEY_BACK.sub(r"\g<get> a refund", heard)


def shared_topics(heard: str, fact: str) -> set[str]:
    """Returns the beginnings of the longer words that a question and a fact share."""
    return _topics_of(_asks_refund(heard)) & _topics_of(fact)


def _topics_of(text: str) -> set[str]:
    """Returns the beginnings of the longer words; what is sent back and what is paid back are one stem, and two topics."""
    return {word[:TOPIC_LETTERS] for word in word_tokens(text) if len(word) >= TOPIC_LETTERS}
