"""Models that need no account and no network: a rule-based agent, espeak-ng and pocketsphinx."""

from offhook.models.providers.builtin.acts.classifier import load_shipped_classifier
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.stt import BuiltinStt
from offhook.models.providers.builtin.tts import DEFAULT_VOICE, BuiltinTts, is_voice
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.models.vendors import AnyVendor, ModelChoice, ModelInfo, ModelVendor, VendorContext, VoiceInfo

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


def vendors(parts: VendorContext) -> tuple[AnyVendor, ...]:
    """Returns the vendors, with one speech program and one recognizer per process for all voices and calls."""
    speech = SynthesizerProcess()
    llm = BuiltinLlm(parts.embed_sentences, load_classifier=load_shipped_classifier, read_edges=parts.read_edges)
    stt = BuiltinStt(speech, processes=parts.settings.stt_processes)

    def build_voice(choice: ModelChoice) -> BuiltinTts:
        return BuiltinTts(speech, voice=choice.voice_id, speed=choice.speed)

    return (
        ModelVendor(
            "llm",
            "builtin",
            "Offline rules",
            (ModelInfo("rules"), ModelInfo("builtin")),
            build=lambda _: llm,
            check=_always_works,
            needs_key=False,
            takes_base_url=False,
        ),
        ModelVendor(
            "tts",
            "builtin",
            "Offline voice (eSpeak NG)",
            (ModelInfo("espeak-ng"),),
            build=build_voice,
            check=_always_works,
            voices=_VOICES,
            accepts_voice=is_voice,
            speeds=(0.5, 2.0),
            needs_key=False,
            takes_base_url=False,
            warm=speech.start,
            close=speech.close,
        ),
        ModelVendor(
            "stt",
            "builtin",
            "Offline recognition (PocketSphinx)",
            (ModelInfo("pocketsphinx"),),
            build=lambda _: stt,
            check=_always_works,
            needs_key=False,
            takes_base_url=False,
            warm=stt.warm_up,
            close=stt.close,
        ),
    )


async def _always_works(choice: ModelChoice) -> None:
    """Returns at once: there is no key to check."""
