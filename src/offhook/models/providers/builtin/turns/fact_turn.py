"""Answers a question with the fact that the model which reads edges takes for its answer."""

import math
from typing import Final

from offhook.models.edge_reading import ASKS_FACT, AnswerToRead, EdgeText
from offhook.models.providers.builtin import passage_quotes, persona_answers, phrases
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import word_tokens
from offhook.models.providers.builtin.turns.ahead_turn import AheadTurn
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.quoting_turn import shared_topics

# Chosen on conversations that the model was not trained on (docs/decisions/0136-read-facts.md): of a fact where the
# rules know none, instead of the one that they quote, and beside an edge that is taken.
MIN_FACT: Final = 0.45
MIN_FACT_INSTEAD: Final = 0.5
MIN_FACT_BESIDE: Final = 0.85
# How many times as probable it is as the one that the rules quote.
MIN_LEAD_OF_FACT: Final = 3.0
# The rules' scores differ by as much as 1.
LEAD_OF_SCORE: Final = 10.0
# That no fact answers, where the rules quote one.
MIN_NO_FACT: Final = 0.97
# More facts are not read at once.
MAX_FACTS: Final = 8
# Of those, the nearest in meaning alone.
MIN_NEAREST: Final = 3
# Two sentences that are as near tell the same.
SAME_FACT: Final = 0.9
# Without the model. Of the only sentence that is near a question: of questions about nothing that a document tells, none
# is above 0.26.
MIN_NEARNESS_OF_QUOTE: Final = 0.36
MIN_LEAD_OF_QUOTE: Final = 0.03


