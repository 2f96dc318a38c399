"""One answer of a speech-to-speech model on its way to the line: its rate, its codec, its volume."""

from offhook.kit.audio import Codec, Resampler
from offhook.models.speech.formats import WireFormat
from offhook.voice.output.voice_level import SpeechLeveler


class SpokenLine:
    """Converts the vendor's audio to the line's codec, piece by piece."""

    def __init__(self, spoken: WireFormat, codec: Codec, leveler: SpeechLeveler) -> None:
        self._spoken = spoken
        self._codec = codec
        self._leveler = leveler
        self._is_direct = spoken.encoding == "mulaw" and codec.name == "mulaw"
        self._resampler = Resampler(spoken.sample_rate, codec.sample_rate)

    def push(self, audio: bytes, *, is_last: bool = False) -> bytes:
        if not self._is_direct:
            samples = self._resampler.push(self._spoken.to_pcm(audio), is_last=is_last)
            return self._codec.encode(self._leveler.push(samples))
        samples = self._codec.decode(audio)
        leveled = self._leveler.push(samples)
        return audio if leveled is samples else self._codec.encode(leveled)
