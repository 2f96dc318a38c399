"""Faults of speech-to-speech vendors: those that each of the four can have, and those of single ones."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from offhook_lab.speech.server import FaultKind, SpeechFault
from tests.voice.speech_to_speech.fault_call import TURNS, Fault, FaultyCall, Turn
from tests.voice.speech_to_speech.spoken_call import GEMINI, NOVA, OPENAI, XAI, VendorKind
from tests.voice.speech_to_speech.talking_model import THERE

# Moments of a call of TURNS: after the greeting, while the booking runs, between two answers, before the long answer, and in it.
GREETED_S: Final = 3.0
TOOL_RUNS_S: Final = 6.2
BETWEEN_S: Final = 10.0
LONG_SOON_S: Final = 12.0
LONG_PREPARED_S: Final = 14.35
LONG_SPOKEN_S: Final = 15.5
INTERRUPTED_S: Final = 17.7


def _switched(name: str, second: float = 0.0, **switches: Any) -> Fault:
    """Returns a fault that is a switch of the emulator."""
    return Fault(name, lambda call: call.set_at(second, **switches))


def _breaks(name: str, kind: FaultKind, second: float = LONG_SOON_S, **how: Any) -> Fault:
    """Returns a fault of the next stream, sentence or handshake after this second."""
    return Fault(name, lambda call: call.set_at(second, fault=SpeechFault(kind, **how)))


def _does(name: str, second: float, action: Callable[[FaultyCall], object]) -> Fault:
    return Fault(name, lambda call: call.at(second, partial(action, call)))


def _drops(name: str, second: float) -> Fault:
    return _does(name, second, lambda call: call.server.drop_connections())


def _vanishes(call: FaultyCall) -> None:
    call.server.trouble = "server_error"
    call.server.drop_connections()


def _comes_back(call: FaultyCall) -> None:
    call.at(BETWEEN_S, partial(_vanishes, call))
    call.set_at(16.0, trouble=None)


def _filters_answer(call: FaultyCall) -> None:
    # the answer has come to its end before the caller interrupts it
    call.set_at(LONG_SOON_S, chunk_pause_s=0.01)
    call.at(LONG_SOON_S, call.server.filter_answer)


def _drops_before_slow_handshake(call: FaultyCall) -> None:
    call.set_at(BETWEEN_S, fault=SpeechFault("slow", seconds=1.5))
    call.at(BETWEEN_S, call.server.drop_connections)


def _rotates(call: FaultyCall) -> None:
    call.lab.model.capabilities = replace(call.lab.model.capabilities, max_session_s=9.0)
    call.server.session_s = 9.0


UNHEARD_TURNS: Final = (*TURNS[:2], replace(TURNS[2], at_s=14.5), *TURNS[3:])
IMPATIENT_TURNS: Final = (replace(TURNS[0], is_cut=True), Turn(6.0, THERE), *TURNS[1:])
TALKS_ON_TURNS: Final = (replace(TURNS[0], is_cut=True), Turn(7.0, THERE), *TURNS[1:])

SHARED: Final[Sequence[Fault]] = (
    # what comes again with every attempt
    Fault("wrong key", key="wrong-key"),
    Fault("unknown model", model="somebody-99"),
    _switched("no money", trouble="no_quota"),
    _does("money ends during the call", LONG_SOON_S, lambda call: call.server.empty_account()),
    # lost connections
    _drops("connection lost in the greeting", 0.5),
    _drops("connection lost between answers", BETWEEN_S),
    _drops("connection lost while the caller speaks", 13.4),
    _drops("connection lost before the first sound", LONG_PREPARED_S),
    _drops("connection lost in an answer", LONG_SPOKEN_S),
    _drops("connection lost as the caller interrupts", INTERRUPTED_S),
    _drops("connection lost while a tool runs", TOOL_RUNS_S),
    _breaks("reset before the first sound", "cut"),
    _breaks("reset in a sentence", "cut", after=8),
    _breaks("reset in two sentences in a row", "cut", after=4, times=2),
    _breaks("internal error in a sentence", "close", after=8),
    _breaks("internal error after a result", "close", TOOL_RUNS_S),
    _breaks("garbage in a sentence", "garbage", after=8),
    _breaks("binary garbage in a sentence", "binary_garbage", after=8),
    _switched("away from the start", trouble="server_error"),
    _does("away between answers", BETWEEN_S, _vanishes),
    _does("away in an answer", LONG_SPOKEN_S, _vanishes),
    _does("away while a tool runs", TOOL_RUNS_S, _vanishes),
    Fault("away, and back", _comes_back, turns=(*TURNS, Turn(36, THERE))),
    # silence
    _breaks("handshake never answered", "silent", 0.0, times=9),
    _breaks("handshake answered late", "slow", 0.0, seconds=1.5),
    Fault("lost, and the next handshake is late", _drops_before_slow_handshake),
    _breaks("stalled before the first sound", "stall"),
    _breaks("stalled in a sentence", "stall", after=8),
    _breaks("stalled after a result", "stall", TOOL_RUNS_S),
    _switched("first sound late", LONG_SOON_S, first_audio_s=2.3),
    # one response at a time
    _does("an answer unasked between answers", BETWEEN_S, lambda call: call.server.start_orphan()),
    _does("an answer unasked before an answer", 14.1, lambda call: call.server.start_orphan()),
    _switched("canceled late", cancel_s=0.5, chunk_pause_s=0.09),
    Fault(
        "interrupted before the first sound", lambda call: call.set_at(LONG_SOON_S, first_audio_s=0.9), UNHEARD_TURNS
    ),
    # tools
    Fault("interrupted before a call", lambda call: call.set_at(GREETED_S, first_audio_s=1.2), IMPATIENT_TURNS),
    Fault("speech while a tool runs", turns=TALKS_ON_TURNS, tool_s=3.0),
    Fault("a slow tool", tool_s=4.0),
    _switched("arguments that are none", GREETED_S, broken_arguments=True),
    # the rest
    Fault("filtered answer", _filters_answer),
    _switched("usage not reported", reports_usage=False),
    _switched("session ends early, between answers", session_s=11.0),
    _switched("session ends early, in an answer", session_s=15.5),
    Fault("a session's limit three times", _rotates),
)


def _cancels_calls(call: FaultyCall) -> None:
    call.at(TOOL_RUNS_S, lambda: asyncio.ensure_future(call.server.newest_session.cancel_calls()))


# The words of an answer that is interrupted before they come are not known to anybody: here they come first.
_WORDS_AFTER_SOUND: Final = _switched("words after the sound", has_late_words=True, chunk_pause_s=0.01)
OF_OPENAI: Final = (
    _switched("audio shorter than what was sent", shorter_ms=5000),
    _switched("response fails: rate limit", LONG_SOON_S, next_status="failed:rate_limit_exceeded"),
    _switched("response fails: server error", LONG_SOON_S, next_status="failed:server_error"),
    _switched("response fails after a result", TOOL_RUNS_S, next_status="failed:server_error"),
)
OF_XAI: Final = (
    _switched("audio shorter than what was sent", shorter_ms=5000),
    _switched("refused cut without a name", shorter_ms=5000, names_events=False),
    _switched("responses without metadata", echoes_metadata=False),
    _switched("canceled response never ends", drops_canceled=True, chunk_pause_s=0.09),
    _switched("names of the beta", uses_old_names=True),
    _switched("calls only at the end of a response", omits_items=True),
    _does("response refused", LONG_SOON_S, lambda call: call.server.refuse_next_response()),
)
OF_GEMINI: Final = (
    _does("end announced", 9.0, lambda call: call.server.newest_session.go_away(0.0, 10.0)),
    Fault(
        "pong half a minute late",
        # the client pings a connection that was idle for 45 s
        lambda call: call.at(70.0, lambda: call.server.delay_pongs(35.0)),
        turns=(*TURNS, Turn(110, THERE)),
    ),
    Fault("calls canceled by the vendor", _cancels_calls),
    _switched("turn without an answer", LONG_SOON_S, next_reason="NEED_MORE_INPUT"),
    _switched("malformed call", GREETED_S, next_reason="MALFORMED_FUNCTION_CALL"),
    _switched("interrupts itself", LONG_SOON_S, interrupts_itself=True),
    _WORDS_AFTER_SOUND,
    _switched("turns end late", completes_after_s=8.0),
    _switched("tokens of no modality", uncovered_tokens=25),
)
OF_NOVA: Final = (
    _switched("stream error in a turn", LONG_SOON_S, next_exception=("modelStreamErrorException", "Try again.")),
    _switched("turn without an answer", LONG_SOON_S, answers_nothing=True),
    _switched("interrupts itself", LONG_SOON_S, interrupts_itself=True),
    _WORDS_AFTER_SOUND,
    _switched("calls come twice", repeats_calls=True),
    _switched("half a sample", LONG_SOON_S, next_audio="AAA="),
)
FAULTS: Final[Mapping[str, Sequence[Fault]]] = {
    OPENAI.provider: (*SHARED, *OF_OPENAI),
    GEMINI.provider: (*SHARED, *OF_GEMINI),
    XAI.provider: (*SHARED, *OF_XAI),
    NOVA.provider: (*SHARED, *OF_NOVA),
}


def cells(kinds: Sequence[VendorKind]) -> list[tuple[VendorKind, Fault]]:
    """Returns every fault of these vendors."""
    return [(kind, fault) for kind in kinds for fault in FAULTS[kind.provider]]
