"""Converts text to frames: synthesis with time-outs and failover, resampled and encoded once per chunk."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from offhook.kit.audio import Codec, Resampler
from offhook.models.ports import LineTts, ModelError, Tts
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.input.dictionary import EMPTY_DICTIONARY, SpeechDictionary
from offhook.voice.output.canned_speech import CannedSpeech
from offhook.voice.output.playback import Playback, QueuedSentence
from offhook.voice.output.voice_level import DEFAULT_VOLUME, AgentVolume, SpeechLeveler, level_whole
from offhook.voice.ports import RecordedSound
from offhook.voice.safety.model_failover import OFFLINE_PROVIDER, ModelFailover
from offhook.voice.usage_counter import UsageCounter

# Vendors answer in 0.1 to 0.4 s; beyond this the caller would hear a gap.
FIRST_BYTE_TIMEOUT_S: Final = 1.5
# The offline voice with none behind it: its program may just be starting, on a machine that is busy with that.
LAST_VOICE_TIMEOUT_S: Final = 5.0
CHUNK_TIMEOUT_S: Final = 1.5
# Rate of unhurried English speech, for a voice that has not finished a sentence yet.
CHARS_PER_S: Final = 14
MIN_LEARNED_CHARS: Final = 12
TONE_HZ: Final = (440.0, 350.0)
TONE_S: Final = 0.35


def attention_tone(codec: Codec) -> bytes:
    """Returns two soft falling notes, which a caller hears when no voice is left at all."""
    t = np.arange(int(TONE_S * codec.sample_rate)) / codec.sample_rate
    ramp = np.minimum(1.0, np.minimum(t, TONE_S - t) / 0.02)
    notes = [np.sin(2 * np.pi * hz * t) * ramp * 6000 for hz in TONE_HZ]
    return codec.encode(np.concatenate(notes).astype(np.int16))


class _Voices:
    """The voices of one language, best first."""

    def __init__(self, ttss: Sequence[Tts], codec: Codec, emit: Emit, level_db: float | None) -> None:
        inputs = current_inputs()
        # A voice at the line's own rate is not resampled.
        self.ttss = [tts.for_line(codec.sample_rate) if isinstance(tts, LineTts) else tts for tts in ttss]
        self.circuit = ModelFailover([tts.model_ref for tts in ttss], emit)
        self.levels = [inputs.voice_level(tts) for tts in self.ttss]
        self.canned = inputs.canned_speech(self.ttss[0], codec, level_db)


class CallSpeaker:
    """Combines the voices of one call. Raises :class:`AllModelsFailed` when none is left."""

    def __init__(
        self,
        *,
        playback: Playback,
        codec: Codec,
        ttss: Sequence[Tts],
        emit: Emit,
        usage: UsageCounter,
        dictionary: SpeechDictionary = EMPTY_DICTIONARY,
        volume: AgentVolume = DEFAULT_VOLUME,
        by_language: Mapping[str, Sequence[Tts]] | None = None,
    ) -> None:
        """``by_language``: the voices of an agent that speaks several languages; ``ttss`` are those of the first."""
        self._playback = playback
        self._codec = codec
        self._usage = usage
        self._dictionary = dictionary
        self._volume = volume
        self._by_language = {
            language: _Voices(listed, codec, emit, volume.level_db) for language, listed in (by_language or {}).items()
        }
        self._use_voices(next(iter(self._by_language.values()), None) or _Voices(ttss, codec, emit, volume.level_db))

    def _use_voices(self, voices: "_Voices") -> None:
        self._ttss, self._circuit, self._levels, self.canned = voices.ttss, voices.circuit, voices.levels, voices.canned
        self._bytes_per_char: dict[int, float] = {}

    def use_language(self, language: str) -> None:
        """Goes on with the voices of another language; a sentence that is being said stays in its own."""
        self._use_voices(self._by_language[language])

    def canned_in(self, language: str) -> CannedSpeech:
        """Returns the phrases as audio in the voice of a language."""
        voices = self._by_language.get(language)
        return self.canned if voices is None else voices.canned

    async def say(
        self, text: str, into: list[QueuedSentence], *, on_byte: Callable[[], None], on_start: Callable[[], None]
    ) -> None:
        """Synthesizes one stretch into the playback queue; returns when all of it is queued, not played.

        Queued sentences are appended to ``into`` at once. A voice that dies halfway leaves an entry with the words
        it spoke, and the next voice says the rest.
        """
        if self._circuit.current_ref.provider == OFFLINE_PROVIDER:
            self._circuit.return_to_preferred()
        rest, begins = text, on_start
        while rest:
            sentence = self._playback.begin_sentence(rest, begins)
            into.append(sentence)
            try:
                await self._synthesize_sentence(sentence, on_byte)
            except ModelError as error:
                spoken_text = self._truncate_to_spoken(sentence)
                self._circuit.report_failure(error)
                if spoken_text or not self._circuit.should_retry(error, even_slow=False):
                    self._circuit.fail_over(error)
                # The rest of a sentence is not announced again.
                rest, begins = rest[len(spoken_text) :].lstrip(), (lambda: None) if spoken_text else begins
            else:
                # This voice's time per character.
                if sentence.queued_bytes and len(sentence.text) >= MIN_LEARNED_CHARS:
                    self._bytes_per_char[self._circuit.current] = sentence.queued_bytes / len(sentence.text)
                self._circuit.mark_success()
                return
            finally:
                self._playback.complete_sentence(sentence)

    def _truncate_to_spoken(self, sentence: QueuedSentence) -> str:
        """Shortens a sentence whose voice failed to the whole words that were spoken, and returns them.

        Voices do not report word positions, so the position is estimated from this voice's time per character.
        """
        text = sentence.text
        usual = self._playback.bytes_per_s / CHARS_PER_S
        per_char = self._bytes_per_char.get(self._circuit.current, usual)
        reached = min(len(text), int(sentence.queued_bytes / per_char))
        end = len(text) if reached == len(text) else max(text.rfind(" ", 0, reached + 1), 0)
        self._playback.truncate_sentence(sentence, int(end * per_char))
        sentence.text = text[:end]
        return sentence.text

    async def _synthesize_sentence(self, sentence: QueuedSentence, on_byte: Callable[[], None]) -> None:
        tts = self._ttss[self._circuit.current]
        self._usage.add_units(tts.model_ref, "characters", len(sentence.text))
        resampler = Resampler(tts.sample_rate, self._codec.sample_rate)
        leveler = SpeechLeveler(self._levels[self._circuit.current], self._volume.level_db, self._codec.sample_rate)
        chunks = tts.speak(self._dictionary.apply_pronunciations(sentence.text))
        is_last = tts.model_ref.provider == OFFLINE_PROVIDER and self._circuit.next_ref is None
        limit, has_begun = LAST_VOICE_TIMEOUT_S if is_last else FIRST_BYTE_TIMEOUT_S, False
        try:
            while True:
                try:
                    async with asyncio.timeout(limit):
                        chunk = await anext(chunks)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise ModelError("tts_stalled", f"No audio for {limit:g} s.", retryable=True) from None
                if not has_begun:
                    on_byte()
                limit, has_begun = CHUNK_TIMEOUT_S, True
                self._playback.push_audio(sentence, self._codec.encode(leveler.push(resampler.push(chunk))))
            rest = leveler.push(resampler.push(b"", is_last=True))
            self._playback.push_audio(sentence, self._codec.encode(rest))
        finally:
            aclose = getattr(chunks, "aclose", None)
            if aclose is not None:
                await aclose()

    def play_sound(self, sound: RecordedSound, on_start: Callable[[], None]) -> QueuedSentence:
        """Queues a recording, which is played, interrupted and counted like a sentence of its transcript."""
        sentence = self._playback.begin_sentence(sound.transcript, on_start)
        samples = sound.samples
        if self._volume.includes_recordings:
            samples = level_whole(samples, self._volume.level_db, self._codec.sample_rate)
        self._playback.push_audio(sentence, self._codec.encode(samples))
        self._playback.complete_sentence(sentence)
        return sentence

    def say_canned(self, text: str, on_start: Callable[[], None]) -> QueuedSentence:
        """Queues a phrase from the cache, or the attention tone if it is not cached; needs no vendor."""
        audio = self.canned.get(text)
        sentence = self._playback.begin_sentence(text if audio is not None else "", on_start)
        self._playback.push_audio(sentence, audio if audio is not None else attention_tone(self._codec))
        self._playback.complete_sentence(sentence)
        return sentence
