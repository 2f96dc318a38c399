"""Runs our call control objects as Vonage does: a list of actions, one after the other."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.callbacks import OutgoingCallback, form_callback, json_callback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.documents import parse_number
from offhook_lab.carriers.core.legs import ring_and_bridge
from offhook_lab.carriers.core.number_formats import is_digits, with_plus
from offhook_lab.carriers.vonage.stream import RATES, VonageStream

if TYPE_CHECKING:
    from offhook_lab.carriers.vonage.server import VonageEmulator

HEADERS_BYTES = 512
Actions = list[Mapping[str, Any]]


class NccoRunner:
    """Runs the actions of one leg."""

    def __init__(self, owner: "VonageEmulator", call: EmulatedCall) -> None:
        self._owner = owner
        self._call = call

    async def fetch_and_run(self, url: str, method: str, fallback: str = "") -> None:
        """Requests the actions from a URL: two retries, then the fallback's."""
        fetched = await self._fetch_actions(url, method)
        if fetched is None and fallback:
            fetched = await self._fetch_actions(fallback, method)
        if fetched is None:
            self._call.end("failed", "carrier")
            return
        await self.run_actions(fetched)

    async def _fetch_actions(self, url: str, method: str) -> Actions | None:
        said = self._owner.answer_fields(self._call)
        is_post = method.upper() == "POST"
        make = json_callback("answer", url, dict(said), call_id=self._call.id) if is_post else None
        asked = make or form_callback("answer", url, said, method="GET", call_id=self._call.id)
        return self._parse_actions(await self._owner.callback_sender.send_now(asked))

    def _parse_actions(self, fetched: OutgoingCallback) -> Actions | None:
        if fetched.status != 200:
            self._call.errors.append(f"{fetched.url}: {fetched.status or fetched.error or 'no answer'}")
            return None
        try:
            found = json.loads(fetched.answer)
        except ValueError:
            found = None
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self._call.errors.append("the answer is no list of actions")
            return None
        return found

    async def run_actions(self, actions: Actions) -> None:
        """Runs to the end of the list, which is the end of the call; an empty list refuses it."""
        if self._call.direction == "inbound" and not self._call.answered.is_set():
            if not actions:
                self._call.rejected = "empty"
                self._call.end("rejected", "api")
                return
            self._call.answer()
        for action in actions:
            if self._call.is_over:
                return
            replacement = await self._run_action(action)
            if replacement is not None:
                await self.run_actions(replacement)
                return
        self._call.end("normal", "carrier")

    async def _run_action(self, action: Mapping[str, Any]) -> Actions | None:
        name = action.get("action")
        if name == "talk":
            await self._owner.say_text(self._call, str(action.get("text", "")))
        elif name == "stream":
            for url in action.get("streamUrl") or ():
                await self._owner.play_url(self._call, str(url))
        elif name == "conversation":
            await self._join_conversation(action)
        elif name == "connect":
            return await self._connect_endpoint(action)
        elif name == "notify":
            self._owner.callback_sender.enqueue(
                json_callback(
                    "notify", _first_url(action.get("eventUrl")), action.get("payload"), call_id=self._call.id
                )
            )
        else:
            # for one, there is no hang-up action
            self._call.errors.append(f"unknown action {name!r}")
            self._call.end("failed", "carrier")
        return None

    async def _join_conversation(self, action: Mapping[str, Any]) -> None:
        room = self._owner.get_room(str(action.get("name", "")))
        starts, ends = bool(action.get("startOnEnter", True)), bool(action.get("endOnExit", False))
        seat = room.join(self._call.id, starts=starts, ends=ends)
        self._call.connect_to(seat)
        try:
            await seat.over.wait()
        finally:
            room.leave(seat)
        self._call.connect_to(None)

    async def _connect_endpoint(self, action: Mapping[str, Any]) -> Actions | None:
        endpoint = (action.get("endpoint") or [{}])[0]
        if not self._owner.has_room_for_call():
            self._call.errors.append("429: too many calls a second")
            return await self._report_leg(action, "failed", {"uuid": self._owner.new_id("call")})
        if endpoint.get("type") == "websocket":
            return await self._connect_websocket(action, endpoint)
        if endpoint.get("type") == "phone" and is_digits(str(endpoint.get("number", ""))):
            return await self._connect_phone(action, endpoint)
        self._call.errors.append(f"cannot connect {endpoint!r}")
        self._call.end("failed", "carrier")
        return None

    async def _connect_phone(self, action: Mapping[str, Any], endpoint: Mapping[str, Any]) -> Actions | None:
        sender = with_plus(str(action.get("from") or self._call.to_number))
        child = self._owner.new_call("outbound", sender, with_plus(str(endpoint["number"])))
        child.parent = self._call
        self._call.children.append(child)
        child.extra["conversation"] = self._call.extra["conversation"]
        # the request for a synchronous action's next actions also reports its end
        child.extra["event_url"] = _first_url(action.get("eventUrl")) or self._call.extra.get("event_url", "")
        child.extra["asks_at_end"] = action.get("eventType") == "synchronous"
        await ring_and_bridge(self._owner, self._call, child, parse_number(str(action.get("timeout", "")), 60.0))
        if child.extra["asks_at_end"] and not child.answered.is_set():
            return await self._report_leg(action, self._owner.status_of(child), self._owner.leg_fields(child))
        return None

    async def _connect_websocket(self, action: Mapping[str, Any], endpoint: Mapping[str, Any]) -> Actions | None:
        """Connects the websocket, which is a leg of its own with its own id in the same conversation."""
        owner, call = self._owner, self._call
        headers = endpoint.get("headers") or {}
        content_type = str(endpoint.get("content-type", ""))
        if content_type not in RATES or len(json.dumps(headers).encode()) > HEADERS_BYTES:
            call.errors.append(f"cannot connect a websocket of {content_type!r} with these headers")
            call.end("failed", "carrier")
            return None
        stream = VonageStream(
            owner.new_id("call"),
            str(endpoint.get("uri", "")),
            content_type,
            headers,
            tunnels=owner.callback_sender.tunnels,
            fault=owner.chaos.for_socket(),
        )
        leg = {"uuid": stream.id, "from": str(action.get("from", "")), "to": stream.url, "headers": headers}
        owner.attach_stream(call, stream)
        await self._report_leg(action, "started", leg)
        await stream.opened.wait()
        if stream.failure:
            call.errors.append(f"the websocket did not open: {stream.failure}")
            return await self._report_leg(action, "failed", leg)
        await self._report_leg(action, "answered", leg)
        try:
            await stream.over.wait()
        finally:
            if stream.is_ours_to_close:
                owner.send_leg_event(call, "completed", leg, _first_url(action.get("eventUrl")))
        call.connect_to(None)
        if stream.is_ours_to_close:
            return None
        return await self._report_leg(action, "disconnected", leg)

    async def _report_leg(self, action: Mapping[str, Any], status: str, leg: Mapping[str, Any]) -> Actions | None:
        """Reports an event of another leg; the response to a synchronous one can contain new actions."""
        url = _first_url(action.get("eventUrl"))
        event = self._owner.leg_event(self._call, status, leg)
        if action.get("eventType") != "synchronous" or not url:
            self._owner.send_leg_event(self._call, status, leg, url)
            return None
        fetched = await self._owner.callback_sender.send_now(
            json_callback(f"event:{status}", url, event, call_id=self._call.id)
        )
        if fetched.status != 200 or not fetched.answer.lstrip().startswith(b"["):
            return None
        return self._parse_actions(fetched)


def _first_url(urls: Any) -> str:
    """Returns the first URL; they arrive in lists of one."""
    return str(urls[0]) if isinstance(urls, list) and urls else ""
