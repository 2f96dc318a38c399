"""Runs the emulators of all speech vendors at once, each on its own port."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from offhook.kit.audio import Samples
from offhook_lab.speech.flux import FluxServer
from offhook_lab.speech.gemini_live import GeminiLiveServer
from offhook_lab.speech.nova_sonic import NovaSonicServer
from offhook_lab.speech.openai_audio import OpenAiAudioServer
from offhook_lab.speech.openai_realtime import OpenAiVoiceModelServer
from offhook_lab.speech.realtime_conversation import ModelAnswer
from offhook_lab.speech.recognizers import (
    AssemblyAiServer,
    DeepgramRecognizerServer,
    OpenAiRealtimeServer,
    SpeechmaticsServer,
)
from offhook_lab.speech.server import LabServer
from offhook_lab.speech.voice_model_server import answers_in_turn
from offhook_lab.speech.voices import (
    CartesiaServer,
    DeepgramVoiceServer,
    ElevenLabsServer,
    RimeServer,
)
from offhook_lab.speech.xai_voice import XaiVoiceServer

Say = Callable[[str, int], Awaitable[Samples]]
AnyServer = LabServer | OpenAiAudioServer
DEFAULT_SCRIPT: Final = (
    "Hello.",
    "I would like to book a table for two, please.",
    "Tomorrow at seven.",
    "Thank you, bye.",
)
DEFAULT_ANSWERS: Final = ("Hello, how can I help?", "Sure. For which day?", "That works. Anything else?")


@asynccontextmanager
async def every_server(
    *, host: str = "127.0.0.1", first_port: int = 0, script: Sequence[str] = DEFAULT_SCRIPT, say: Say | None = None
) -> AsyncIterator[list[tuple[str, AnyServer]]]:
    """Yields ("tts elevenlabs", server) and so on, until the block ends.

    ``first_port`` 0 takes free ports; ``script`` is the text that recognizers return for real speech, one sentence per
    utterance; ``say`` replaces the tones of the voices.
    """
    servers: list[tuple[str, AnyServer]] = [
        ("tts elevenlabs", ElevenLabsServer()),
        ("tts cartesia", CartesiaServer()),
        ("tts deepgram", DeepgramVoiceServer()),
        ("tts rime", RimeServer()),
        ("tts openai", OpenAiAudioServer(script=script)),
        ("stt deepgram", DeepgramRecognizerServer(script=script)),
        ("stt deepgram flux", FluxServer(script=script)),
        ("stt assemblyai", AssemblyAiServer(script=script)),
        ("stt speechmatics", SpeechmaticsServer(script=script)),
        ("stt openai", OpenAiRealtimeServer(script=script)),
        ("realtime openai", OpenAiVoiceModelServer(answers_in_turn(*map(ModelAnswer, DEFAULT_ANSWERS)))),
        ("realtime gemini", GeminiLiveServer(answers_in_turn(*map(ModelAnswer, DEFAULT_ANSWERS)))),
        ("realtime xai", XaiVoiceServer(answers_in_turn(*map(ModelAnswer, DEFAULT_ANSWERS)))),
        ("realtime nova sonic", NovaSonicServer(answers_in_turn(*map(ModelAnswer, DEFAULT_ANSWERS)))),
        ("stt openai (whisper-1, local servers)", OpenAiAudioServer(script=script)),
    ]
    async with AsyncExitStack() as stack:
        for number, (name, server) in enumerate(servers):
            if say is not None and name.startswith(("tts", "realtime")):
                server.say = say
            await stack.enter_async_context(server.running(host, first_port + number if first_port else 0))
        yield servers
