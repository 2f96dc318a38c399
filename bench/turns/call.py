"""One call of the panel: the far end of its line on a grid of 20 ms, and a caller who reacts to what is heard."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from tests.fakes.voice import KeptEvents, Tools

from bench.turns import clips
from bench.turns.agent import DEFINITION, PanelLlm, PanelVoice
from bench.turns.clips import FRAME, ClipLibrary, FloatArray
from bench.turns.phrases import PHRASES, REAL, Pool
from bench.turns.recognizer import VendorEmulator
from offhook.kit.audio import FRAME_S, MULAW_8K, Codec, Samples
from offhook.models.ports import CallModels
from offhook.scenarios.sound.clips import RATE, SPEECH_RMS, Clip, at_level
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import VadEngine
from offhook.voice.session import CallSession
from offhook.workflows.graph import parse_graph

LOUD_RMS: Final = 100.0
ANSWER_TIMEOUT_S: Final = 8.0
OVER_WEIGHTS: Final = {
    "interruption": 0.2,
    "command": 0.12,
    "answer": 0.1,
    "backchannel": 0.28,
    "tic": 0.15,
    "side": 0.15,
}
SILENT_WEIGHTS: Final = {"turn": 0.4, "pause": 0.36, "tic": 0.12, "side": 0.12}
MIN_LEFT_S: Final = 3.2
# Where the agent is in its speech is looked for with the last sound, once for each stretch of it, and before a
# listening sound and an answer.
HEARD_FRAMES: Final = 20
# The share of answers that the caller hears to their end.
HEAR_OUT: Final = "hear_out"
HEARD_OUT: Final = 0.3
# So much of a question is said when callers answer it.
ANSWER_SHARE: Final = 0.7
# Later in a question a listening sound would be an answer, for people as well, and for a while after it.
QUESTION_SHARE: Final = 0.4
QUESTION_OPEN_S: Final = 1.0


@dataclass(slots=True)
class Stimulus:
    """Something that the caller did: frames of the call at which it began and ended. ``over``: while the agent spoke,
    ``is_distant``: away from the handset."""

    kind: str
    text: str
    over: bool
    start: int
    end: int
    pauses: tuple[tuple[int, int], ...] = ()
    is_distant: bool = False


class Line(Protocol):
    """The caller's way to the session."""

    def send_audio(self, payload: bytes) -> None: ...
    def send_mark(self, name: str) -> None: ...


@dataclass
class FarEnd:
    """Implements CallLeg: what has arrived from the agent, played one frame every 20 ms."""

    codec: Codec = MULAW_8K
    queue: deque[bytes | str] = field(default_factory=deque)
    played: list[bytes] = field(default_factory=list)
    line: Line | None = None
    heard_s: float = 0.0
    voice: PanelVoice | None = None

    def send_frame(self, payload: bytes) -> None:
        self.queue.append(payload)

    def send_mark(self, name: str) -> None:
        self.queue.append(name)

    def clear_buffer(self) -> None:
        marks = [item for item in self.queue if isinstance(item, str)]
        self.queue.clear()
        self.heard_s = 0.0
        if self.voice is not None:
            self.voice.track.clear()
        for name in marks:
            asyncio.get_running_loop().call_soon(self._return, name)

    def send_event(self, event: VoiceEvent) -> None:
        """Does nothing: a telephone has no screen."""

    async def hang_up(self) -> None:
        """Does nothing: the caller hangs up."""

    def _return(self, name: str) -> None:
        if self.line is not None:
            self.line.send_mark(name)

    def synchronize(self) -> bool:
        """Corrects where in the agent's speech the line is, by the sound that was just heard; returns whether it is known."""
        if self.voice is None:
            return False
        heard = np.concatenate([self.codec.decode(frame) for frame in self.played[-HEARD_FRAMES:]])
        found = self.voice.find_heard_s(heard.astype(np.float64), self.heard_s)
        self.heard_s = self.heard_s if found is None else found
        return found is not None

    def play_frame(self) -> bool:
        """Plays 20 ms; returns whether they were loud."""
        while self.queue and isinstance(self.queue[0], str):
            self._return(str(self.queue.popleft()))
        frame = self.queue.popleft() if self.queue else None
        if isinstance(frame, bytes):
            self.heard_s += FRAME_S
        payload = frame if isinstance(frame, bytes) else self.codec.silence_frame
        self.played.append(payload)
        return rms(self.codec.decode(payload)) > LOUD_RMS


