"""OpenAI's ``/v1/embeddings`` and every server with this format (Ollama, vLLM, LM Studio …)."""

from collections.abc import Sequence
from typing import Final

from offhook.kit.json_values import parse_json
from offhook.models.configuration.embeddings import EmbeddingChoice
from offhook.models.providers.openai_compatible.http_requests import post_request
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute

BASE_URL: Final = "https://api.openai.com/v1"
# A vector of the 4,000 numbers that can be stored has some 80,000. More is not even read: that takes the time of all calls.
MAX_BYTES_OF_TEXT: Final = 400_000
# Most vectors have length one.
MAX_NUMBER: Final = 1e9


async def embed_texts(
    choice: EmbeddingChoice, way: NetworkRoute, texts: Sequence[str], *, within_s: float
) -> list[list[float]]:
    """Returns a vector for each text, in order. Raises ModelError."""
    errors = VendorErrors("embeddings", choice.api_key)
    url = f"{choice.base_url or BASE_URL}/embeddings"
    body = {"model": choice.model, "input": list(texts), "encoding_format": "float"}
    async with post_request(url, choice.api_key, errors, within_s, way, json=body) as response:
        await response.aread()
        if len(response.content) > MAX_BYTES_OF_TEXT * max(1, len(texts)):
            raise errors.malformed_error("vectors with too many numbers")
        try:
            items = sorted(parse_json(response.content)["data"], key=lambda item: item["index"])
            vectors = [[float(number) for number in item["embedding"]] for item in items]
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise errors.malformed_error(f"no list of vectors: {error}") from error
    if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1 or not all(vectors):
        raise errors.malformed_error("not one vector for each text")
    # also no NaN, which is neither above nor below
    if not all(-MAX_NUMBER <= number <= MAX_NUMBER for vector in vectors for number in vector):
        raise errors.malformed_error("numbers that do not form a vector")
    return vectors
