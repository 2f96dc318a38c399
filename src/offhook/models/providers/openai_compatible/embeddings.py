"""OpenAI's ``/v1/embeddings`` and every server with this format (Ollama, vLLM, LM Studio …)."""

from collections.abc import Sequence
from typing import Final

from offhook.kit.json_values import parse_json
from offhook.models.configuration.embeddings import EmbeddingChoice
from offhook.models.providers.openai_compatible.http_requests import post_request
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute

BASE_URL: Final = "https://api.openai.com/v1"


async def embed_texts(
    choice: EmbeddingChoice, way: NetworkRoute, texts: Sequence[str], *, within_s: float
) -> list[list[float]]:
    """Returns a vector for each text, in order. Raises ModelError."""
    errors = VendorErrors("embeddings", choice.api_key)
    url = f"{choice.base_url or BASE_URL}/embeddings"
    body = {"model": choice.model, "input": list(texts), "encoding_format": "float"}
    async with post_request(url, choice.api_key, errors, within_s, way, json=body) as response:
        await response.aread()
        try:
            items = sorted(parse_json(response.content)["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise errors.malformed_error(f"no list of vectors: {error}") from error
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1 or not all(vectors):
        raise errors.malformed_error("not one vector for each text")
    return vectors
