"""What monitors and logs see of a call."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from prometheus_client import REGISTRY

from offhook.kit.json_values import ReadableJson
from offhook.root import Root
from offhook.runs import LiveCallRegistry, Run
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import CallResult
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(LiveCallRegistry)
    await root.get(LiveCallRegistry).stop_all()


class Noting:
    """A session that notes what its log lines would carry, and has one answer and one failed model."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self.ids: dict[str, Any] = {}

    async def run(self) -> CallResult:
        self.ids = await asyncio.create_task(self._read_ids())
        for at in (0.3, 2.0):
            said: dict[str, ReadableJson] = {
                "text": "Hello.",
                "start_s": at,
                "end_s": at + 1,
                "interrupted": False,
                "node_id": "start",
            }
            self._sink.emit(VoiceEvent("agent_said", at + 1, said))
        self._sink.emit(VoiceEvent("turn_timed", 1.0, {"response_ms": 700}))
        self._sink.emit(VoiceEvent("model_failed", 1.0, {"kind": "tts"}))
        return CallResult("answered", "caller_hung_up", 2.0)

    async def _read_ids(self) -> dict[str, Any]:
        return structlog.contextvars.get_contextvars()


async def test_log_lines_of_a_call_have_its_ids_and_it_is_counted(live: LiveCallRegistry, run: Run) -> None:
    def count(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    def figures() -> list[float]:
        return [
            count("offhook_calls_ended_total", channel="twilio", outcome="answered"),
            count("offhook_answer_seconds_count"),
            count("offhook_first_sound_seconds_count"),
            count("offhook_first_sound_seconds_sum"),
            count("offhook_call_troubles_total", event="model_failed", kind="tts"),
        ]

    before = figures()
    call = await live.connect_leg(run.id, KeptLeg())
    noting = Noting(call._sink)
    call.session = noting  # type: ignore[assignment]
    await call.run()
    assert noting.ids == {"run_id": run.id, "organization_id": run.organization_id, "node": live.worker_id}
    assert structlog.contextvars.get_contextvars() == {}
    assert [after - was for after, was in zip(figures(), before, strict=True)] == [1, 1, 1, pytest.approx(0.3), 1]
