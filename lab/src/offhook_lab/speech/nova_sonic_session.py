"""One session of the emulated Nova Sonic: the events of a client, checked."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from offhook_lab.speech.nova_sonic_turns import OUT_RATE, Link, NovaModelTurns
from offhook_lab.speech.tones import LOUD_RMS, read_tones

if TYPE_CHECKING:
    from offhook_lab.speech.nova_sonic import NovaSonicServer

IN_RATE: Final = 16000
VOICES: Final = ("tiffany", "matthew", "amy", "olivia", "tina", "lupe")
# The pauses that end a turn, by sensitivity.
ENDPOINTING_S: Final[Mapping[str, float]] = {"HIGH": 1.5, "MEDIUM": 1.75, "LOW": 2.0}
IDLE_S: Final = 55.0
MAX_HISTORY_BYTES: Final = 200_000
_NO_EVENT: Final = "Invalid input request, please fix your input and try again."


class NovaSonicSession(NovaModelTurns):
    """Every event of the client is handled in order."""

    def __init__(self, server: "NovaSonicServer", link: Link) -> None:
        super().__init__(server, link)
        self.heard_bytes = 0
        self._session: Mapping[str, Any] | None = None
        self._tools: list[str] = []
        self._audio_name = ""
        self._block: dict[str, Any] | None = None
        self._block_text = ""
        self._history_bytes = 0
        self._audio = bytearray()
        self._quiet_s = 0.0
        self._has_speech = False
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(
            server.session_s, self.refuse, "modelTimeoutException", "The session is too long."
        )
        self._idle: asyncio.TimerHandle | None = None

    def end(self) -> None:
        self._limit.cancel()
        if self._idle is not None:
            self._idle.cancel()
        super().end()

    # -- what the client sends ------------------------------------------------------------------------------------

    def on_chunk(self, payload: bytes) -> None:
        if self._is_over:
            return
        ((name, value),) = json.loads(base64.b64decode(json.loads(payload)["bytes"]))["event"].items()
        if name != "audioInput":
            self._server.messages.append({name: value})
        handlers = {
            "sessionStart": self._on_session_start,
            "promptStart": self._on_prompt_start,
            "contentStart": self._on_content_start,
            "textInput": self._on_text,
            "toolResult": self._on_text,
            "audioInput": self._on_audio,
            "contentEnd": self._on_content_end,
            "promptEnd": self._on_prompt_end,
            "sessionEnd": self._on_session_end,
        }
        is_misplaced = (name == "sessionStart") != (self._session is None)
        if (
            name not in handlers
            or is_misplaced
            or value.get("promptName", self._prompt) != (self._prompt or value.get("promptName", ""))
        ):
            self.refuse("validationException", _NO_EVENT)
        else:
            handlers[name](value)

    def on_last_message(self) -> None:
        """Ends the answer when the client has ended its part, and what was begun is done."""
        self._is_ending = True
        self._is_interrupted.set()
        if self._turn is None or self._turn.done():
            self._finish()

    def _on_session_start(self, value: Mapping[str, Any]) -> None:
        self._session = value
        detection = value.get("turnDetectionConfiguration") or {}
        known = {"inferenceConfiguration", "turnDetectionConfiguration"}
        # livekit/agents#6201: the sensitivity in the wrong place
        if set(value) - known or detection.get("endpointingSensitivity", "HIGH") not in ENDPOINTING_S:
            self.refuse("validationException", "Malformed input request: extraneous key is not permitted.")

    def _on_prompt_start(self, value: Mapping[str, Any]) -> None:
        form = value["audioOutputConfiguration"]
        if form["voiceId"] not in VOICES or form["sampleRateHertz"] != OUT_RATE or form["mediaType"] != "audio/lpcm":
            self.refuse("validationException", f"Invalid voice: {form['voiceId']}.")
            return
        self._prompt = value["promptName"]
        specs = [tool["toolSpec"] for tool in (value.get("toolConfiguration") or {}).get("tools", [])]
        if any(not isinstance(json.loads(spec["inputSchema"]["json"]), dict) for spec in specs):
            self.refuse("validationException", "Invalid inputSchema.")
        self._tools = [spec["name"] for spec in specs]

    def _on_content_start(self, value: Mapping[str, Any]) -> None:
        if not self._prompt or self._block is not None:
            self.refuse("validationException", _NO_EVENT)
        elif value["type"] == "AUDIO":
            if self._audio_name or value["audioInputConfiguration"]["sampleRateHertz"] != IN_RATE:
                self.refuse("validationException", "Only one audio content is allowed in a prompt.")
            self._audio_name = value["contentName"]
            self._wait_for_audio()
        elif value["type"] == "TEXT" and self._audio_name and not value["interactive"]:
            # ?? history comes before audio
            self.refuse("validationException", "Text that is not interactive must come before audio.")
        else:
            self._block, self._block_text = dict(value), ""

    def _on_text(self, value: Mapping[str, Any]) -> None:
        if self._block is None or value["contentName"] != self._block["contentName"]:
            self.refuse("validationException", _NO_EVENT)
        else:
            self._block_text += value["content"]

    def _on_content_end(self, value: Mapping[str, Any]) -> None:
        if value["contentName"] == self._audio_name:
            return
        block, text, self._block = self._block, self._block_text, None
        if block is None:
            self.refuse("validationException", _NO_EVENT)
        elif block["role"] == "SYSTEM":
            self.conversation.begin_step(text, self._tools)
        elif block["type"] == "TOOL":
            self._on_result(block["toolResultInputConfiguration"]["toolUseId"], text)
        elif block["interactive"]:
            self._interrupt()
            self._add_entry("user", text)
            self.begin_turn()
        else:
            self._add_history(block["role"], text)

    def _add_history(self, role: str, text: str) -> None:
        self._history_bytes += len(text.encode())
        # ?? a conversation begins with the user, as at the vendor's other models
        if self._history_bytes > MAX_HISTORY_BYTES or (role == "ASSISTANT" and not self.conversation.entries):
            self.refuse("validationException", "The conversation history is invalid.")
        self._add_entry(role.lower(), text)

    def _on_result(self, call_id: str, text: str) -> None:
        json.loads(text)
        if self._pending.pop(call_id, None) is None:
            self.refuse("validationException", "No tool use matches this result.")
            return
        self._add_entry("", text, kind="function_call_output", call_id=call_id)
        if not self._pending:
            self.begin_turn()

    def _on_session_end(self, value: Mapping[str, Any]) -> None:
        """Does nothing: the empty message comes next."""

    def _on_prompt_end(self, value: Mapping[str, Any]) -> None:
        self._interrupt()

    def _wait_for_audio(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        sentence = f"Timed out waiting for audio bytes ({IDLE_S:g} seconds)"
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.refuse, "validationException", sentence)

    def _on_audio(self, value: Mapping[str, Any]) -> None:
        if self._block is not None or value["contentName"] != self._audio_name:
            # livekit/agents#6720
            self.refuse("validationException", _NO_EVENT)
            return
        self._wait_for_audio()
        audio = base64.b64decode(value["content"], validate=True)
        self.heard_bytes += len(audio)
        samples = np.frombuffer(audio, "<i2").astype(np.float64)
        seconds = samples.size / IN_RATE
        if samples.size and float(np.sqrt(np.mean(samples**2))) > LOUD_RMS:
            self._has_speech, self._quiet_s = True, 0.0
            self._interrupt()
        else:
            self._quiet_s += seconds
        self._audio += audio
        assert self._session is not None
        detection = self._session.get("turnDetectionConfiguration") or {}
        if self._has_speech and self._quiet_s >= ENDPOINTING_S[detection.get("endpointingSensitivity", "MEDIUM")]:
            self._end_speech()

    def _end_speech(self) -> None:
        heard = np.frombuffer(bytes(self._audio), "<i2")
        self._audio.clear()
        self._has_speech, self._quiet_s = False, 0.0
        audio_ms = round(heard.size / IN_RATE * 1000)
        self._add_entry("user", " ".join(read_tones(heard, IN_RATE, self._server.lexicon)), audio_ms=audio_ms)
        self.begin_turn()
