"""The recognizer of an installed pack: a streaming zipformer or Moonshine, in a separate program."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from offhook.kit.tasks import TaskTracker
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.providers.voice_pack.installed_packs import PROVIDER, InstalledPacks
from offhook.models.providers.voice_pack.program_pool import ProgramPool
from offhook.models.providers.voice_pack.programs import program_argument
from offhook.models.speech_programs.recognizer_process import RecognizerProcess, program_command
from offhook.models.stt_events import SttEventQueue, read_stt_events
from offhook.models.vendors import ModelChoice
from offhook.models.voice_packs.store import InstalledPack

BEGIN, AUDIO, FINISH, FORGET = 1, 2, 3, 4
PRE_ROLL_S: Final = 0.4
CHUNK_S: Final = 0.1
# A caller who does not pause is heard in parts of this length: Moonshine was trained with no longer ones.
MAX_UTTERANCE_S: Final = 25.0
THREADS: Final = 1


class PackRecognizerProcesses:
    """The processes of one pack's recognizer: one, or as many as the settings want. Implements PackProgram."""

    def __init__(self, pack: InstalledPack, processes: int) -> None:
        argument = program_argument(pack, pack.manifest.stt, threads=THREADS)
        self.processes = [
            RecognizerProcess(program_command("sherpa.recognizer_program", argument)) for _ in range(processes)
        ]

    def choose_process(self) -> RecognizerProcess:
        return min(self.processes, key=lambda each: each.callers)

    async def start(self) -> None:
        await self.choose_process().start()

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self.processes))


class PackRecognizers:
    """All recognizers of the packs of a process."""

    def __init__(self, packs: InstalledPacks, processes: int = 1) -> None:
        self.packs = packs
        self.pool = ProgramPool("stt", lambda pack: PackRecognizerProcesses(pack, processes))

    def build(self, choice: ModelChoice) -> "PackStt":
        return PackStt(self, choice)

    async def check(self, choice: ModelChoice) -> None:
        """Loads the recognizer. Raises ModelError."""
        async with self.pool.use(self.packs.find_pack(choice.model, "stt")):
            return

    async def close(self) -> None:
        await self.pool.close()


class PackStt:
    """Implements Stt. Our voice detection cuts the utterances."""

    has_endpointing = False
    judges_turns = False

    def __init__(self, recognizers: PackRecognizers, choice: ModelChoice) -> None:
        self._recognizers = recognizers
        self._choice = choice
        self.model_ref = ModelRef("stt", PROVIDER, choice.model)

    async def open_stream(self, *, sample_rate: int, language: str) -> "PackSttStream":
        """Raises ModelError, not retryable where the pack is not there or does not know the language."""
        pack = self._recognizers.packs.find_pack(self._choice.model, "stt")
        assert pack.manifest.stt is not None
        known = pack.manifest.stt.languages
        if language.partition("-")[0].lower() not in {each.partition("-")[0].lower() for each in known}:
            raise ModelError(
                "stt_language", f"The voice pack {pack.name} understands {', '.join(known)} only.", retryable=False
            )
        pool = self._recognizers.pool
        process = (await pool.acquire(pack)).choose_process()
        try:
            await process.start()
        except BaseException:
            pool.release(pack)
            raise
        return PackSttStream(pool, pack, process, sample_rate)


class PackSttStream:
    """One caller. Audio of speech and a short lead-in goes to the program, which answers with what it understands."""

    _callers = itertools.count(1)

    def __init__(
        self,
        pool: ProgramPool[PackRecognizerProcesses],
        pack: InstalledPack,
        program: RecognizerProcess,
        sample_rate: int,
    ) -> None:
        self._pool = pool
        self._pack = pack
        self._program = program
        self._caller = next(self._callers) & 0xFFFFFFFF
        self._rate = sample_rate
        self._pre_roll = int(PRE_ROLL_S * sample_rate) * 2
        self._chunk = int(CHUNK_S * sample_rate) * 2
        self._max_bytes = int(MAX_UTTERANCE_S * sample_rate) * 2
        self._audio = bytearray()
        self._sent_bytes = 0
        self._is_speaking = False
        self._partial = ""
        self._steps: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        self._events: SttEventQueue = asyncio.Queue()
        self._is_closed = False
        self._tasks = TaskTracker()
        self._tasks.start(self._process_steps(), name="voice-pack-stt")
        program.callers += 1

    # -- called by the loop that carries audio ------------------------------------------------------------------------

    def push_audio(self, pcm: bytes) -> None:
        self._audio += pcm
        if not self._is_speaking:
            if len(self._audio) > 2 * self._pre_roll:
                del self._audio[: -self._pre_roll]
            return
        if len(self._audio) >= self._chunk:
            self._send_audio()
        if self._sent_bytes >= self._max_bytes:
            self.speech_ended()
            self.speech_started()

    def speech_started(self) -> None:
        if not self._is_speaking:
            self._is_speaking, self._sent_bytes = True, 0
            self._steps.put_nowait((BEGIN, json.dumps({"rate": self._rate}).encode()))
            del self._audio[: -self._pre_roll]

    def speech_ended(self) -> None:
        if self._is_speaking:
            self._is_speaking = False
            self._send_audio()
            self._steps.put_nowait((FINISH, b""))

    def set_expectation(self, expectation: Expectation) -> None:
        """Does nothing: these recognizers know every word of their language."""

    def _send_audio(self) -> None:
        if self._audio:
            self._sent_bytes += len(self._audio)
            self._steps.put_nowait((AUDIO, bytes(self._audio)))
            self._audio.clear()

    # -- requests to the program --------------------------------------------------------------------------------------

    async def _process_steps(self) -> None:
        while True:
            op, payload = await self._steps.get()
            try:
                if op == BEGIN:
                    self._partial = ""
                    self._program.send_request(self._caller, BEGIN, payload)
                    continue
                answer = await self._program.request_answer(self._caller, op, payload)
            except ModelError as error:
                self._events.put_nowait(error)
                return
            if (event := self._read_answer(op, answer)) is not None:
                self._events.put_nowait(event)

    def _read_answer(self, op: int, answer: dict[str, Any]) -> SttEvent | None:
        text = readable_text(str(answer["text"]))
        if op == FINISH:
            return SttEvent("final", text, answer["confidence"])
        if text == self._partial:
            return None
        self._partial = text
        return SttEvent("partial", text)

    def events(self) -> AsyncIterator[SttEvent]:
        return read_stt_events(self._events)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        await self._tasks.close()
        self._program.callers -= 1
        self._program.send_request(self._caller, FORGET)
        self._pool.release(self._pack)
        self._events.put_nowait(None)


def readable_text(text: str) -> str:
    """Returns what was understood as people write it: many recognizers know capital letters only."""
    clean = " ".join(text.split())
    return clean.lower() if clean.isupper() else clean
