"""The caller of a scenario on a line: says, presses, keeps silent, interrupts and hangs up, and hears the agent out."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from offhook.kit.audio import FRAME_S, MULAW_8K, Samples
from offhook.models.ports import Expectation
from offhook.models.providers.builtin.tts import DEFAULT_VOICE
from offhook.scenarios.definition import AnsweringMachine, Scenario
from offhook.scenarios.engine.caller import ScenarioCaller
from offhook.scenarios.engine.moves import ScenarioMove
from offhook.scenarios.engine.player import PAUSE_S, PlayedTurn, PlayJournal
from offhook.scenarios.sound.clips import RATE, SPEECH_RMS, SpokenWord, at_level, place_words, trim_silence
from offhook.scenarios.sound.recognizer import StreamingRecognizer
from offhook.scenarios.sound.voices import OfflineVoice
from offhook.telephony.simulated_line import SimulatedLine
from offhook.voice import events
from offhook.voice.session import CallSession

# A caller whom nobody answers goes on after this silence.
ANSWER_TIMEOUT_S: Final = 8.0
KEY_S: Final = 0.3
# The pause after a filler.
MIN_HESITATION_S, MAX_HESITATION_S = 0.3, 0.9
# So long a caller who interrupts listens before.
MIN_LISTENING_S, MAX_LISTENING_S = 0.8, 2.0

# An answering machine's silence before its greeting and its tone, and the tone.
PICK_UP_S, BEEP_PAUSE_S = 0.5, 0.4
BEEP_S, BEEP_HZ = 0.5, 1000.0

# Returns what is heard of a sentence that the agent expects, instead of what the scenario says.
Listen = Callable[[Samples, Expectation], str]


@dataclass(slots=True)
class CallerAct:
    """One turn of the conversation: ``move`` is None for the greeting. Seconds of the recording; ``spoken_s`` is when the
    caller spoke."""

    move: ScenarioMove | None
    began_s: float
    spoken_s: tuple[float, float] | None = None
    is_interruption: bool = False

    @property
    def turn(self) -> int | None:
        return self.move.turn if self.move is not None else None


class SpeakingCaller:
    """One call. ``acts`` is what the caller has done; ``is_over`` whether the call ended before the caller was done."""

    def __init__(
        self,
        scenario: Scenario,
        script: ScenarioCaller,
        *,
        line: SimulatedLine,
        session: CallSession,
        journal: PlayJournal,
        voice: OfflineVoice,
        recognizer: StreamingRecognizer,
        listen: Listen | None = None,
    ) -> None:
        self._script = script
        self._manner = scenario.caller.manner
        self._max_turns = scenario.caller.max_turns
        self._line = line
        self._phone = line.phone
        self._session = session
        self._journal = journal
        self._voice = voice
        self._recognizer = recognizer
        self._listen = listen
        self._random = recognizer.random
        self._loop = asyncio.get_running_loop()
        self._started_at = self._loop.time()
        self.acts = [CallerAct(None, 0.0)]
        self.is_over = False

    async def hold_call(self) -> None:
        """Does what the scenario says until the call is over, or the caller has nothing left to do."""
        if self._manner.voicemail is not None:
            await self._answer_as_machine(self._manner.voicemail)
            return
        await self._hear_out(needs_answer=True)
        while not self._phone.is_over and len(self.acts) <= self._max_turns:
            nodes = self._journal.values_of(events.NODE_ENTERED, "node_id")
            move = self._script.next_move(nodes[-1], self._replies()[-1])
            if move is None:
                break
            act = CallerAct(move, self._now_s(), is_interruption=self._session.is_agent_busy)
            self.acts.append(act)
            if move.hangs_up:
                self._line.wire.send_stop()
                self.is_over = True
                return
            await self._perform_move(act, move)
            await self._hear_out(needs_answer=move.silence_s is None)
        self.is_over = self._phone.is_over
        if not self.is_over:
            self._session.end_call("still_open")

    def collect_turns(self) -> list[PlayedTurn]:
        """Returns what the caller did, each with the agent's words from then on."""
        return [PlayedTurn(act.move, reply) for act, reply in zip(self.acts, self._replies(), strict=True)]

    def _replies(self) -> list[str]:
        replies: list[list[str]] = [[] for _ in self.acts]
        for event in self._journal.events:
            if event.type == events.AGENT_SAID:
                began_s = float(str(event.data["start_s"]))
                index = max(at for at, act in enumerate(self.acts) if at == 0 or act.began_s <= began_s)
                replies[index].append(str(event.data["text"]))
        return [" ".join(reply) for reply in replies]

    def _now_s(self) -> float:
        return self._loop.time() - self._started_at

    async def _answer_as_machine(self, machine: AnsweringMachine) -> None:
        """Says the greeting whatever the agent says, beeps, records, and hangs up."""
        await self._wait_for(PICK_UP_S)
        act = CallerAct(ScenarioMove(say=machine.greeting), self._now_s())
        self.acts.append(act)
        await self._say_sentence(act, "", machine.greeting)
        if machine.beeps:
            await self._wait_for(BEEP_PAUSE_S)
            self._phone.queue_speech(MULAW_8K.encode(_make_beep()))
            while self._phone.is_talking and await self._phone.next_frame():
                pass
        await self._wait_for(float(machine.records_s))
        if not self._phone.is_over:
            self._line.wire.send_stop()
        self.is_over = True

    # -- what the caller does -------------------------------------------------------------------------------------

    async def _perform_move(self, act: CallerAct, move: ScenarioMove) -> None:
        if move.silence_s is not None:
            await self._stay_silent(move.silence_s)
        elif move.press is not None:
            for key in move.press:
                self._line.wire.send_digit(key)
                await self._wait_for(KEY_S)
        else:
            await self._say_sentence(act, move.filler, str(move.say))

    async def _say_sentence(self, act: CallerAct, filler: str, sentence: str) -> None:
        parts = [filler.strip(), sentence[len(filler) :]] if filler else [sentence]
        samples, words = self._speak_parts(parts)
        if not words:
            return
        if self._listen is not None:
            heard = self._listen(samples, self._recognizer.expectation).split()
            words = place_words(heard, samples, 0.0) if heard else []
        began_s = self._now_s()
        self._recognizer.hear_words(words, self._loop.time())
        self._phone.queue_speech(MULAW_8K.encode(samples))
        while self._phone.is_talking and await self._phone.next_frame():
            pass
        act.spoken_s = (began_s, self._now_s())

    def _speak_parts(self, parts: Sequence[str]) -> tuple[Samples, list[SpokenWord]]:
        """Returns the sound of a sentence with pauses between its parts, and where its words are."""
        sound: list[Samples] = []
        words: list[SpokenWord] = []
        size = 0
        for index, part in enumerate(parts):
            if index:
                pause = int(self._random.uniform(MIN_HESITATION_S, MAX_HESITATION_S) * RATE)
                sound.append(np.zeros(pause, np.int16))
                size += pause
            spoken = self._voice.synthesize(
                part, voice=self._manner.voice or DEFAULT_VOICE, speed=float(self._manner.speed)
            )
            samples = at_level(trim_silence(spoken), SPEECH_RMS)
            if part.split() and samples.size:
                words += place_words(part.split(), samples, size / RATE)
                sound.append(samples)
                size += samples.size
        return np.concatenate([*sound, np.zeros(-size % MULAW_8K.frame_bytes, np.int16)]), words

    async def _stay_silent(self, seconds: float) -> None:
        """Waits until the line was silent for so long, the agent's own questions not counted."""
        left_s = seconds
        while left_s > 0 and await self._phone.next_frame():
            if not self._session.is_agent_busy:
                left_s -= FRAME_S

    async def _wait_for(self, seconds: float) -> None:
        until = self._loop.time() + seconds
        while self._loop.time() < until and await self._phone.next_frame():
            pass

    # -- what the caller hears ------------------------------------------------------------------------------------

    async def _hear_out(self, *, needs_answer: bool) -> None:
        """Waits until the agent has answered and is silent, or until the caller interrupts it."""
        since_s = idle_since_s = self._now_s()
        interrupts_after_s = self._choose_interruption()
        while await self._phone.next_frame():
            now_s = self._now_s()
            if self._session.is_agent_busy:
                idle_since_s = now_s
                talks_since = self._phone.speech.talked_since
                if interrupts_after_s is None or talks_since is None or not self._phone.speech.is_loud:
                    continue
                if now_s - max(talks_since - self._started_at, since_s) >= interrupts_after_s:
                    return
            elif self._phone.quiet_for() >= PAUSE_S and not self._phone.has_unplayed:
                is_due = needs_answer and not self._has_answered(since_s)
                if not is_due or now_s - idle_since_s >= ANSWER_TIMEOUT_S:
                    return

    def _has_answered(self, since_s: float) -> bool:
        """Returns whether the agent has said something since, other than what the caller has just interrupted."""
        for event in reversed(self._journal.events):
            if event.type == events.AGENT_SAID:
                start_s, end_s = float(str(event.data["start_s"])), float(str(event.data["end_s"]))
                return start_s >= since_s or (end_s > since_s and not event.data["interrupted"])
        return False

    def _choose_interruption(self) -> float | None:
        """Returns how long the caller listens before the next sentence, if it is to interrupt the agent."""
        share = float(self._manner.interrupts)
        move = self.acts[-1].move
        if not share or not self._script.may_interrupt or (move is not None and move.agent_says is not None):
            return None
        is_now = self._random.random() < share
        return float(self._random.uniform(MIN_LISTENING_S, MAX_LISTENING_S)) if is_now else None


def _make_beep() -> Samples:
    at = np.arange(int(BEEP_S * RATE)) / RATE
    tone = np.sin(2 * np.pi * BEEP_HZ * at) * SPEECH_RMS * np.sqrt(2)
    return np.asarray(np.concatenate([tone, np.zeros(-tone.size % MULAW_8K.frame_bytes)]), np.int16)
