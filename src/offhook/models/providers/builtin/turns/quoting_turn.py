"""Answers questions out of documents, and takes the ways that an author has drawn for danger."""

from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import passage_quotes, persona_answers, phrases
from offhook.models.providers.builtin.turns.guarded_turn import GuardedTurn
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.tool_turn import ANYTHING_ELSE

# What an author tells the agent itself goes before a document that answers as well.
MIN_LEAD_OF_DOCUMENTS: Final = 0.15


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
