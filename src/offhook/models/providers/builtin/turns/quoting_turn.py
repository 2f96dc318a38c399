"""Answers questions out of documents, says back what was understood, and takes the ways that an author has drawn for danger."""

from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import edge_values, passage_quotes, persona_answers, phrases
from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.utterance import CallerUtterance
from offhook.models.providers.builtin.turns.guarded_turn import GuardedTurn
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.tool_turn import ANYTHING_ELSE

# What an author tells the agent itself goes before a document that answers as well.
MIN_LEAD_OF_DOCUMENTS: Final = 0.15
# Fewer are no number that a caller gave.
MIN_DIGITS_BACK: Final = 4


class QuotingTurn(GuardedTurn):
    """A turn that quotes what an author has written."""

    def _edges_of_danger(self) -> list[EdgeHint]:
        """Returns the edges that an author has drawn for danger to life."""
        return [edge for edge in self._edges if persona_answers.names_danger(". ".join((edge.label, edge.condition)))]

    def _quote_document(self, heard: str) -> RuleReply | None:
        """Answers a question out of the documents and asks our own again, a greeting's in other words."""
        quoted = self._quote_passage(heard)
        if quoted is None:
            return None
        question = ANYTHING_ELSE if phrases.offers_help(self._opening) else self._current_question()
        return RuleReply(f"{quoted} {question}" if question.endswith("?") else quoted)

    def _quote_passage(self, heard: str) -> str | None:
        return passage_quotes.quote_passage(
            heard,
            self._hint.passages,
            lambda sentence: self._meaning.similarity(heard, sentence) + persona_answers.name_cue(heard, sentence),
        )

    def _answers_better(self, heard: str, quoted: str, fact: str) -> bool:
        quoted_score, fact_score = (
            persona_answers.score_answer(heard, sentence, self._meaning) for sentence in (quoted, fact)
        )
        return quoted_score > fact_score + MIN_LEAD_OF_DOCUMENTS

    def _say_back(self, said: CallerUtterance) -> RuleReply | None:
        """Handles "wait, what number did you get?": what was understood is in what the agent has said since."""
        if not phrases.asks_back(said.heard) or said.is_correction:
            return None
        last = self._last_sentence()
        if len(spoken_values.all_digits(last)) >= MIN_DIGITS_BACK:
            return RuleReply(last)
        is_named = spoken_values.day_phrase(self._opening) or spoken_values.clock_time(self._opening)
        return RuleReply(self._opening) if is_named and not edge_values.names_weekdays(self._opening) else None
