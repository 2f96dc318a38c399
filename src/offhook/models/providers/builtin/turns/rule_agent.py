"""What the offline agent answers, by its rules: the sentences that callers understand by, and the edge that is meant.

Its expressions take half a second to compile: see ``llm``, which loads this module when it is needed.
"""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Final

from offhook.models.ports import EdgeHint, LlmEvent, LlmRequest, LlmUsage, TextDelta, ToolCall, ToolCalled
from offhook.models.providers.builtin.acts.classifier import compared_texts
from offhook.models.providers.builtin.acts.last_answer import UNKNOWN_ANSWER, LastAnswer, read_answer
from offhook.models.providers.builtin.meaning import SentenceMeaning
from offhook.models.providers.builtin.turns.fitted_hint import fit_hint, fit_schema
from offhook.models.providers.builtin.turns.node_turn import RuleReply
from offhook.models.providers.builtin.turns.rule_turn import RuleTurn
from offhook.models.providers.builtin.variables import extract_variables, parse_lines
from offhook.models.spoken_text import question_of

MAX_DECISIONS: Final = 2
# An answer and its facts.
MAX_READINGS: Final = 3
# What was asked, and the answer.
MIN_LINES: Final = 2
_PIECE: Final = re.compile(r"\S+\s*")


class RuleAgent:
    """Answers requests. ``meaning`` is shared by all of them."""

    def __init__(self, meaning: SentenceMeaning) -> None:
        self._meaning = meaning

    async def answer(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        """Yields what is said and the edge or tool that is taken, or the variables as JSON where a schema is given."""
        if request.hint is not None:
            request = replace(request, hint=fit_hint(request.hint))
        if request.response_schema is not None:
            hinted = request.hint.variables if request.hint else ()
            spoken = "\n".join(m.content for m in request.messages if m.role == "user")
            known, edges = (request.hint.known_variables, request.hint.edges) if request.hint else ((), ())
            answer = await self._read_last_answer(spoken, edges)
            found = extract_variables(spoken, fit_schema(request.response_schema), hinted, known, edges, answer)
            yield TextDelta(json.dumps(found, ensure_ascii=False))
        else:
            reply = await self._decide_reply(request)
            for piece in _PIECE.findall(reply.text):
                yield TextDelta(piece)
            if reply.call is not None:
                name, given = reply.call
                earlier = sum(len(message.tool_calls) for message in request.messages)
                yield ToolCalled(ToolCall(f"call_{earlier + 1}", name, given))
        yield LlmUsage(0, 0)

    async def _read_last_answer(self, spoken: str, edges: Sequence[EdgeHint]) -> LastAnswer:
        """Returns what the last line does as an answer to the one before."""
        lines = parse_lines(spoken)
        if not self._meaning.tells_acts or len(lines) < MIN_LINES or lines[-1][0] != "caller":
            return UNKNOWN_ANSWER
        texts = compared_texts(question_of(lines[-2][1]), lines[-1][1])
        await self._meaning.learn(texts, self._meaning.deadline())
        return read_answer(self._meaning.odds(lines[-1][1], texts), edges)

    async def _decide_reply(self, request: LlmRequest) -> RuleReply:
        # not while it only stands behind a vendor's model
        self._meaning.readings.load_ahead()
        turn, deadline = RuleTurn(request, self._meaning), self._meaning.deadline()
        await self._meaning.learn(turn.sentences(), deadline)
        self._meaning.pop_unknown()
        reply = turn.decide_reply()
        # Decided again with what it compared beside that: else an answer would depend on what others' callers have said.
        for _ in range(MAX_DECISIONS):
            if not (unknown := self._meaning.pop_unknown()):
                break
            await self._meaning.learn(unknown, deadline)
            self._meaning.pop_unknown()
            reply = RuleTurn(request, self._meaning).decide_reply()
        # what an answer means may be a question, which a fact answers
        for _ in range(MAX_READINGS):
            if not await self._meaning.readings.read_wanted(deadline):
                break
            reply = RuleTurn(request, self._meaning).decide_reply()
            self._meaning.pop_unknown()
        if reply.call is None:
            # while we speak: the caller waits for none of it
            self._meaning.learn_ahead(turn.node_sentences())
        return reply