def rms(samples: Samples) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))


class SessionLine:
    """Implements Line without a socket."""

    def __init__(self, session: CallSession) -> None:
        self._session = session

    def send_audio(self, payload: bytes) -> None:
        self._session.feed_audio(payload)

    def send_mark(self, name: str) -> None:
        self._session.feed_mark(name)


class PanelCall:
    """One caller with one voice on one line. ``stimuli`` and ``far.played`` are what the judge needs."""

    def __init__(
        self, library: ClipLibrary, seed: int, pool: Pool, configurations: dict[str, Any], *, events: int
    ) -> None:
        self.random = random = np.random.default_rng(seed)
        self._library = library
        self._pool = pool
        self._configurations = configurations
        self._count = events
        self.voice_name = str(random.choice(clips.VOICES))
        self.noise_db = None if random.random() < 0.4 else float(random.choice([20.0, 18.0, 15.0, 12.0, 10.0]))
        self.vendor = VendorEmulator(np.random.default_rng(seed + 1), self.noise_db)
        self.llm = PanelLlm(np.random.default_rng(seed + 2))
        self.voice = PanelVoice(library)
        self.far = FarEnd(voice=self.voice)
        self.sink = KeptEvents()
        self.stimuli: list[Stimulus] = []
        self._background = self._make_background()
        self._frame = 0
        self._clip: tuple[int, FloatArray] | None = None
        self._agent_since: int | None = None
        self._quiet_since = 0
        self._free_at = 0
        self._owed_since: int | None = None
        self._plan = ""
        self._delay = 0

    def _make_background(self) -> FloatArray:
        if self.noise_db is None:
            return self.random.normal(0, 12, RATE * 7)
        texts = tuple(text for group in ("turn", "interruption") for text in PHRASES["develop"][group])
        talk = clips.babble(self._library, self.random, 23.0, texts)
        return talk * SPEECH_RMS * 10 ** (-self.noise_db / 20)

    # -- the call -------------------------------------------------------------------------------------------------

    def make_session(self, vad: VadEngine, leg: Any) -> CallSession:
        agent = CallAgent(
            parse_graph(DEFINITION),
            CallConfig.from_configurations(self._configurations),
            Tools(),
            {"direction": "inbound"},
        )
        models = CallModels(llm=(self.llm,), tts=(self.voice,), stt=(self.vendor,))
        return CallSession(agent=agent, leg=leg, models=models, sink=self.sink, vad=vad)

    async def run(self, vad: VadEngine) -> None:
        """Carries the call without a socket."""
        session = self.make_session(vad, self.far)
        line = self.far.line = SessionLine(session)
        call = asyncio.create_task(session.run())
        await self.talk(line)
        session.end_call("caller_hung_up")
        await call

    async def talk(self, line: Line) -> None:
        """Plays both directions until all events have happened."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while len(self.stimuli) < self._count or self._frame < self._free_at or self._waits_for_answer:
            self._observe(self.far.play_frame())
            self._act(loop.time())
            line.send_audio(self._caller_audio())
            self._frame += 1
            await asyncio.sleep(began + self._frame * FRAME_S - loop.time())
            if self._frame * FRAME_S > 1100:
                break

    @property
    def _waits_for_answer(self) -> bool:
        return self._owed_since is not None and self._frame - self._owed_since < ANSWER_TIMEOUT_S / FRAME_S

    def _caller_audio(self) -> bytes:
        at = self._frame * FRAME % self._background.size
        sound = np.take(self._background, range(at, at + FRAME), mode="wrap")
        if self._clip is not None:
            start, samples = self._clip
            offset = (self._frame - start) * FRAME
            part = samples[offset : offset + FRAME]
            sound[: part.size] += part
            if offset + FRAME >= samples.size:
                self._clip = None
        return clips.through_telephone(sound)

    # -- what the caller does -------------------------------------------------------------------------------------

    def _observe(self, is_loud: bool) -> None:
        if is_loud:
            self._agent_since = self._frame if self._agent_since is None else self._agent_since
            self._quiet_since = self._frame + 1
            self._owed_since = None if self._owed_since is not None and self._clip is None else self._owed_since
        elif self._frame - self._quiet_since >= 10:
            self._agent_since = None

    def _act(self, now: float) -> None:
        if self._clip is not None or self._frame < self._free_at or len(self.stimuli) >= self._count:
            return
        if self._agent_since is not None:
            self._act_over_speech(now)
            return
        self._plan = ""
        quiet = self._frame - self._quiet_since
        if self._waits_for_answer:
            return
        if quiet >= 40 + self._delay // 2:
            self._owed_since = None
            self._start(self._choose(SILENT_WEIGHTS), now, over=False)

    def _act_over_speech(self, now: float) -> None:
        assert self._agent_since is not None
        if not self._plan:
            self._plan, self._delay = self._choose(OVER_WEIGHTS), int(self.random.uniform(40, 150))
            if self.random.random() < HEARD_OUT:
                self._plan = HEAR_OUT
        if self._frame - self._agent_since in (HEARD_FRAMES + 5, 100, 250):
            self.far.synchronize()
        sentence, share, left = self.voice.position(self.far.heard_s)
        if left < MIN_LEFT_S or self._frame - self._agent_since < 40:
            return
        if self._plan == "answer":
            if self._is_asked(sentence, share, ANSWER_SHARE) and self.far.synchronize():
                sentence, share, _ = self.voice.position(self.far.heard_s)
                if self._is_asked(sentence, share, ANSWER_SHARE):
                    self._start(self._plan, now, over=True)
        elif (
            self._plan != HEAR_OUT
            and self._frame - max(self._agent_since, self._free_at) >= self._delay
            and (self._plan != "backchannel" or self._is_unasked())
        ):
            self._start(self._plan, now, over=True)

    @staticmethod
    def _is_asked(sentence: str, share: float, least: float) -> bool:
        return sentence.endswith("?") and share > least

    def _is_unasked(self) -> bool:
        """Returns whether a listening sound would answer nothing now."""
        if not self.far.synchronize():
            return False
        heard_s = self.far.heard_s
        places = (self.voice.position(max(0.0, at)) for at in (heard_s, heard_s - QUESTION_OPEN_S))
        return not any(self._is_asked(sentence, share, QUESTION_SHARE) for sentence, share, _ in places)

    def _choose(self, weights: dict[str, float]) -> str:
        shares = np.array(list(weights.values()))
        return str(self.random.choice(list(weights), p=shares / shares.sum()))

    def _start(self, kind: str, now: float, *, over: bool) -> None:
        text, clip, is_distant = self._make_clip(kind)
        self.vendor.hear_clip(clip, now, is_distant=is_distant, is_cough=text.startswith("<"))
        start, end = self._frame, self._frame + clip.samples.size // FRAME
        pauses = tuple((start + int(a / FRAME_S), start + int(b / FRAME_S)) for a, b in clip.pauses)
        self.stimuli.append(Stimulus(kind, text, over, start, end, pauses, is_distant))
        self._clip = (start, clip.samples.astype(np.float64))
        self._plan, self._delay = "", int(self.random.uniform(30, 130))
        is_turn = kind in REAL or kind in ("turn", "pause")
        self._owed_since = end if is_turn else None
        self._free_at = end + (10 if is_turn else 125)

    def _make_clip(self, kind: str) -> tuple[str, Clip, bool]:
        random, people = self.random, clips.recorded_clips()
        if kind == "interruption" and people and random.random() < 0.15:
            clip = people[int(random.integers(len(people)))]
            return " ".join(word.text for word in clip.words), clip, False
        text = str(random.choice(PHRASES[self._pool][kind]))
        if text.startswith("<"):
            return text, clips.tic_clip(text, random), False
        clip = self._library.clip(self.voice_name, text, float(random.uniform(0.6, 1.2)))
        if kind == "backchannel":
            clip = Clip(at_level(clip.samples, SPEECH_RMS * 10 ** (-random.uniform(0, 5) / 20)), clip.words)
        if kind == "side" and random.random() < 0.7:
            return text, clips.turn_away(clip, random), True
        return text, clip, False
