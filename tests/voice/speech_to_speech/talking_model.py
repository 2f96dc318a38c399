"""A model that answers by what its conversation says: what a fault has lost or doubled there changes what it does.

The same rules answer for the emulated vendors and for the cascade, so that a caller gets the same answers from both.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from offhook.models.ports import LlmEvent, LlmRequest, LlmUsage, ModelRef, TextDelta, ToolCall, ToolCalled
from offhook_lab.speech.realtime_conversation import Entry, ModelAnswer, VendorConversation
from offhook_lab.speech.tones import HUMAN_VOICE, ToneLexicon, words_of

GREETING: Final = "Hello, how can I help?"
BOOK: Final = "please book monday for me"
EVERYTHING: Final = "tell me everything"
STOP: Final = "stop please"
THANKS: Final = "thank you for that"
THERE: Final = "are you there"
LONG: Final = (
    "Well there are many things that I could tell you about this and I will tell you all of them one after another"
)
ANSWERS: Final[Mapping[str, str]] = {
    BOOK: "Your table is booked for monday.",
    EVERYTHING: LONG,
    STOP: "Of course, what else can I do?",
    THANKS: "You are very welcome.",
    THERE: "Yes, I am here with you.",
}
BOOK_TOOL: Final = "book"
BOOKING: Final[Mapping[str, str]] = {"day": "monday"}
BOOKED: Final[Mapping[str, bool]] = {"booked": True}
NOTHING_LEFT: Final = "That is all."


@dataclass(frozen=True, slots=True)
class Line:
    """What a model has before it: words of the ``caller`` or the ``agent``, a ``call`` or its ``result``."""

    kind: str
    text: str = ""


def next_answer(lines: Sequence[Line]) -> ModelAnswer:
    """Returns what the model does now: it books once, and goes on where its last answer to the caller was cut off."""
    turns = [index for index, line in enumerate(lines) if line.kind == "caller"]
    if any(_request_in(lines[index].text) == BOOK for index in turns) and not _is_booking_known(lines):
        return ModelAnswer("", ((BOOK_TOOL, BOOKING),))
    answer = ANSWERS[_request_in(lines[turns[-1]].text)] if turns else GREETING
    behind = lines[turns[-1] + 1 :] if turns else lines
    said = [word for line in behind if line.kind == "agent" for word in words_of(line.text)]
    if words_of(answer)[: len(said)] != said:
        return ModelAnswer(answer)
    return ModelAnswer(" ".join(answer.split()[len(said) :]) or NOTHING_LEFT)


def _is_booking_known(lines: Sequence[Line]) -> bool:
    return any(line.kind in ("call", "result") for line in lines)


def _request_in(text: str) -> str:
    """Returns the last request in the caller's words, also when one of them was misheard."""
    found = next((request for request in ANSWERS if text.endswith(request)), "")
    return found or next(iter(get_close_matches(text, ANSWERS, 1, 0.0)), THERE)


def answer_vendor(conversation: VendorConversation) -> ModelAnswer:
    """Implements the model of an emulated vendor."""
    return next_answer([line for entry in conversation.entries for line in _lines_of(entry)])


def _lines_of(entry: Entry) -> Iterator[Line]:
    text = entry.remembered
    if entry.kind in ("function_call", "function_call_output"):
        yield Line("call" if entry.kind == "function_call" else "result", text)
    elif entry.role == "assistant":
        yield Line("agent", text)
    elif entry.role == "user" and not text.startswith("("):
        yield Line("caller", text)
    elif text.startswith("(Result of"):
        # what another session has called
        yield Line("result", text)


@dataclass(eq=False)
class TalkingLlm:
    """Implements Llm: the cascade's model."""

    requests: int = 0
    _calls: int = 0

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("llm", "cascade", "rules")

    async def stream(self, request: LlmRequest) -> AsyncIterator[LlmEvent]:
        if request.response_schema is not None:
            yield TextDelta("{}")
            return
        self.requests += 1
        answer = next_answer(list(_request_lines(request)))
        await asyncio.sleep(0.2)
        if answer.text:
            yield TextDelta(answer.text)
        for name, arguments in answer.calls:
            self._calls += 1
            yield ToolCalled(ToolCall(f"cascade_{self._calls}", name, dict(arguments)))
        yield LlmUsage(10, 5)


def _request_lines(request: LlmRequest) -> Iterable[Line]:
    for message in request.messages:
        if message.role == "user":
            yield Line("caller", message.content)
        elif message.role == "tool":
            yield Line("result", message.content)
        elif message.role == "assistant":
            if message.content:
                yield Line("agent", message.content)
            yield from (Line("call", call.name) for call in message.tool_calls)


@dataclass(eq=False)
class ToneTts:
    """Implements Tts: the cascade's voice, which can be read back into words."""

    lexicon: ToneLexicon
    sample_rate: int = 8000
    spoken: list[str] = field(default_factory=list)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("tts", "cascade", "tones")

    async def speak(self, text: str) -> AsyncIterator[bytes]:
        self.spoken.append(text)
        await asyncio.sleep(0.08)
        samples, step = HUMAN_VOICE.speak(text, self.sample_rate, self.lexicon), self.sample_rate // 10
        for at in range(0, samples.size, step):
            yield samples[at : at + step].astype("<i2").tobytes()
            await asyncio.sleep(0.01)
