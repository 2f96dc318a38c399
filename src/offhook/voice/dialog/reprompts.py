"""What the agent says when it did not understand the caller: other words each time, and more help."""

from collections.abc import Sequence

from offhook.models.spoken_text import join_choices, join_keys, pick_examples, question_of
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.phrases import CannedPhrases
from offhook.workflows.graph import Edge
from offhook.workflows.template import render_template


class Reprompts:
    """The reprompts of one call: the step's question again, then what can be said, then the keys.

    What a step does not have is left out. No sentence comes twice in a row.
    """

    def __init__(self) -> None:
        self._node_id = ""
        self._misses = 0
        self._said: list[str] = []

    def next_sentence(self, conversation: Conversation, phrases: CannedPhrases) -> str:
        """Returns what to say after the caller was not understood once more at the conversation's node."""
        node_id = conversation.node.id
        self._misses = self._misses + 1 if node_id == self._node_id else 0
        self._node_id = node_id
        ways = _ways(phrases, self._question(conversation), conversation.outgoing_edges())
        at = self._misses % len(ways)
        if self._said and ways[at] == self._said[-1]:
            at = (at + 1) % len(ways)
        self._said.append(ways[at])
        return ways[at]

    def _question(self, conversation: Conversation) -> str:
        """Returns what the agent asked last, in its own words."""
        for message in reversed(conversation.history.messages):
            if message.role == "assistant" and message.content and message.content not in self._said:
                return question_of(message.content)
        return ""


def _ways(phrases: CannedPhrases, question: str, edges: Sequence[Edge]) -> list[str]:
    choices = pick_examples(edge.examples for edge in edges)
    keys = join_keys(((edge.digits, edge.examples) for edge in edges), phrases.joining)
    ways = [f"{phrases.reprompt} {question}".strip()]
    if len(choices) > 1:
        ways.append(render_template(phrases.reprompt_choices, {"choices": join_choices(choices, phrases.joining)}))
    if keys:
        ways.append(render_template(phrases.reprompt_keys, {"keys": keys}))
    if len(ways) == 1:
        ways.append(f"{phrases.reprompt_again} {question}".strip())
    return ways