class FactTurn(AheadTurn):
    """A turn that reads which of an author's facts answers a question."""

    def _read_facts(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or one with the fact that probably answers: instead of another one, of "I don't have that
        information" and of a question that is asked again, or beside an edge.
        """
        heard = self._latest_utterance()
        if heard is None or self._hint.entered or persona_answers.names_danger(heard):
            return reply
        said = parse_utterance(heard)
        quoted = None if self._repeats(heard) else self._quoted_fact(reply)
        is_open = reply.call is None and said.is_question and self._asks_on(reply)
        is_beside = not reply.text and said.is_question and not self._is_ending(reply)
        if quoted is None and not is_open and not is_beside:
            return reply
        facts = self._facts_to_read(heard)
        asked = AnswerToRead(ASKS_FACT, heard, tuple(EdgeText(fact) for fact in facts), is_second=True)
        odds = self._meaning.readings.odds(asked) if facts else None
        if odds is None:
            return self._quote_nearest(reply)
        best = max(zip(odds, facts, strict=False))
        if quoted is not None:
            of_quoted = odds[facts.index(quoted)] if quoted in facts else 0.0
            if shared_topics(heard, quoted) - shared_topics(heard, best[1]):
                return reply  # "refund" is asked, and said in what the rules quote
            lead = self._lead_of_rules(heard, quoted, best[1])
            return self._with_other_fact(reply, quoted, best, of_quoted * lead, odds[-1])
        if reply.call is not None:
            return self._with_fact_beside(reply, said, best)
        return self._with_question(_sentence(best[1])) if best[0] >= MIN_FACT else self._quote_nearest(reply)

    def _quoted_fact(self, reply: RuleReply) -> str | None:
        return next((fact for fact in self._known_facts() if _begins_with(reply.text, fact)), None)

    @staticmethod
    def _repeats(heard: str) -> bool:
        """Returns True where what we said is to be repeated."""
        return phrases.asks_to_repeat(heard) or phrases.asks_again(word_tokens(heard)) or phrases.asks_back(heard)

    def _with_fact_beside(self, reply: RuleReply, said: CallerUtterance, best: tuple[float, str]) -> RuleReply:
        """Returns a reply that takes an edge, with what was asked beside; where any answer leads on, a question is none."""
        if len(self._edges) == 1 and not said.statement and best[0] >= MIN_FACT:
            return self._with_question(_sentence(best[1]))
        is_named = said.statement and persona_answers.name_cue(said.heard, best[1]) > 0
        least = MIN_FACT_INSTEAD if is_named else MIN_FACT_BESIDE
        return RuleReply(f"{_sentence(best[1])} ", reply.call) if best[0] >= least else reply

    @staticmethod
    def _with_other_fact(
        reply: RuleReply, quoted: str, likeliest: tuple[float, str], of_quoted: float, of_none: float
    ) -> RuleReply:
        """``likeliest``: the highest odds, and whose; ``of_quoted`` and ``of_none`` are odds as well."""
        probability, best = likeliest
        rest = reply.text[len(_stem(quoted)) :].lstrip(".!?")
        if best != quoted and probability >= max(MIN_FACT_INSTEAD, MIN_LEAD_OF_FACT * of_quoted):
            return RuleReply(f"{_sentence(best)}{rest}", reply.call)
        if of_none >= MIN_NO_FACT:
            return RuleReply("" if reply.call is not None else f"{persona_answers.UNKNOWN}{rest}", reply.call)
        return reply

    def _lead_of_rules(self, heard: str, quoted: str, other: str) -> float:
        """Returns how much more the rules think of the fact that they quote: words and what is asked for count."""
        scores = [persona_answers.score_answer(heard, fact, self._meaning) for fact in (quoted, other)]
        return math.exp(LEAD_OF_SCORE * (scores[0] - scores[1]))

    def _is_ending(self, reply: RuleReply) -> bool:
        edge = self._edge_taken(reply)
        return edge is None or edge.is_final

    def _known_facts(self) -> list[str]:
        """Returns the author's facts and the sentences of the passages that were found."""
        quotable = [
            sentence for passage in self._hint.passages for sentence, _ in passage_quotes.split_sentences(passage)
        ]
        return list(dict.fromkeys((*self._facts.facts, *quotable)))

    def _facts_to_read(self, heard: str) -> list[str]:
        """Returns the facts that may answer: by meaning, words and what is asked for, and some by meaning alone."""
        known = self._known_facts()
        by_all = sorted(known, key=lambda fact: -persona_answers.score_answer(heard, fact, self._meaning))
        by_meaning = sorted(known, key=lambda fact: -self._meaning.similarity(heard, fact))
        chosen: list[str] = []
        for fact in (*by_meaning[:MIN_NEAREST], *by_all):
            # what a persona and a document both tell would share its odds
            if not any(fact == one or self._meaning.similarity(fact, one) >= SAME_FACT for one in chosen):
                chosen.append(fact)
        return chosen[:MAX_FACTS]

    def _quote_nearest(self, reply: RuleReply) -> RuleReply:
        """Returns a reply, or the sentence nearest in meaning to a question that would be asked again: "how soon would I
        see the cash?" shares no word with "refunds reach your card within seven days"."""
        heard = self._latest_utterance() or ""
        if reply.call is not None or not self._asks_on(reply) or not parse_utterance(heard).is_question:
            return reply
        found = [sentence for passage in self._hint.passages for sentence in passage_quotes.split_sentences(passage)]
        near = sorted(
            ((self._meaning.similarity(heard, sentence), sentence, above) for sentence, above in found), reverse=True
        )
        if not near or near[0][0] < MIN_NEARNESS_OF_QUOTE:
            return reply
        rivals = [nearness for nearness, _, above in near[1:] if above != near[0][2]]
        if rivals and near[0][0] - rivals[0] < MIN_LEAD_OF_QUOTE:
            return reply
        return self._with_question(_sentence(near[0][1]))

    @staticmethod
    def _asks_on(reply: RuleReply) -> bool:
        return phrases.is_reprompt(reply.text) or reply.text.startswith(persona_answers.UNKNOWN)


def _stem(fact: str) -> str:
    return fact.rstrip(".!?,;:")


def _sentence(fact: str) -> str:
    return fact if fact.endswith((".", "!", "?")) else f"{fact.rstrip(',;:')}."


def _begins_with(text: str, fact: str) -> bool:
    return len(_stem(fact)) > 2 and text.startswith(_stem(fact))
