"""One call with one fault of a vendor: the caller, the tool, and the models of both ways to answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook_lab.speech.tones import GAP_S, HUMAN_VOICE, WORD_S, ToneLexicon, words_of
from tests.fakes.voice import ScriptedTool, Tools
from tests.voice.speech_to_speech.spoken_call import SpokenCall, Vendor, VendorKind, spoken_agent
from tests.voice.speech_to_speech.talking_model import (
    BOOK,
    BOOK_TOOL,
    BOOKED,
    EVERYTHING,
    STOP,
    THANKS,
    TalkingLlm,
    ToneTts,
    answer_vendor,
)

PATIENT: Final = {"max_user_idle_timeout": 200}
# How long the caller listens after the last turn.
LISTENS_S: Final = 7.0
# An answer is sent twice as fast as it is heard.
CHUNK_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Turn:
    """What the caller says, and when; ``is_cut``: the caller does not hear the answer to its end."""

    at_s: float
    text: str
    is_cut: bool = False

    @property
    def end_s(self) -> float:
        return self.at_s + len(words_of(self.text)) * (WORD_S + GAP_S)


# Every call has an answer with a tool, one that is interrupted, and one after it.
TURNS: Final = (Turn(4, BOOK), Turn(13, EVERYTHING, is_cut=True), Turn(17, STOP), Turn(24, THANKS))


@dataclass
class FaultyCall:
    """What a fault works on: the vendor's emulator, and the call that is about to begin."""

    lab: Vendor
    call: SpokenCall
    tool: ScriptedTool
    turns: Sequence[Turn]
    lexicon: ToneLexicon

    @property
    def server(self) -> Any:
        return self.lab.server

    @property
    def length_s(self) -> float:
        return self.turns[-1].at_s + LISTENS_S

    def at(self, second: float, action: Callable[[], object]) -> None:
        def act(_: object) -> None:
            action()

        self.call.does(act, at=second)

    def set_at(self, second: float, **switches: Any) -> None:
        """Sets switches of the emulator during the call; at 0 before it."""

        def switch() -> None:
            for name, value in switches.items():
                assert hasattr(self.server, name), name
                setattr(self.server, name, value)

        if second:
            self.at(second, switch)
        else:
            switch()


@dataclass(frozen=True)
class Fault:
    """``plant`` prepares what goes wrong; ``key`` and ``model`` are what the vendor is configured with, if not its own.

    ``turns`` are what the caller says, if not :data:`TURNS`. ``is_visible``: the call differs from one without the fault.
    """

    name: str
    plant: Callable[[FaultyCall], None] = lambda call: None
    turns: Sequence[Turn] = TURNS
    key: str = "lab-key"
    model: str = ""
    tool_s: float = 0.8
    is_visible: bool = True


NO_FAULT: Final = Fault("none")


async def hold_call(kind: VendorKind, fault: Fault) -> FaultyCall:
    """Holds the call to its end, on a loop of virtual time."""
    lexicon = ToneLexicon()
    tool = ScriptedTool(BOOK_TOOL, result=dict(BOOKED), takes_s=fault.tool_s, has_side_effects=True)
    async with kind.open_with(answer_vendor, model=fault.model, key=fault.key, lexicon=lexicon) as lab:
        lab.server.chunk_pause_s, lab.server.voice = CHUNK_PAUSE_S, HUMAN_VOICE
        agent = spoken_agent(tool_uuids=[BOOK_TOOL])
        call = SpokenCall(agent, tools=Tools(tool), configurations=dict(PATIENT), lexicon=lexicon)
        call.llms, call.ttss = [TalkingLlm()], [ToneTts(lexicon)]
        for turn in fault.turns:
            call.says(turn.text, at=turn.at_s)
        faulty = FaultyCall(lab, call, tool, fault.turns, lexicon)
        call.hangs_up(at=faulty.length_s)
        fault.plant(faulty)
        await lab.carry(call)
        return faulty
