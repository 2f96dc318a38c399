"""Chooses a simulated callee's answers: from the demo script if there is one, else to fit the question. Pure."""

import re
from typing import Final

from offhook.telephony.providers.sandbox.call_script import CallerMove, CallScript

MAX_REPEATS: Final = 3

_AGAIN: Final = re.compile(
    r"\b(sorry|pardon|repeat|(say|try) (it|that|this) again|once more|did ?n[o']t (catch|hear|understand|get)|not sure i)\b"
)
# The first match wins: a question about a phone number contains "number" too.
_ANSWERS: Final = tuple(
    (re.compile(pattern), answer)
    for pattern, answer in (
        (r"\b(your|full|first|last) name\b|\bwho am i\b", "My name is Alex Morgan."),
        (r"\bphone number|call you back\b", "Two zero one five five five zero one four two."),
        (r"\be-?mail\b", "Alex at example dot com."),
        (r"\b(order|reference|account|confirmation) (number|code|id)\b", "Four two seven one."),
        (r"\bscale\b|\brate\b|\bfrom (one|1|zero|0) to\b|\bhow likely\b", "Eight."),
        (r"\bhow many\b", "Two."),
        (r"\bwhat time\b|\bwhich time\b|\bmorning or\b", "Three o'clock, please."),
        (r"\bwhat day\b|\bwhich day\b|\bwhen would\b|\bwhat date\b|\bday works\b", "Tuesday."),
    )
)
_YES_NO: Final = re.compile(
    r"\b(is|are|was|were|do|does|did|can|could|would|will|shall|should|have|has|may) "
    r"(i|you|we|it|that|this|there|the|your)\b|\bcorrect\b|\bright\?|\byes or no\b|\bokay\?"
)


def last_question(heard: str) -> str:
    """Returns the last sentence with a question mark, or the last sentence."""
    sentences: list[str] = [part.strip() for part in re.findall(r"[^.!?]+[.!?]*", heard) if part.strip()]
    questions = [sentence for sentence in sentences if sentence.endswith("?")]
    return (questions or sentences or [""])[-1]


class CallerDialog:
    """One callee's side of a conversation: takes the heard text and the agent's current node, and returns a move."""

    def __init__(self, brief: CallScript) -> None:
        self._brief = brief
        self._todo = list(brief.script)
        self._tried: dict[str, int] = {}
        self._last: CallerMove | None = None
        self._last_node: str | None = None
        self._repeats = 0

    def choose_move(self, heard: str, node: str | None) -> CallerMove:
        """Chooses the next move. ``heard`` is the agent's text since this callee's last move.

        The last answer is repeated when the agent asks for it again, or stays at a question whose answer in the script
        is used up.
        """
        text = heard.lower()
        was_said_here = self._last is not None and self._last.kind == "say" and self._last_node == node
        can_repeat, is_asked_again = was_said_here and self._repeats < MAX_REPEATS, bool(_AGAIN.search(text))
        scripted = None if can_repeat and is_asked_again else self._from_script(node)
        was_scripted_here = self._last is not None and self._last.node is not None
        if scripted is None and can_repeat and (was_scripted_here or is_asked_again):
            self._repeats += 1
            assert self._last is not None
            return self._last
        self._repeats = 0
        self._last = scripted or self._by_question(text, node)
        self._last_node = node
        return self._last

    def choose_digits(self, node: str | None) -> str:
        """Returns the keys that this question offers; 1 when it offers none."""
        question = self._brief.questions.get(node or "")
        return question.digits[0] if question and question.digits else "1"

    def _from_script(self, node: str | None) -> CallerMove | None:
        question = self._brief.questions.get(node or "")
        names = {node, question.name if question else None} - {None}
        for move in self._todo:
            if move.node is None or move.node in names:
                self._todo.remove(move)
                return move
        return None

    def _by_question(self, text: str, node: str | None) -> CallerMove:
        asked = last_question(text)
        question = self._brief.questions.get(node or "")
        tries = self._tried.get(node or "", 0)
        self._tried[node or ""] = tries + 1
        if question and tries < len(question.phrases):
            return CallerMove("say", question.phrases[tries])
        for pattern, answer in _ANSWERS:
            if pattern.search(asked):
                return CallerMove("say", answer)
        if question and question.digits and not question.phrases:
            return CallerMove("press", question.digits[tries % len(question.digits)])
        if _YES_NO.search(asked) or asked.endswith("?"):
            return CallerMove("say", "Yes, please.")
        return CallerMove("say", "Okay, thank you.")
