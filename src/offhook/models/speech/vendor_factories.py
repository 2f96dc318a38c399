"""Builds voices and recognizers from configured choices, checks keys live, and closes them with the process."""

from collections.abc import Callable
from weakref import WeakSet

from offhook.models.ports import ModelError
from offhook.models.speech.network_route import NetworkRoute
from offhook.models.speech.stt import SocketStt, SttLimits
from offhook.models.speech.stt_wire import SttWire
from offhook.models.speech.tts import SocketTts, TtsLimits, TtsWire
from offhook.models.vendors import ModelChoice, VendorContext

# Three characters: the cheapest request that needs a voice, a model and a key at once.
CHECK_TEXT = "Ok."
CHECK_RATE = 8000


def route_for(choice: ModelChoice, parts: VendorContext) -> NetworkRoute:
    """Returns a direct route to the vendor's and the operator's addresses, a guarded one to an organization's."""
    return NetworkRoute(choice.is_guarded, parts.egress)


class SocketTtsVendor:
    """A vendor whose voices speak over a WebSocket: its ``build``, ``check`` and ``close``."""

    def __init__(
        self, wire: Callable[[ModelChoice], TtsWire], parts: VendorContext, limits: TtsLimits | None = None
    ) -> None:
        self._wire = wire
        self._parts = parts
        self._limits = limits
        self._built: WeakSet[SocketTts] = WeakSet()

    def build(self, choice: ModelChoice) -> SocketTts:
        voice = SocketTts(self._wire(choice), limits=self._limits, way=route_for(choice, self._parts))
        self._built.add(voice)
        return voice

    async def check_access(self, choice: ModelChoice) -> None:
        """Synthesizes two letters: costs three characters and finds a wrong key, voice or model. Raises ModelError."""
        voice = SocketTts(
            self._wire(choice), sample_rate=CHECK_RATE, limits=self._limits, way=route_for(choice, self._parts)
        )
        try:
            heard = [piece async for piece in voice.speak(CHECK_TEXT)]
            if not heard:
                raise ModelError("tts_malformed", "The vendor returned no audio.", retryable=True)
        finally:
            await voice.close()

    async def close(self) -> None:
        for voice in list(self._built):
            await voice.close()


class SocketSttVendor:
    """A vendor that listens over a WebSocket: its ``build`` and ``check``. Streams end with their calls."""

    def __init__(
        self, wire: Callable[[ModelChoice], SttWire], parts: VendorContext, limits: SttLimits | None = None
    ) -> None:
        self._wire = wire
        self._parts = parts
        self._limits = limits

    def build(self, choice: ModelChoice) -> SocketStt:
        return SocketStt(self._wire(choice), limits=self._limits, way=route_for(choice, self._parts))

    async def check_access(self, choice: ModelChoice) -> None:
        """Opens a stream and closes it, at no cost. Raises ModelError."""
        stream = await self.build(choice).open_stream(sample_rate=CHECK_RATE, language=choice.language)
        await stream.close()
