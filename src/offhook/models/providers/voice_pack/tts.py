"""The voice of an installed pack: Piper or Kokoro, in a separate program, with phonemes from the speech program."""

import os
from collections.abc import AsyncGenerator
from typing import Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import ModelRef
from offhook.models.providers.voice_pack.installed_packs import PROVIDER, InstalledPacks
from offhook.models.providers.voice_pack.phonemes import espeak_voice, phonemize
from offhook.models.providers.voice_pack.program_pool import ProgramPool
from offhook.models.providers.voice_pack.programs import program_argument
from offhook.models.speakable_text import speakable_text, split_pieces
from offhook.models.speech_programs.recognizer_process import program_command
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.models.speech_programs.voice_process import VoiceProcess
from offhook.models.vendors import ModelChoice
from offhook.models.voice_packs.store import InstalledPack

SAMPLE_RATE: Final = 24000
# A voice makes a piece whole before it is heard: shorter ones are heard sooner, longer ones sound better.
MAX_PIECE_CHARS: Final = 120
MAX_THREADS: Final = 2


class PackVoices:
    """All voices of the packs of a process."""

    def __init__(self, packs: InstalledPacks) -> None:
        self.packs = packs
        self.speech = SynthesizerProcess()
        self.pool = ProgramPool("tts", _build_program)

    def build(self, choice: ModelChoice) -> "PackTts":
        return PackTts(self, choice)

    async def check(self, choice: ModelChoice) -> None:
        """Loads the voice. Raises ModelError."""
        async with self.pool.use(self.packs.find_pack(choice.model, "tts")):
            await self.speech.start()

    async def close(self) -> None:
        await self.pool.close()
        await self.speech.close()


def _build_program(pack: InstalledPack) -> VoiceProcess:
    argument = program_argument(pack, pack.manifest.tts, threads=min(MAX_THREADS, os.cpu_count() or 1))
    return VoiceProcess(program_command("sherpa.voice_program", argument))


class PackTts:
    """Implements LineTts. The program resamples to the line's rate, so that a telephone's audio stays small."""

    def __init__(
        self,
        voices: PackVoices,
        choice: ModelChoice,
        sample_rate: int = SAMPLE_RATE,
        variants: "dict[int, PackTts] | None" = None,
    ) -> None:
        self._voices = voices
        self._choice = choice
        self.model_ref = ModelRef("tts", PROVIDER, choice.model)
        self.sample_rate = sample_rate
        self._variants = {} if variants is None else variants
        self._variants[sample_rate] = self

    def for_line(self, sample_rate: int) -> "PackTts":
        return self._variants.get(sample_rate) or PackTts(self._voices, self._choice, sample_rate, self._variants)

    async def speak(self, text: str) -> AsyncGenerator[bytes, None]:
        """Yields PCM16, a piece of the text at a time. Raises ModelError."""
        pack = self._voices.packs.find_pack(self._choice.model, "tts")
        async with self._voices.pool.use(pack) as program:
            for piece in split_pieces(speakable_text(text), MAX_PIECE_CHARS):
                order = await self._make_order(pack, program, piece)
                if order:
                    yield await program.speak_piece(order)

    async def _make_order(self, pack: InstalledPack, program: VoiceProcess, piece: str) -> JsonObject:
        """Returns the request of a piece; an empty one where nothing of it can be spoken."""
        voice = pack.manifest.tts
        assert voice is not None
        speakers = {speaker.id: speaker.number for speaker in voice.speakers}
        # the first speaker where the pack no longer has the chosen one
        speaker = speakers.get(self._choice.voice_id, voice.speakers[0].number)
        order: JsonObject = {"speaker": speaker, "speed": self._choice.speed, "rate": self.sample_rate}
        if voice.lexicon is not None and voice.data_dir is None:  # trained with words, not with espeak-ng's phonemes
            return {**order, "text": piece}
        language = str(program.hello.get("language") or "") or espeak_voice(voice.languages[0])
        phonemes: list[JsonValue] = [*await phonemize(self._voices.speech, piece, language)]
        return {**order, "phonemes": phonemes} if phonemes else {}
