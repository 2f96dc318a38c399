"""A call with a fault, judged from outside: by the telephone's recording, the emulator's log, the tool's, and the usage."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Final

from offhook.voice import events
from offhook_lab.speech.tones import words_of
from tests.fakes.clock import run_virtual
from tests.voice.speech_to_speech.fault_call import NO_FAULT, Fault, FaultyCall, Turn, hold_call
from tests.voice.speech_to_speech.phone_recording import PhoneRecording, Span, word_distance
from tests.voice.speech_to_speech.spoken_call import VendorKind
from tests.voice.speech_to_speech.talking_model import ANSWERS, BOOK, BOOKING, GREETING

MAX_SILENCE_S: Final = 3.0
MAX_WRONG_WORDS: Final = 1
# The last words of an answer tell that it was heard to its end.
LAST_WORDS: Final = 3
# A sentence of the transcript begins with the word that is heard within this time.
START_SLACK_S: Final = 0.15
FILLER: Final = "One moment, please."
CALL_LIMIT_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The four criteria, and how the call went.

    ``silence_s``: the longest time without a sound of the agent in which the caller waited, infinite for a call that was
    ended. ``wrong_words``: the most in one sentence of the transcript. ``forgotten_words``: the longest run of words that
    the vendor's last session has wrong, of either side. ``miscounted``: the difference from the emulator's count, over all
    units that are charged, and responses of unknown usage.
    """

    silence_s: float
    tools_lost: int
    tools_doubled: int
    wrong_words: int
    forgotten_words: int
    miscounted: float
    failures: tuple[str, ...]
    failovers: int
    sessions: int
    # what the emulator did and when the agent spoke, for comparison with a call without a fault
    trace: str

    @property
    def problems(self) -> list[str]:
        """Returns the criteria that the call has missed."""
        found = {
            f"silent for {self.silence_s:.1f} s": self.silence_s > MAX_SILENCE_S,
            f"{self.tools_lost} tools lost, {self.tools_doubled} doubled": self.tools_lost or self.tools_doubled,
            f"{self.wrong_words} words wrong in the transcript": self.wrong_words > MAX_WRONG_WORDS,
            f"{self.forgotten_words} words wrong at the vendor": self.forgotten_words > MAX_WRONG_WORDS,
            f"usage is off by {self.miscounted:g}": self.miscounted > 0,
        }
        return [text for text, is_missed in found.items() if is_missed]


def judge_fault(kind: VendorKind, fault: Fault) -> Verdict:
    """Holds a call with this fault, and judges it. Raises AssertionError for a fault that has changed nothing."""
    verdict = run_virtual(_judge_call(kind, fault), has_sockets=True, limit_s=CALL_LIMIT_S)
    if fault.is_visible and fault is not NO_FAULT:
        assert verdict.trace != _calm_trace(kind), "the fault has changed nothing"
    return verdict


@cache
def _calm_trace(kind: VendorKind) -> str:
    return judge_fault(kind, NO_FAULT).trace


async def _judge_call(kind: VendorKind, fault: Fault) -> Verdict:
    faulty = await hold_call(kind, fault)
    call, turns, tool = faulty.call, faulty.turns, faulty.tool
    phone = PhoneRecording(call.leg, call.started_at, faulty.length_s, faulty.lexicon)
    assert call.result is not None
    is_whole = call.result.end_reason == "caller_hung_up"
    silence_s = _longest_silence(phone, turns, faulty.length_s) if is_whole else float("inf")
    wanted = sum(turn.text == BOOK for turn in turns)
    return Verdict(
        silence_s=silence_s,
        tools_lost=max(wanted - tool.calls.count(dict(BOOKING)), 0),
        tools_doubled=max(len(tool.calls) - wanted, 0),
        wrong_words=_wrong_words(faulty, phone),
        forgotten_words=_forgotten_words(faulty, phone),
        miscounted=_miscounted(faulty),
        failures=tuple(call.failures),
        failovers=len(call.failovers),
        sessions=faulty.server.connections,
        trace=_trace(faulty.server, [round(sound.start_s, 1) for sound in phone.sounds()]),
    )


def _trace(server: Any, *more: Any) -> str:
    """Returns the emulator's log in short: the bytes of each kind of message, what came of them, and ``more``."""
    sizes: Counter[str] = Counter()
    for message in server.sent:
        sizes[str(message.get("type") or next(iter(message)))] += len(json.dumps(message))
    return str((sorted(sizes.items()), server.usage, server.complaints, server.connections, len(server.requests), more))


