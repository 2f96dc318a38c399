"""The offline recognizer for calls on virtual time: it hears a sentence in a thread with a clock of its own."""

import asyncio
import threading
from typing import Final

import numpy as np

from offhook.kit.audio import MULAW_8K, Samples
from offhook.models.ports import Expectation
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.scenarios.sound.clips import RATE, SPEECH_RMS

# The line before and after a sentence.
_BEFORE_S: Final = 0.5
_AFTER_S: Final = 0.33
# Below the speech: on a line without noise the recognizer hears worse.
_NOISE_DB: Final = -20.0
# Of a sentence with its second attempt, on a busy machine.
TIMEOUT_S: Final = 60.0


async def recognize_clip(stt: BuiltinStt, expectation: Expectation, samples: Samples) -> str:
    """Returns what is heard in a clip at 8 kHz, which has some line before the speech."""
    stream = await stt.open_stream(sample_rate=RATE, language="en-US")
    stream.set_expectation(expectation)
    frame = RATE // 50
    for at in range(0, samples.size, frame):
        if at // frame == 20:
            stream.speech_started()
        stream.push_audio(samples[at : at + frame].tobytes())
    stream.speech_ended()
    event = await anext(event async for event in stream.events() if event.kind == "final")
    await stream.close()
    return event.text


class OfflineListener:
    """Recognizes sentences and blocks meanwhile, so that virtual time stands still."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._speech = SynthesizerProcess()
        # Virtual time stands still meanwhile: a busy machine must not change what is heard.
        self._stt = BuiltinStt(self._speech, silence_timeout_s=TIMEOUT_S, max_decoding_s=TIMEOUT_S)

    def recognize_speech(self, samples: Samples, expectation: Expectation) -> str:
        """Returns what is heard over a telephone line. Raises ModelError without the recognizer, TimeoutError."""
        before, after = int(_BEFORE_S * RATE), int(_AFTER_S * RATE)
        line = np.random.default_rng(0).normal(0, SPEECH_RMS * 10 ** (_NOISE_DB / 20), before + samples.size + after)
        line[before : before + samples.size] += samples
        sound = np.clip(line, -32768, 32767).astype(np.int16)
        heard = recognize_clip(self._stt, expectation, MULAW_8K.decode(MULAW_8K.encode(sound)))
        return asyncio.run_coroutine_threadsafe(heard, self._loop).result(TIMEOUT_S)

    def close(self) -> None:
        """Ends the programs and the thread."""
        for program in (self._stt, self._speech):
            asyncio.run_coroutine_threadsafe(program.close(), self._loop).result(TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
