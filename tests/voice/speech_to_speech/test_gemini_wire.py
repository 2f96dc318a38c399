"""Gemini Live: both sides against the types of the vendor's SDK, what is its own on a call, and how its reports are read."""

from typing import Any

import pytest
from google.genai import Client, _live_converters, types
from google.genai._common import convert_to_dict
from pydantic.alias_generators import to_camel

from offhook.models.providers.gemini_live.wire import closed_error, read_usage
from offhook.models.speech.errors import VendorErrors
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import GEMINI, LONG, SURE, SpokenCall, answer, on_a_line, spoken_agent

GREETING = "Hello, how can I help?"
ERRORS = VendorErrors("realtime", "AIza-secret")


def check(model: Any, messages: list[dict[str, Any]]) -> set[str]:
    """Validates against the SDK's types, which forbid fields that they do not have."""
    for message in messages:
        model.model_validate(message)
    return {kind for message in messages for kind in message}


def setup_of_the_sdk(setup: dict[str, Any]) -> dict[str, Any]:
    """What the SDK sends for these settings; its type of the message itself lacks some of them."""
    generation = setup["generationConfig"]
    config = types.LiveConnectConfig.model_validate(
        {
            "responseModalities": generation["responseModalities"],
            "speechConfig": generation["speechConfig"],
            **{name: value for name, value in setup.items() if name not in ("model", "generationConfig")},
        }
    )
    parameters = types.LiveConnectParameters(model=setup["model"], config=config)
    sent = _live_converters._LiveConnectParameters_to_mldev(
        Client(api_key="none")._api_client, parameters.model_dump(exclude_none=True)
    )
    found: dict[str, Any] = in_camel_case(convert_to_dict(sent)["setup"])
    return found


def in_camel_case(value: Any) -> Any:
    """The SDK leaves names inside of some objects as they are; the vendor takes both."""
    if isinstance(value, dict):
        return {to_camel(name): in_camel_case(part) for name, part in value.items()}
    return value


def test_both_sides_speak_the_vendors_language() -> None:
    async def scenario() -> None:
        look = ScriptedTool("look_up", result={"free": True})
        script = [answer("Hello there."), answer("", "look_up", day="monday"), answer(LONG), answer("Of course.")]
        async with GEMINI.open(*script) as lab:
            call = SpokenCall(spoken_agent(tool_uuids=["look_up"]), tools=Tools(look))
            call.says("is monday free", at=4).says("stop please", at=8).presses("7#", at=13)
            await lab.carry(call.hangs_up(at=18))

            setups = [message["setup"] for message in lab.server.messages if "setup" in message]
            assert [setup_of_the_sdk(setup) for setup in setups] == setups
            others = [message for message in lab.server.messages if "setup" not in message]
            assert check(types.LiveClientMessage, others) == {
                "contextUpdate",
                "clientContent",
                "realtimeInput",
                "toolResponse",
            }
            kinds = check(types.LiveServerMessage, lab.server.sent)
            assert kinds == {"setupComplete", "serverContent", "toolCall", "usageMetadata"}
            assert look.calls == [{"day": "monday"}]
            assert not lab.server.complaints

    on_a_line(scenario)


def test_turns_are_sent_when_they_are_over_and_nobody_else_detects_them() -> None:
    async def scenario() -> None:
        async with GEMINI.open() as lab:
            call = await lab.carry(SpokenCall(spoken_agent()).says("book a table", at=4).hangs_up(at=9))

            session = lab.server.newest_session
            detection = session.setup["realtimeInputConfig"]["automaticActivityDetection"]
            assert detection == {"disabled": True}
            marks = [m["realtimeInput"] for m in lab.server.messages if "realtimeInput" in m]
            assert marks == [{"activityStart": {}}, {"activityEnd": {}}]
            # speech with what came just before it, and none of the silence of nine seconds
            assert 3 * 0.2 < session.heard_bytes / 32000 < 3
            assert call.agent_said == [GREETING, SURE]

    on_a_line(scenario)


@pytest.mark.parametrize(
    ("code", "reason", "expected", "is_retryable"),
    [
        (1007, "API key not valid. Please pass a valid API key.", "realtime_unauthorized", False),
        (1008, "models/x is not found for API version v1beta, or is not supported", "realtime_not_found", False),
        (
            1011,
            "You exceeded your current quota, please check your plan and billing details.",
            "realtime_no_quota",
            False,
        ),
        (1008, "Your project has been denied access: permission denied.", "realtime_forbidden", False),
        (1007, "Request contains an invalid argument.", "realtime_bad_request", False),
        (1011, "Deadline expired before operation could complete.", "realtime_cut_off", True),
        (1006, "", "realtime_cut_off", True),
    ],
)
def test_a_closed_connection_says_why(code: int, reason: str, expected: str, is_retryable: bool) -> None:
    error = closed_error(ERRORS, code, reason)
    assert (error.code, error.retryable) == (expected, is_retryable)


class TestUsage:
    def test_tokens_of_no_modality_count_as_the_dearer_one(self) -> None:
        # as a user of gemini-3.8-live has seen it
        used = read_usage(
            {
                "promptTokenCount": 522,
                "responseTokenCount": 42,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 332},
                    {"modality": "AUDIO", "tokenCount": 165},
                ],
                "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 42}],
                "thoughtsTokenCount": 136,
            }
        )
        assert used is not None
        assert used.counts() == {
            "text_input_tokens": 332,
            "audio_input_tokens": 165 + 25,
            "text_output_tokens": 136,
            "audio_output_tokens": 42,
        }

    def test_cached_tokens_are_not_counted_twice_and_tools_are_counted(self) -> None:
        used = read_usage(
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}],
                "cacheTokensDetails": [{"modality": "TEXT", "tokenCount": 60}],
                "toolUsePromptTokenCount": 9,
            }
        )
        assert used is not None
        assert used.counts() == {"text_input_tokens": 49, "text_cached_tokens": 60}

    @pytest.mark.parametrize(
        "usage",
        [
            {"promptTokenCount": 10},
            {"responseTokenCount": 10, "responseTokensDetails": []},
            {
                "promptTokenCount": 10,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
                "cachedContentTokenCount": 4,
            },
        ],
    )
    def test_usage_that_is_not_split_by_modality_is_unknown(self, usage: dict[str, Any]) -> None:
        assert read_usage(usage) is None
