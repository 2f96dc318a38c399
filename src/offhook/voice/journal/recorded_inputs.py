"""What a live call is given, and noted in its journal."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Final, TypeVar

from offhook.kit.audio import Codec, Samples
from offhook.models.ports import Tts
from offhook.voice.call_inputs import CallBeat, CallInputs, CallTimer
from offhook.voice.input.beep_detector import BeepDetector
from offhook.voice.input.caller_sound import CallerSound
from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.journal.answers import DUE, ITEM
from offhook.voice.journal.kinds import BEAT, BEEP, MEASURED
from offhook.voice.journal.recorded_ports import AnswerJournal, RecordedTts
from offhook.voice.journal.tape import CallTape
from offhook.voice.output.canned_speech import CannedSpeech
from offhook.voice.output.metronome import FramePlayer, Metronome
from offhook.voice.output.voice_level import VoiceLevel

T = TypeVar("T")
# asdict() copies in depth, five times as slowly
_SOUND: Final = tuple(field.name for field in fields(SoundEvidence))


class PlayerBeat:
    """Implements CallBeat and FramePlayer: one beat for everything of a call that plays. ``on_beat`` is called first."""

    def __init__(self, metronome: CallBeat | None, on_beat: Callable[[float], None]) -> None:
        self._metronome = metronome
        self._on_beat = on_beat
        self._players: dict[FramePlayer, None] = {}

    def add(self, player: FramePlayer) -> None:
        self._players[player] = None
        if self._metronome is not None:
            self._metronome.add(self)

    def remove(self, player: FramePlayer) -> None:
        self._players.pop(player, None)
        if not self._players and self._metronome is not None:
            self._metronome.remove(self)

    def send_due_frames(self, beat: float) -> bool:
        self._on_beat(beat)
        for player in list(self._players):
            if not player.send_due_frames(beat):
                self._players.pop(player, None)
        return bool(self._players)


class RecordedInputs(CallInputs):
    """The live inputs, with a journal of them."""

    def __init__(self, tape: CallTape, journal: AnswerJournal) -> None:
        super().__init__()
        self._tape = tape
        self._journal = journal
        self.time = tape.time
        self.note = tape.note  # type: ignore[method-assign]  # called for every frame

    async def sleep(self, timer: str, seconds: float) -> None:
        name = self._journal.begin(timer)
        await asyncio.sleep(seconds)
        self._journal.note(name, DUE, seconds)

    async def resumed(self, step: str) -> None:
        self._journal.note(self._journal.name(step), ITEM)

    def call_later(self, timer: str, delay_s: float, callback: Callable[[], None]) -> CallTimer:
        name = self._journal.begin(timer)

        def note_due() -> None:
            self._journal.note(name, DUE, delay_s)
            callback()

        return self._loop.call_later(delay_s, note_due)

    def _note_beat(self, beat: float) -> None:
        self._tape.note(BEAT, beat)

    def beat(self) -> CallBeat:
        return PlayerBeat(Metronome.of_running_loop(), self._note_beat)

    def caller_sound(self) -> CallerSound:
        return _RecordedSound(self._tape)

    def canned_speech(self, tts: Tts, codec: Codec, level_db: float | None) -> CannedSpeech:
        # The phrases of a voice are kept for all calls.
        return _RecordedPhrases(_voice_behind(tts), codec, level_db, self._tape)

    def voice_level(self, tts: Tts) -> VoiceLevel:
        return super().voice_level(_voice_behind(tts))

    def beep_detector(self, on_beep: Callable[[], None]) -> BeepDetector:
        def note_beep() -> None:
            self._tape.note(BEEP)
            on_beep()

        return BeepDetector(note_beep)

    def level_db(self, samples: Samples) -> float:
        return self._measured("level", super().level_db(samples))

    def frame_level(self, codec: Codec, frame: bytes) -> int:
        return self._measured("frame", super().frame_level(codec, frame))

    def judge_language(self, text: str, languages: Sequence[str]) -> tuple[str, float] | None:
        return self._measured("language", super().judge_language(text, languages))

    def _measured(self, what: str, value: T) -> T:
        self._tape.note(MEASURED, [what, value])
        return value


class _RecordedSound(CallerSound):
    def __init__(self, tape: CallTape) -> None:
        super().__init__(tape.read_clock)
        self._tape = tape

    def _note(self, what: str, value: T) -> T:
        self._tape.note(MEASURED, [what, value])
        return value

    def stands_out(self, is_speech: bool) -> bool:
        found = super().stands_out(is_speech)
        return self._note("out", found) if is_speech else found

    @property
    def has_contrast(self) -> bool:
        return self._note("contrast", super().has_contrast)

    def measure_overlap(self, age_s: float) -> tuple[SoundEvidence, float, float]:
        sound, distance_db, dullness_db = super().measure_overlap(age_s)
        self._note("overlap", [{name: getattr(sound, name) for name in _SOUND}, distance_db, dullness_db])
        return sound, distance_db, dullness_db

    def was_turned_away(self) -> bool:
        return self._note("away", super().was_turned_away())

    def sound_age_s(self) -> float:
        return self._note("age", super().sound_age_s())

    def was_breath(self) -> bool:
        return self._note("breath", super().was_breath())

    def was_voice(self, span_s: float) -> bool:
        return self._note("voice", super().was_voice(span_s))


def _voice_behind(tts: Tts) -> Tts:
    return tts.voice if isinstance(tts, RecordedTts) else tts


class _RecordedPhrases(CannedSpeech):
    def __init__(self, tts: Tts, codec: Codec, level_db: float | None, tape: CallTape) -> None:
        super().__init__(tts, codec, level_db)
        self._tape = tape

    def get(self, text: str) -> bytes | None:
        audio = super().get(text)
        self._tape.note(MEASURED, ["phrase", None if audio is None else len(audio)])
        return audio
