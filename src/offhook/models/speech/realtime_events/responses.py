"""The responses of one Realtime session: at most one is wanted, and only its words and calls get through."""

import asyncio
import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import parse_json
from offhook.models.ports import ModelError, SpeechEvent, SpokenPiece, ToolCall, ToolCalled
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.realtime_events.audio_meter import AudioMeter
from offhook.models.speech.realtime_events.dialect import EventDialect
from offhook.models.speech.realtime_events.messages import encode_event, read_usage
from offhook.models.speech.speech_usage import SpeechUsage

TURN_KEY: Final = "offhook_turn"


@dataclass(eq=False)
class Response:
    """A response that was asked for. ``events`` end with None, or with an error."""

    number: int
    event_id: str
    id: str = ""
    is_canceled: bool = False
    is_over: bool = False
    # the vendor would not begin it while another one was active
    is_refused: bool = False
    calls: list[ToolCalled] = field(default_factory=list)
    call_items: list[str] = field(default_factory=list)
    events: "asyncio.Queue[SpeechEvent | ModelError | None]" = field(default_factory=asyncio.Queue)


class ResponseQueue:
    """Sends ``response.create`` and ``response.cancel``. Whatever the vendor generates unasked is canceled and dropped."""

    def __init__(
        self,
        send: Callable[[str], None],
        dialect: EventDialect,
        errors: VendorErrors,
        on_usage: Callable[[SpeechUsage | None], None],
        on_stray: Callable[[str], None],
        meter: AudioMeter | None,
    ) -> None:
        """``on_stray`` gets each entry that nobody heard of: the vendor must forget it. ``meter`` counts what is charged
        instead of tokens."""
        self._send_text = send
        self._dialect = dialect
        self._errors = errors
        self._on_usage = on_usage
        self._on_stray = on_stray
        self._meter = meter
        self._count = 0
        self._has_metadata = False
        self._orphans: set[str] = set()
        self.active: Response | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        # received audio by item, in bytes, and the items that are complete
        self.audio_bytes: dict[str, int] = {}
        self.complete_items: set[str] = set()
        # side effects happen once, whatever is repeated
        self._called: set[str] = set()

    # -- ours -----------------------------------------------------------------------------------------------------

    async def wait_idle(self) -> None:
        await self._idle.wait()

    @property
    def is_idle(self) -> bool:
        return self._idle.is_set()

    def begin_response(self) -> Response:
        self._count += 1
        self.active = Response(self._count, f"response_{self._count}")
        self._idle.clear()
        self._send_create(self.active)
        return self.active

    def _send_create(self, response: Response) -> None:
        wanted = {"metadata": {TURN_KEY: str(response.number)}}
        self._send_text(encode_event("response.create", response.event_id, [("response", wanted)]))

    def cancel_response(self, response: Response) -> None:
        """Cancels a response that is not over; one that the vendor has not named yet as soon as it does."""
        if response.is_over or response.is_canceled:
            return
        response.is_canceled = True
        for item_id in response.call_items:
            self._on_stray(item_id)
        if response.is_refused:
            self._end_response(response, None)
        elif response.id:
            self._send_cancel(response.id)

    def _send_cancel(self, response_id: str = "") -> None:
        which = [("response_id", response_id)] if response_id else []
        self._send_text(encode_event("response.cancel", f"cancel_{response_id}", which))

    def fail_all(self, error: ModelError) -> None:
        """Ends everything: the connection is gone."""
        missing = len(self._orphans) + (1 if self.active is not None and self.active.id else 0)
        self._orphans.clear()
        for _ in range(missing):
            self._report_usage(None)
        if self._meter is not None and not self._meter.is_empty:
            self._on_usage(self._meter.take_usage(responses=0))
        if self.active is not None:
            self._end_response(self.active, error)
        self._update_idle()

    def _report_usage(self, usage: SpeechUsage | None) -> None:
        self._on_usage(usage if self._meter is None else self._meter.take_usage())

    def fail_active(self, error: ModelError) -> None:
        """Gives up the response that is wanted now, which the vendor may still generate."""
        if self.active is not None and not self.active.is_canceled:
            self.active.events.put_nowait(error)

    def fail_unbegun(self, error: ModelError) -> None:
        """Gives up the response that is wanted now, if the vendor has not begun it."""
        if self.active is not None and not self.active.id:
            self.fail_active(error)

    def forget_canceled(self) -> None:
        """Considers canceled responses as over: the vendor may have dropped them without a word."""
        self._orphans.clear()
        if self.active is not None:
            self._end_response(self.active, None)
        self._update_idle()

    def refuse_active(self, event_id: str, error: ModelError, *, is_busy: bool) -> bool:
        """Handles the vendor's refusal of ``response.create``; returns False when that is not what was refused."""
        response = self.active
        if response is None or response.event_id != event_id:
            return False
        if is_busy and not response.is_refused and not response.is_canceled:
            # Begun again when the other one, which nobody wants any more, is over.
            response.is_refused = True
            self._send_cancel()
        else:
            self._end_response(response, error)
        return True

    def _end_response(self, response: Response, error: ModelError | None) -> None:
        response.is_over = True
        response.events.put_nowait(error)
        if self.active is response:
            self.active = None
        self._update_idle()

    def _update_idle(self) -> None:
        if self.active is None and not self._orphans:
            self._idle.set()
        else:
            self._idle.clear()

    # -- the vendor's ---------------------------------------------------------------------------------------------

    def on_created(self, response: Mapping[str, Any]) -> None:
        found, active = str(response.get("id") or ""), self.active
        metadata = response.get("metadata") or {}
        self._has_metadata = self._has_metadata or TURN_KEY in metadata
        is_unnamed = self._dialect.may_omit_metadata and not self._has_metadata and active is not None and not active.id
        if active is not None and (is_unnamed or metadata.get(TURN_KEY) == str(active.number)):
            active.id, active.is_refused = found, False
            if active.is_canceled:
                self._send_cancel(found)
            return
        self._orphans.add(found)
        self._update_idle()
        self._send_cancel(found)

    def _wanted_response(self, message: Mapping[str, Any]) -> Response | None:
        active = self.active
        is_wanted = active is not None and active.id == message.get("response_id") and not active.is_canceled
        return active if is_wanted else None

    def on_audio(self, message: Mapping[str, Any]) -> None:
        response, item = self._wanted_response(message), str(message["item_id"])
        if response is None and self._meter is None:
            return
        audio = base64.b64decode(message["delta"])
        if self._meter is not None:
            self._meter.add_audio(len(audio))
        if response is not None:
            self.audio_bytes[item] = self.audio_bytes.get(item, 0) + len(audio)
            response.events.put_nowait(SpokenPiece(item, audio=audio))

    def on_transcript(self, message: Mapping[str, Any]) -> None:
        response = self._wanted_response(message)
        if response is not None:
            response.events.put_nowait(SpokenPiece(str(message["item_id"]), text=str(message["delta"])))

    def on_item_done(self, message: Mapping[str, Any]) -> None:
        """Notes a complete item. Arguments of calls also end when a response is cut off: then their item is incomplete."""
        response, item = self._wanted_response(message), message["item"]
        if response is None and item["id"] not in self.audio_bytes:
            self._on_stray(str(item["id"]))
            return
        if item.get("status") == "incomplete":
            return
        self.complete_items.add(str(item["id"]))
        if response is not None:
            self._add_call(response, item)

    def _add_call(self, response: Response, item: Mapping[str, Any]) -> None:
        if item.get("type") == "function_call" and item["call_id"] not in self._called:
            try:
                arguments = parse_json(item.get("arguments") or "{}")
            except ValueError:
                arguments = None
            if not isinstance(arguments, dict):
                response.events.put_nowait(self._errors.malformed_error("arguments that are no JSON object"))
                return
            call = ToolCall(str(item["call_id"]), str(item["name"]), arguments)
            self._called.add(call.id)
            # the reference of the entry goes with it, so that the history can be kept in step
            response.events.put_nowait(SpokenPiece(str(item["id"])))
            response.calls.append(ToolCalled(call))
            response.call_items.append(str(item["id"]))

    def on_done(self, response: Mapping[str, Any]) -> None:
        self._report_usage(read_usage(response))
        found, active = str(response.get("id") or ""), self.active
        self._orphans.discard(found)
        if active is not None and active.id == found:
            if response.get("status") == "completed":
                for item in response.get("output") or () if self._dialect.may_omit_items else ():
                    self._add_call(active, item)
                for call in active.calls:
                    active.events.put_nowait(call)
            self._end_response(active, self._dialect.explain_response(self._errors, response))
        elif active is not None and active.is_refused:
            active.is_refused = False
            self._send_create(active)
        self._update_idle()
