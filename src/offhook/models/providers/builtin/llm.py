"""The offline agent: rules instead of a model, speaking the graph's sentences and choosing the edge that is meant."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Final

from offhook.models.edge_reading import ReadEdges
from offhook.models.ports import LlmEvent, LlmRequest, ModelRef
from offhook.models.providers.builtin.acts.classifier import LoadClassifier
from offhook.models.providers.builtin.meaning import MAX_WAIT_S, SentenceMeaning
from offhook.models.sentence_encoder import EmbedSentences

if TYPE_CHECKING:
    from offhook.models.providers.builtin.turns.rule_agent import RuleAgent

_RULES: Final = "offhook.models.providers.builtin.turns.rule_agent"


class BuiltinLlm:
    """Implements Llm. Equal requests get equal answers; it keeps no state between requests but vectors of sentences.

    ``embed`` gives sentences' vectors; without it, and while it takes longer than ``max_wait_s``, words alone are
    compared. ``load_classifier`` returns what tells what callers' words do; without it, rules alone tell it.
    ``read_edges`` tells which edge an answer means, where the rules doubt.
    """

    def __init__(
        self,
        embed: EmbedSentences | None = None,
        max_wait_s: float = MAX_WAIT_S,
        load_classifier: LoadClassifier | None = None,
        read_edges: ReadEdges | None = None,
    ) -> None:
        self._meaning = SentenceMeaning(embed, max_wait_s, load_classifier, read_edges)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", "builtin", "rules")

    def prepare(self, sentences: Sequence[str]) -> None:
        self._meaning.learn_ahead(sentences)

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        async with aclosing(load_rules()(self._meaning).answer(request)) as events:
            async for event in events:
                yield event


def load_rules() -> "type[RuleAgent]":
    """Returns the rules by which the offline agent answers.

    The first time takes half a second, a quarter of a start: a server loads them in a thread, as soon as it is ready.
    """
    agent: type[RuleAgent] = import_module(_RULES).RuleAgent
    return agent
