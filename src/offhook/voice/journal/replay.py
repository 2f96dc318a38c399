"""Plays a call again from its journal: the same parts, on the same times, without models, tools or sound."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from offhook.kit.audio import CODECS, Codec, Samples
from offhook.kit.template import use_wall_clock
from offhook.models.ports import CallModels, ModelRef, Tts
from offhook.voice.call_context import CallAgent
from offhook.voice.call_inputs import CallBeat, CallInputs, CallTimer, use_call_inputs
from offhook.voice.events import VoiceEvent, is_live_only
from offhook.voice.input.beep_detector import BeepDetector
from offhook.voice.input.caller_sound import CallerSound
from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.journal.kinds import (
    APOLOGY,
    AUDIO,
    BEAT,
    DIGIT,
    END,
    JUDGED,
    MARK,
    TIME_LIMIT,
    UNCLEANED,
    VOICEMAIL,
    WINDOW,
)
from offhook.voice.journal.recorded_inputs import PlayerBeat
from offhook.voice.journal.replay_loop import run_with_journal
from offhook.voice.journal.replay_ports import (
    JournalToolbox,
    ReplayAnswers,
    ReplayKnowledge,
    ReplayLeg,
    ReplayLlm,
    ReplaySounds,
    ReplayStt,
    ReplayTts,
    ReplayVad,
    SilentCodec,
    repeat_frame,
)
from offhook.voice.journal.tape import CallJournal
from offhook.voice.journal.tape_player import JournalEnded, TapePlayer
from offhook.voice.output.canned_speech import CannedSpeech
from offhook.voice.output.voice_level import AgentVolume
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.session import CallSession

EVENT: Final = "event"


@dataclass(frozen=True, slots=True)
class Observation:
    """Something that a call did: an event, or a question to a model, a voice or documents (``kind``). ``turn`` counts what
    the caller said, ``node_id`` is where the call was."""

    kind: str
    at_ms: int
    data: Any
    turn: int
    node_id: str
    node: str


@dataclass(slots=True)
class ReplayedCall:
    """``observations`` are in order. ``deviations`` counts where the replay itself was not where the call had been."""

    observations: list[Observation] = field(default_factory=list)
    deviations: int = 0
    is_complete: bool = False

    @property
    def events(self) -> Sequence[Observation]:
        return [seen for seen in self.observations if seen.kind == EVENT]


class _Observer:
    """Implements RunSink."""

    def __init__(self, player: TapePlayer, started_at: float, call: ReplayedCall) -> None:
        self._player = player
        self._started_at = started_at
        self._call = call
        self._turn = 0
        self._node = ("", "")

    def emit(self, event: VoiceEvent) -> None:
        if is_live_only(event.type, event.data):
            return
        if event.type == "node_entered":
            self._node = (str(event.data["node_id"]), str(event.data["name"]))
        self._turn += event.type == "caller_said"
        self._add(EVENT, round(event.at_s * 1000), {"type": event.type, "data": event.data})

    def observe(self, kind: str, data: Any) -> None:
        self._add(kind, round((self._player.now - self._started_at) * 1000), data)

    def _add(self, kind: str, at_ms: int, data: Any) -> None:
        if self._player.is_over:
            return
        self._call.observations.append(Observation(kind, at_ms, data, self._turn, *self._node))


def replay_call(journal: CallJournal, agent: CallAgent) -> ReplayedCall:
    """Plays the call with this agent, whose tools are only looked at. The calling thread must not have an event loop."""
    call, player = ReplayedCall(), TapePlayer(journal)
    started = datetime.fromisoformat(journal.facts["started"])

    def wall_clock() -> datetime:
        return started + timedelta(seconds=player.now - journal.started_at)

    observer = _Observer(player, journal.started_at, call)
    try:
        with use_wall_clock(wall_clock):
            run_with_journal(player, _play(journal, agent, player, observer))
        call.is_complete = True
    except JournalEnded:
        call.is_complete = False
    call.deviations = player.deviations
    return call


async def _play(journal: CallJournal, agent: CallAgent, player: TapePlayer, observer: _Observer) -> None:
    facts, answers = journal.facts, ReplayAnswers(player, observer.observe)
    vad = ReplayVad(player, journal.window_s)
    beat = PlayerBeat(None, lambda at: None)
    codec = SilentCodec.of(CODECS[facts["codec"]])
    with use_call_inputs(_ReplayInputs(player, answers, beat)):
        session = CallSession(
            agent=replace(
                agent,
                # nothing is heard here, and the journal has nothing of how loud it was
                config=replace(agent.config, ambience=None, volume=AgentVolume(None), cleaning=None),
                toolbox=JournalToolbox(agent.toolbox, answers),
                sounds=ReplaySounds(answers),
                knowledge=ReplayKnowledge(answers),
                turn_detector=None,
            ),
            leg=ReplayLeg(codec, answers, confirms_playback=facts["confirms_playback"]),
            models=_models(facts, answers),
            sink=observer,
            vad=vad,
            recording=RecordingSwitch(_NoRecorder() if facts["is_recorded"] else None),
        )
    feed_audio, silence = session.feed_audio, codec.silence_frame
    by_kind: dict[int, Callable[[Any], object]] = {
        DIGIT: session.feed_digit,
        MARK: session.feed_mark,
        END: session.end_call,
        APOLOGY: session.end_with_apology,
        TIME_LIMIT: session.limit_time,
        VOICEMAIL: session.voicemail_detected,
        JUDGED: session.on_pause_judged,
        UNCLEANED: session.caller_line.report_uncleaned,
        WINDOW: vad.give_window,
        BEAT: beat.send_due_frames,
    }

    def deliver(kind: int, value: Any) -> None:
        try:
            if kind == AUDIO:
                feed_audio(repeat_frame(silence, value))
            else:
                by_kind[kind](value)
        except Exception:  # noqa: BLE001 - of a call that is no longer the one of the journal, whatever it then does
            player.deviations += 1

    player.deliver = deliver
    await session.run()


def _models(facts: Any, answers: ReplayAnswers) -> CallModels:
    return replace(
        _models_of(facts, answers),
        by_language={
            language: _models_of({**facts, **of_language, "language": language}, answers)
            for language, of_language in facts.get("languages", {}).items()
        },
    )


def _models_of(facts: Any, answers: ReplayAnswers) -> CallModels:
    return CallModels(
        llm=tuple(ReplayLlm(ModelRef("llm", *ref), answers) for ref in facts["llm"]),
        tts=tuple(ReplayTts(ModelRef("tts", *ref), rate, answers) for *ref, rate in facts["tts"]),
        stt=tuple(ReplayStt(ModelRef("stt", *ref), has_endpointing, answers) for *ref, has_endpointing in facts["stt"]),
        language=facts["language"],
    )


class _NoRecorder:
    """Implements CallRecorder."""

    def record_caller(self, at_s: float, payload: bytes) -> None: ...

    def record_agent(self, at_s: float, payload: bytes) -> None: ...

    def discard(self) -> None: ...

    async def close(self) -> None: ...


class _ReplayInputs(CallInputs):
    def __init__(self, player: TapePlayer, answers: ReplayAnswers, beat: PlayerBeat) -> None:
        super().__init__()
        self._player = player
        self._answers = answers
        self._beat = beat
        self.time = player.time

    async def sleep(self, timer: str, seconds: float) -> None:
        name = self._answers.begin(timer)
        if self._player.knows_timer(name, seconds) or self._player.is_over:
            await self._player.next_answer(name)
        else:
            await asyncio.sleep(seconds)

    async def resumed(self, step: str) -> None:
        name = self._answers.name(step)
        if self._player.knows(name):
            await self._player.next_answer(name)

    def call_later(self, timer: str, delay_s: float, callback: Callable[[], None]) -> CallTimer:
        name = self._answers.begin(timer)
        if self._player.knows_timer(name, delay_s):
            return self._player.add_timer(name, callback)
        return self._loop.call_later(delay_s, callback)

    def beat(self) -> CallBeat:
        return self._beat

    def caller_sound(self) -> CallerSound:
        return _ReplayedSound(self._player)

    def canned_speech(self, tts: Tts, codec: Codec, level_db: float | None) -> CannedSpeech:
        return _ReplayedPhrases(tts, codec, self._player)

    def beep_detector(self, on_beep: Callable[[], None]) -> BeepDetector:
        return _ReplayedBeeps(on_beep, self._player)

    def level_db(self, samples: Samples) -> float:
        return float(self._player.take_measured("level", -90.0))

    def prepare_language_judge(self) -> None: ...

    def judge_language(self, text: str, languages: Sequence[str]) -> tuple[str, float] | None:
        judged = self._player.take_measured("language", None)
        return None if judged is None else (str(judged[0]), float(judged[1]))

    def frame_level(self, codec: Codec, frame: bytes) -> int:
        return int(self._player.take_measured("frame", 0))


class _ReplayedBeeps(BeepDetector):
    def __init__(self, on_beep: Callable[[], None], player: TapePlayer) -> None:
        super().__init__(on_beep)
        self._report_beep = on_beep
        self._player = player

    def push(self, samples: Samples) -> None:
        while self._player.take_beep():
            self._report_beep()


class _ReplayedPhrases(CannedSpeech):
    def __init__(self, tts: Tts, codec: Codec, player: TapePlayer) -> None:
        super().__init__(tts, codec)
        self._player = player

    def get(self, text: str) -> bytes | None:
        size = self._player.take_measured("phrase", None)
        return None if size is None else repeat_frame(self._codec.silence_frame, size)

    async def prepare(self, texts: Sequence[str]) -> None: ...


class _ReplayedSound(CallerSound):
    def __init__(self, player: TapePlayer) -> None:
        super().__init__(lambda: 0.0)
        self._player = player
        self.push = lambda samples: None

    def stands_out(self, is_speech: bool) -> bool:
        return bool(self._player.take_measured("out", True)) if is_speech else False

    @property
    def has_contrast(self) -> bool:
        return bool(self._player.take_measured("contrast", False))

    def measure_overlap(self, age_s: float) -> tuple[SoundEvidence, float, float]:
        found = self._player.take_measured("overlap", None)
        if found is None:
            return SoundEvidence(), 0.0, 0.0
        sound, distance_db, dullness_db = found
        return SoundEvidence(**sound), distance_db, dullness_db

    def was_turned_away(self) -> bool:
        return bool(self._player.take_measured("away", False))

    def sound_age_s(self) -> float:
        return float(self._player.take_measured("age", 0.0))

    def learn_voice(self) -> None: ...

    def was_breath(self) -> bool:
        return bool(self._player.take_measured("breath", False))

    def was_voice(self, span_s: float) -> bool:
        return bool(self._player.take_measured("voice", True))
