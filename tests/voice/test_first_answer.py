"""The first answer of an offline call waits for no model: it is loaded while the greeting is spoken."""

from collections.abc import Sequence

import numpy as np

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.sentence_encoder import SentenceVectors
from tests.voice.phone import Call, agent_graph, edge, node


def test_what_the_caller_may_say_is_embedded_before_they_speak() -> None:
    batches: list[list[str]] = []

    async def embed(sentences: Sequence[str]) -> SentenceVectors:
        batches.append(list(sentences))
        return np.ones((len(sentences), 1), np.float32)

    definition = agent_graph(
        node("start", "startCall", prompt="Help.", greeting="Hello, how can I help?"),
        node("end", "endCall", prompt="Say goodbye.", say="Goodbye."),
        edge("start", "end", "canoe", "The caller wants a canoe.", examples=["rent a canoe"]),
    )
    Call(definition, llms=[BuiltinLlm(embed)]).hangs_up(at=2).run()

    assert batches == [["canoe", "The caller wants a canoe.", "rent a canoe"]]
