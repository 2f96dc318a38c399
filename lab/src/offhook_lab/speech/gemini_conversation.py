"""What the emulated Gemini Live API checks in a client's messages, and how it counts tokens."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook_lab.speech.realtime_conversation import ModelAnswer, VendorConversation

IN_RATE: Final = 16000
OUT_RATE: Final = 24000
MODELS: Final = ("gemini-3.8-live", "gemini-3.1-flash-live-preview")
VOICES: Final = ("Kore", "Aoede", "Charon", "Fenrir", "Leda", "Orus", "Puck", "Zephyr")
# Some tokens of every answer are thoughts, which are charged as text.
THOUGHT_TOKENS: Final = 7


def check_setup(setup: Mapping[str, Any]) -> tuple[int, str] | None:
    """Returns the close code and the reason for settings that the vendor does not take."""
    model = str(setup.get("model", ""))
    if model.removeprefix("models/") not in MODELS or not model.startswith("models/"):
        return 1008, f"{model} is not found for API version v1beta, or is not supported for bidiGenerateContent."
    config = setup.get("generationConfig") or {}
    # from the model's page: what it does not have is an error
    has_unknown = "thinkingConfig" in config or "enableAffectiveDialog" in config or "proactivity" in setup
    voice = (((config.get("speechConfig") or {}).get("voiceConfig") or {}).get("prebuiltVoiceConfig") or {}).get(
        "voiceName", VOICES[0]
    )
    if has_unknown or config.get("responseModalities") != ["AUDIO"] or voice not in VOICES:
        return 1007, "Request contains an invalid argument."
    detection = (setup.get("realtimeInputConfig") or {}).get("automaticActivityDetection") or {}
    if not detection.get("disabled"):
        return 1007, "This emulator has no activity detection of its own."
    return None


def read_turns(turns: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]] | None:
    """Returns who said what; None for roles and parts that the vendor refuses."""
    found: list[tuple[str, str]] = []
    for turn in turns:
        role = {"user": "user", "model": "assistant"}.get(turn.get("role", ""))
        # ?? calls and results in turns: SDK users leave them out
        if role is None or not turn.get("parts") or any(set(part) != {"text"} for part in turn["parts"]):
            return None
        found.append((role, " ".join(part["text"] for part in turn["parts"])))
    return found


def read_functions(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    return [declared["name"] for tool in tools for declared in tool["functionDeclarations"]]


def count_usage(used: Mapping[str, Any], answer: ModelAnswer, audio_s: float, uncovered: int) -> dict[str, Any]:
    """Returns the report of a turn in the vendor's shape; ``uncovered`` tokens of the prompt are in no modality."""
    made = VendorConversation().count_usage(answer, audio_s)
    inputs, outputs = used["input_token_details"], made["output_token_details"]
    prompt, response = used["input_tokens"] + uncovered, outputs["audio_tokens"]
    return {
        "promptTokenCount": prompt,
        "responseTokenCount": response,
        "totalTokenCount": prompt + response,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": inputs["text_tokens"]},
            {"modality": "AUDIO", "tokenCount": inputs["audio_tokens"]},
        ],
        "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": response}],
        "thoughtsTokenCount": THOUGHT_TOKENS if audio_s or answer.calls else 0,
    }
