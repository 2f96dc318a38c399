"""Shared code of the emulated speech-to-speech vendors: a scripted model, its pace, and faults that all of them have."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed

from offhook.kit.audio import Samples
from offhook_lab.speech.realtime_conversation import Entry, ModelAnswer, VendorConversation
from offhook_lab.speech.server import LabServer
from offhook_lab.speech.tones import LEXICON, QUICK_VOICE, ToneLexicon

Answer = Callable[[VendorConversation], ModelAnswer]


def answers_in_turn(*answers: ModelAnswer) -> Answer:
    """Returns a model that gives these answers one after another, and the last one from then on."""
    left = list(answers)
    return lambda conversation: left.pop(0) if len(left) > 1 else left[0]


class VendorSession(Protocol):
    """One connection of an emulated vendor."""

    conversation: VendorConversation


class VoiceModelServer(LabServer):
    """``model`` decides what is answered, and ``voice`` says it.

    Faults besides :class:`SpeechFault`'s (whose pieces are those of 100 ms audio): ``session_s`` is the vendor's limit;
    ``cancel_s``: how long a response goes on after its cancellation; ``reports_usage``; ``broken_arguments``: the next
    call's arguments are no JSON object.
    """

    def __init__(self, model: Answer | None = None, lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(lexicon=lexicon)
        self.model: Answer = model or answers_in_turn(ModelAnswer("Hello, how can I help?"))
        self.voice = QUICK_VOICE
        self.first_audio_s = 0.2
        self.chunk_pause_s = 0.01
        self.session_s = 3600.0
        self.cancel_s = 0.0
        self.reports_usage = True
        self.broken_arguments = False
        self.responses = 0
        # the reports of usage in the vendor's shape
        self.usage: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.count = 0
        # what the client did that the vendor refused, as its sentences
        self.complaints: list[str] = []

    def next_id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}"

    def spoken_entry(self, text: str) -> Entry:
        """Returns the entry of an answer that begins."""
        return Entry(self.next_id("item"), "message", "assistant", text, is_ours=True, spoken=text, voice=self.voice)

    async def speak(self, text: str, rate: int) -> Samples:
        return await self.say(text, rate) if self.say is not None else self.voice.speak(text, rate, self.lexicon)

    @property
    @abstractmethod
    def newest_session(self) -> VendorSession: ...

    @property
    def conversation(self) -> VendorConversation:
        """Returns the conversation of the newest session."""
        return self.newest_session.conversation

    @abstractmethod
    def start_orphan(self) -> None:
        """Begins a response that nobody has asked for, in the newest session."""

    @abstractmethod
    def empty_account(self) -> None:
        """Lets the next response fail because the account is empty."""

    @abstractmethod
    def filter_answer(self) -> None:
        """Lets the vendor's filter cut the next answer off."""

    @abstractmethod
    def counted_usage(self) -> dict[str, float]:
        """Returns all that is charged, by the names of Offhook's usage."""


async def run_until_closed(work: Coroutine[Any, Any, None]) -> None:
    """Runs what sends to a client until it is done, or the client has gone."""
    with suppress(ConnectionClosed):
        await work


def add_tokens(total: dict[str, float], name: str, tokens: int) -> None:
    """Adds tokens to a total without zeros."""
    if tokens:
        total[name] = total.get(name, 0) + tokens
