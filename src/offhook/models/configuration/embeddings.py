"""The model that embeds an organization's documents: a part of its model configuration that calls do not wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.models.errors import KeyMissing, UnknownModel

BUILTIN: Final = "builtin"
# By provider, the default first. With a base_url, any model name is accepted.
EMBEDDING_MODELS: Final[Mapping[str, tuple[str, ...]]] = {
    BUILTIN: ("all-minilm-l6-v2",),
    "openai": ("text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"),
}


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """A chosen embedding model. ``base_url`` is empty for the vendor's own address."""

    provider: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)


def resolve_embedding_choice(services: Mapping[str, Any]) -> EmbeddingChoice:
    """Returns the choice of a version-2 configuration with its keys, or the offline model when it makes none.

    A vendor without its own key uses the key of the same vendor's language model. Raises UnknownModel, KeyMissing
    (422).
    """
    service = services.get("embeddings")
    if not isinstance(service, Mapping):
        return EmbeddingChoice(BUILTIN, EMBEDDING_MODELS[BUILTIN][0])
    provider, base_url = str(service.get("provider") or BUILTIN), str(service.get("base_url") or "")
    listed = EMBEDDING_MODELS.get(provider)
    if listed is None:
        raise UnknownModel(
            "models.embeddings.provider", f"{provider!r:.80} is not one of {', '.join(EMBEDDING_MODELS)}."
        )
    if base_url and provider == BUILTIN:
        raise UnknownModel("models.embeddings.base_url", "cannot be set for builtin.")
    model = str(service.get("model") or listed[0])
    if model not in listed and not base_url:
        raise UnknownModel("models.embeddings.model", f"{model!r:.80} is not one of {provider}'s: {', '.join(listed)}.")
    api_key = str(service.get("api_key") or "") or _key_of_llm(services, provider, base_url)
    if provider != BUILTIN and not api_key and not base_url:
        raise KeyMissing("OpenAI requires an API key.", field="models.embeddings.api_key")
    return EmbeddingChoice(provider, model, base_url, api_key)


def _key_of_llm(services: Mapping[str, Any], provider: str, base_url: str) -> str:
    llm = services.get("llm")
    if not isinstance(llm, Mapping) or llm.get("provider") != provider or str(llm.get("base_url") or "") != base_url:
        return ""
    return str(llm.get("api_key") or "")
