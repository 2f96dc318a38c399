"""A local server that speaks the vendor's ``POST /v1/embeddings``, for tests: words become vectors by their hash.

Written from OpenAI's API reference, not from our client.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

_REASONS: Final = {200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass
class EmbeddingsServer:
    """Serves embeddings. ``dimensions`` by model. ``refuses_with`` answers every request with a status; ``asked``
    keeps (model, inputs). ``fixed_vector`` is the vector of every text."""

    key: str
    dimensions: dict[str, int]
    refuses_with: int | None = None
    fixed_vector: list[float] | None = None
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    base_url: str = ""

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                status, answer = self._answer_request(lines[0], headers, body)
                content = json.dumps(answer).encode()
                start = f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\nContent-Type: application/json\r\n"
                writer.write(f"{start}Content-Length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer_request(self, first: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        if not first.startswith("POST /v1/embeddings "):
            return 404, _error_body("Unknown request URL.", "unknown_url")
        if headers.get("authorization") != f"bearer {self.key}".lower():
            return 401, _error_body("Incorrect API key provided.", "invalid_api_key")
        if self.refuses_with is not None:
            return self.refuses_with, _error_body("Refused by the test.", "refused")
        asked = json.loads(body)
        if asked["model"] not in self.dimensions:
            return 404, _error_body("The model does not exist.", "model_not_found")
        inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        self.asked.append((asked["model"], inputs))
        size = self.dimensions[asked["model"]]
        data = [
            {"object": "embedding", "index": index, "embedding": self.fixed_vector or word_vector(text, size)}
            for index, text in enumerate(inputs)
        ]
        return 200, {"object": "list", "data": data, "model": asked["model"], "usage": {"prompt_tokens": 1}}


def word_vector(text: str, size: int) -> list[float]:
    """Returns a bag of words: each word adds one at the index given by its hash."""
    numbers = [0.0] * size
    for word in text.lower().split():
        numbers[int.from_bytes(sha256(word.strip(".,?!").encode()).digest()[:4], "big") % size] += 1.0
    return numbers


@asynccontextmanager
async def serve_embeddings(key: str, dimensions: dict[str, int]) -> AsyncIterator[EmbeddingsServer]:
    """Serves on a free port of the loopback address until the block ends."""
    lab = EmbeddingsServer(key, dimensions)
    server = await asyncio.start_server(lab.handle_connection, "127.0.0.1", 0)
    lab.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield lab
    finally:
        server.close()


def _error_body(message: str, code: str) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