# -- silence ----------------------------------------------------------------------------------------------------------


def _longest_silence(phone: PhoneRecording, turns: Sequence[Turn], length_s: float) -> float:
    """Returns the longest time that the caller waited for the greeting, for an answer, or for its rest."""
    sounds, words = phone.sounds(), phone.words()
    waits = [(0.0, turns[0].at_s, GREETING)]
    for turn, end_s in zip(turns, [*(later.at_s for later in turns[1:]), length_s], strict=True):
        waits.append((turn.end_s, end_s, "" if turn.is_cut else ANSWERS[turn.text]))
    longest = 0.0
    for start_s, end_s, answer in waits:
        heard = [word.text or "?" for word in words if start_s <= word.start_s < end_s]
        is_answered = heard[-LAST_WORDS:] == words_of(answer)[-LAST_WORDS:] if answer else bool(heard)
        longest = max([longest, *_silences(sounds, start_s, end_s, is_answered=is_answered)])
    return longest


def _silences(sounds: Sequence[Span], start_s: float, end_s: float, *, is_answered: bool) -> list[float]:
    """Returns the silences of a stretch of the call; the last one counts unless the caller has been answered."""
    found, silent_from = list[float](), start_s
    for sound in sounds:
        if sound.end_s <= start_s or sound.start_s >= end_s:
            continue
        found.append(sound.start_s - silent_from)
        silent_from = sound.end_s
    return found if is_answered else [*found, end_s - silent_from]


# -- what was heard ---------------------------------------------------------------------------------------------------


def _wrong_words(faulty: FaultyCall, phone: PhoneRecording) -> int:
    """Returns the most words by which a sentence of the transcript differs from what the telephone has played."""
    said = faulty.call.sink.of(events.AGENT_SAID)
    starts = [0.0, *(float(event["start_s"]) - START_SLACK_S for event in said[1:]), float("inf")]
    words, worst = phone.words(), 0
    for event, start_s, end_s in zip(said, starts[:-1], starts[1:], strict=True):
        heard = [word.text or "?" for word in words if start_s <= word.start_s < end_s]
        worst = max(worst, word_distance(words_of(str(event["text"])), heard))
    return worst if said else len(words)


def _forgotten_words(faulty: FaultyCall, phone: PhoneRecording) -> int:
    """Returns the longest run of words that the vendor's last session remembers otherwise; 0 when the cascade speaks."""
    begun = [session.conversation for session in faulty.server.sessions if session.conversation.entries]
    if len(faulty.call.failovers) % 2 or not begun:
        return 0
    heard = _without(words_of(FILLER), [word.text or "?" for word in phone.words()])
    lines = [(role, text) for role, text in begun[-1].remembered_lines() if not text.startswith("(")]
    agent = [word for role, text in lines if role == "assistant" for word in words_of(text)]
    caller = [word for role, text in lines if role == "user" for word in words_of(text)]
    spoken = [word for turn in faulty.turns for word in words_of(turn.text)]
    return max(_longest_difference(heard, agent), _longest_difference(spoken, caller))


def _without(phrase: Sequence[str], words: Sequence[str]) -> list[str]:
    """Returns the words without a phrase of our own, which no model has said."""
    rest, at = list[str](), 0
    while at < len(words):
        if words[at : at + len(phrase)] == phrase:
            at += len(phrase)
        else:
            rest.append(words[at])
            at += 1
    return rest


def _longest_difference(expected: Sequence[str], found: Sequence[str]) -> int:
    blocks = SequenceMatcher(None, expected, found, autojunk=False).get_opcodes()
    return max((max(b - a, d - c) for kind, a, b, c, d in blocks if kind != "equal"), default=0)


# -- usage ------------------------------------------------------------------------------------------------------------


def _miscounted(faulty: FaultyCall) -> float:
    """Returns by how much the run's usage differs from what the emulator has counted, over all units."""
    server, usage = faulty.server, faulty.call.usage
    counted = {name: amount for name, amount in usage.items() if name not in ("provider", "model", "calls")}
    expected = dict(server.counted_usage())
    if "seconds" not in expected:
        unknown = server.responses - len(server.usage)
        if not server.reports_usage:
            # each answer is unknown, and none is free
            expected, unknown = {}, max(usage["calls"], len(faulty.call.agent_said))
        expected |= {"unreported_responses": unknown} if unknown else {}
    return round(sum(abs(float(counted.get(name, 0) - expected.get(name, 0))) for name in {*counted, *expected}), 1)
