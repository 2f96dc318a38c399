"""Measures the CPU of each LLM vendor's port per call-second, against its emulator: ``python -m bench.vendors``.

A call-second is a tenth of a turn: one answer of 20 tokens with one function offered every 10 s. The emulator runs in a
thread of its own and is not counted.
"""

import argparse
import asyncio
import json
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from offhook.models.http_clients import close_http_clients
from offhook.models.ports import LlmMessage, LlmRequest, TextDelta, ToolSpec
from offhook.models.providers.anthropic.llm import AnthropicLlm
from offhook.models.providers.google.llm import GoogleLlm
from offhook.models.providers.openai_compatible.llm import OpenAiCompatibleLlm
from offhook.models.vendors import ModelChoice
from offhook_lab.anthropic_server import serve_anthropic
from offhook_lab.gemini_server import serve_gemini
from offhook_lab.openai_server import serve_openai
from offhook_lab.sse import ScriptedAnswer

TOKENS = 20
TURN_EVERY_S = 10
VENDORS: dict[str, tuple[str, Callable[[ModelChoice], Any], Callable[..., Any]]] = {
    "openai": ("gpt-4.1", OpenAiCompatibleLlm, serve_openai),
    "anthropic": ("claude-haiku-4-5", AnthropicLlm, serve_anthropic),
    "google": ("gemini-2.5-flash", GoogleLlm, serve_gemini),
}
TURN = [LlmMessage("user", "Is there a table for four?"), LlmMessage("assistant", "There is one. For which day?")]
TOOL = ToolSpec("book", "Book a table.", {"type": "object", "properties": {"day": {"type": "string"}}})
REQUEST = LlmRequest(
    [LlmMessage("system", "You take bookings. " * 60), *TURN * 6, LlmMessage("user", "Eight?")], [TOOL]
)


class Emulator:
    """One vendor's emulator on its own loop and thread."""

    def __init__(self, serve: Callable[..., Any]) -> None:
        self._serve = serve
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self.base_url = ""
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _run(self) -> None:
        words = " ".join(["word"] * TOKENS)
        async with self._serve([ScriptedAnswer(words, token_s=0.002)]) as server:
            self.base_url = server.base_url
            self._ready.set()
            await self._end.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()


async def measure(provider: str, base_url: str, turns: int) -> dict[str, Any]:
    """Returns CPU ms of this thread per turn and call-second, and the port's own share of the first token's delay."""
    model, build, _ = VENDORS[provider]
    llm = build(ModelChoice("llm", provider, model, "key", base_url, is_own_network=True))
    began = time.process_time()
    await llm.warm_up()
    load_ms = (time.process_time() - began) * 1000
    await answer(llm)
    began = time.thread_time()
    firsts = [await answer(llm) for _ in range(turns)]
    turn_ms = (time.thread_time() - began) * 1000 / turns
    await close_http_clients()
    return {
        "provider": provider,
        "turns": turns,
        "cpu_ms_per_turn": round(turn_ms, 2),
        "cpu_ms_per_call_second": round(turn_ms / TURN_EVERY_S, 3),
        "first_token_ms": round(statistics.median(firsts) * 1000, 2),
        "load_cpu_ms": round(load_ms),
    }


async def answer(llm: Any) -> float:
    began = time.perf_counter()
    first = 0.0
    async for event in llm.stream(REQUEST):
        if isinstance(event, TextDelta) and not first:
            first = time.perf_counter() - began
    return first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for provider, (_, _, serve) in VENDORS.items():
        emulator = Emulator(serve)
        result = asyncio.run(measure(provider, emulator.base_url, options.turns))
        emulator.stop()
        print(json.dumps(result) if options.json else "  ".join(f"{k}={v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
