"""Models that need no account and no network: rules that think, espeak-ng, pocketsphinx."""

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.synthesizer_process import SpeechProgram
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BuiltinTts, is_voice
from offhook.models.vendors import AnyVendor, Choice, ModelInfo, Vendor, VendorParts, VoiceInfo

_VOICES = (
    VoiceInfo(DEFAULT_VOICE, "American English", ("en",)),
    VoiceInfo("en-us+f3", "American English, higher", ("en",)),
    VoiceInfo("en-gb", "British English", ("en-gb",)),
    VoiceInfo("de", "German", ("de",)),
    VoiceInfo("es", "Spanish", ("es",)),
    VoiceInfo("fr-fr", "French", ("fr",)),
    VoiceInfo("it", "Italian", ("it",)),
    VoiceInfo("nl", "Dutch", ("nl",)),
    VoiceInfo("pl", "Polish", ("pl",)),
    VoiceInfo("pt-br", "Brazilian Portuguese", ("pt",)),
)


def vendors(parts: VendorParts) -> tuple[AnyVendor, ...]:
    """One speech program and one recognizer a process, shared by all voices and calls."""
    speech = SpeechProgram()
    llm = BuiltinLlm()
    stt = BuiltinStt(speech, processes=parts.settings.stt_processes)

    def voice(choice: Choice) -> BuiltinTts:
        return BuiltinTts(speech, voice=choice.voice_id, speed=choice.speed)

    return (
        Vendor(
            "llm",
            "builtin",
            "Offline rules",
            (ModelInfo("rules"), ModelInfo("builtin")),
            build=lambda _: llm,
            check=_works,
            needs_key=False,
            takes_base_url=False,
        ),
        Vendor(
            "tts",
            "builtin",
            "espeak-ng, offline",
            (ModelInfo("espeak-ng"),),
            build=voice,
            check=_works,
            voices=_VOICES,
            accepts_voice=is_voice,
            speeds=(0.5, 2.0),
            needs_key=False,
            takes_base_url=False,
            warm=speech.start,
            close=speech.close,
        ),
        Vendor(
            "stt",
            "builtin",
            "pocketsphinx, offline",
            (ModelInfo("pocketsphinx"),),
            build=lambda _: stt,
            check=_works,
            needs_key=False,
            takes_base_url=False,
            warm=stt.warm,
            close=stt.close,
        ),
    )


async def _works(choice: Choice) -> None:
    """There is no key that could be wrong."""
