"""The agent's outgoing audio: paced in 20 ms frames, dropped at once on barge-in, counted to what was heard."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from offhook.kit.audio import FRAME_S
from offhook.voice.call_inputs import current_inputs
from offhook.voice.ports import CallLeg, CallRecorder

# The far end buffers this much, so that one late beat is not a click. Source: jitter of a busy loop, bench/voice.py.
LEAD_FRAMES = 2
# Extra time for a mark on top of the audio before it counts as lost (Vobiz never returns cleared ones).
MARK_GRACE_S = 1.0
# The agent's voice while it listens: 9 dB lower, still heard and no longer in the way.
LOWERED_GAIN = 0.35
# Speech that stopped within a word goes on from the word's beginning, found as the quietest frame of the last 0.4 s.
MAX_REWIND_FRAMES = 20
MIN_REWOUND_PAUSE_S = 0.3
# A shorter pause takes the place of the silence that the sentence has there: frames below -45 dBFS are left out.
MIN_REPLACING_PAUSE_S = 0.08
QUIET_SUM_A_SAMPLE = 180
# A pause begins for the caller with the last frame that was heard: those below -50 dBFS are silence already.
INAUDIBLE_SUM_A_SAMPLE = 80
# A question may be answered before its end, and for a while after it although the agent has gone on.
QUESTION_SHARE = 0.6
QUESTION_OPEN_S = 0.7


@dataclass(slots=True, eq=False)
class QueuedSentence:
    """One synthesized stretch of speech. ``queued`` and ``sent`` count codec bytes; times are loop times.

    ``mark`` is the number of the mark behind its last frame; ``is_confirmed``: the far end reported that it played it.
    ``is_paced``: while it is not complete, its text is what the audio so far says.
    """

    text: str
    queued_bytes: int = 0
    sent_bytes: int = 0
    is_complete: bool = False
    first_frame_at: float | None = None
    last_frame_at: float | None = None
    mark: int | None = None
    is_confirmed: bool = False
    is_paced: bool = False
    buffer: bytearray = field(default_factory=bytearray)
    on_start: Callable[[], None] | None = None

    def heard_s(self, now: float, bytes_per_s: float) -> float:
        """Returns the seconds of audio that were played by ``now``: no more than was sent, or than time has passed."""
        if self.first_frame_at is None:
            return 0.0
        return max(0.0, min(self.sent_bytes / bytes_per_s, now - self.first_frame_at))

    def heard_text(self, now: float, bytes_per_s: float) -> str:
        """Returns the words played by ``now``, cut at a word boundary, by the share of the audio that was sent."""
        if self.first_frame_at is None:
            return ""
        played = min(self.sent_bytes, (now - self.first_frame_at) * bytes_per_s)
        if self.is_complete and played >= self.queued_bytes - bytes_per_s * FRAME_S:
            return self.text
        # An unfinished synthesis has no length yet: assume 14 characters a second, as in unhurried English speech.
        is_known = self.is_complete or self.is_paced
        expected = self.queued_bytes if is_known else max(self.queued_bytes, len(self.text) / 14 * bytes_per_s)
        cut = int(len(self.text) * min(1.0, played / expected)) if expected else 0
        if cut >= len(self.text):
            return self.text
        return self.text[: self.text.rfind(" ", 0, cut + 1) + 1].rstrip() if " " in self.text[: cut + 1] else ""


class Playback:
    """Frames of one call. A sentence's ``on_start`` runs when its first frame leaves."""

    def __init__(self, leg: CallLeg, recorder: CallRecorder | None, started_at: float) -> None:
        self._leg = leg
        self._recorder = recorder
        self._t0 = started_at
        self.inputs = current_inputs()
        self._time = self.inputs.time
        self._metronome = self.inputs.beat()
        self._frame_level = self.inputs.frame_level
        self._queue: deque[QueuedSentence] = deque()
        self._frame = leg.codec.frame_bytes
        self._samples_a_frame = round(leg.codec.sample_rate * FRAME_S)
        self.bytes_per_s = self._frame / FRAME_S
        self._epoch = 0.0
        self._first_beat: float | None = None
        self._frames_since_epoch = 0
        self._is_running = False
        self.is_paused = False
        self._is_lowered = False
        self._paused_at = 0.0
        # loop time at which the caller heard the last sound before the pause
        self.silent_from = 0.0
        self._asked_at = -QUESTION_OPEN_S
        self._last_text = ""
        # the last frames of the sentence that is being sent, for going on from the beginning of a word
        self._last_frames: deque[bytes] = deque(maxlen=MAX_REWIND_FRAMES)
        # loop time when the last sent frame will have been heard; 0 before the first one
        self.audible_until = 0.0
        self._marks_sent = 0
        self._marks_back = 0
        # Sent to their end, and not yet reported as played. Marks of cleared audio come back, too, or never.
        self._unconfirmed: deque[QueuedSentence] = deque()
        self._changed = asyncio.Event()

    @property
    def is_audible(self) -> bool:
        """Returns whether the agent is audible, also while the loop is so late that the far end has played its
        whole buffer: the next beat continues the sentence."""
        return self._is_running or self._time() < self.audible_until

    def begin_sentence(
        self, text: str, on_start: Callable[[], None] | None = None, *, is_paced: bool = False
    ) -> QueuedSentence:
        sentence = QueuedSentence(text, on_start=on_start, is_paced=is_paced)
        self._queue.append(sentence)
        return sentence

    def push_audio(self, sentence: QueuedSentence, payload: bytes) -> None:
        """Adds codec bytes to a sentence; ignored after :meth:`drop_unheard`."""
        if sentence not in self._queue:
            return
        sentence.buffer += payload
        sentence.queued_bytes += len(payload)
        self._resume_sending()

    def truncate_sentence(self, sentence: QueuedSentence, total: int) -> None:
        """Drops everything after the first ``total`` bytes of a sentence, unless it was already sent."""
        keep = max(total // self._frame * self._frame - sentence.sent_bytes, 0)
        sentence.queued_bytes -= max(len(sentence.buffer) - keep, 0)
        del sentence.buffer[keep:]

    def complete_sentence(self, sentence: QueuedSentence) -> None:
        sentence.is_complete = True
        self._resume_sending()

    def pause(self) -> None:
        """Pauses and keeps queued audio; :meth:`resume` continues and :meth:`drop_unheard` drops it."""
        if not self.is_paused:
            now = self._paused_at = self._time()
            self.silent_from = max(self.audible_until, now) - self._count_inaudible_frames() * FRAME_S
        self.is_paused = True
        self._is_running = False
        self._metronome.remove(self)

    def _count_inaudible_frames(self) -> int:
        """Counts the frames at the end of what was sent that the caller does not hear."""
        gain = LOWERED_GAIN if self._is_lowered else 1.0
        least = INAUDIBLE_SUM_A_SAMPLE * self._samples_a_frame / gain
        quiet = (self._frame_level(self._leg.codec, frame) < least for frame in reversed(self._last_frames))
        return next((count for count, is_quiet in enumerate(quiet) if not is_quiet), len(self._last_frames))

    def resume(self) -> None:
        """Goes on where it paused; after a pause that was heard, from the beginning of the word."""
        paused_s = self._time() - self._paused_at if self.is_paused else 0.0
        if paused_s >= MIN_REWOUND_PAUSE_S:
            self._rewind_to_word()
        elif paused_s >= MIN_REPLACING_PAUSE_S:
            self._skip_silence()
        self.is_paused = False
        self._resume_sending()

    def lower_voice(self, *, is_lowered: bool) -> None:
        """Plays what follows at a lower volume, or at the full one again."""
        self._is_lowered = is_lowered

    @property
    def current_text(self) -> str:
        """Returns the sentence that is being played or was just sent; empty between answers."""
        return self._queue[0].text if self._queue else ""

    @property
    def last_text(self) -> str:
        """Returns the sentence that is being played, or else the last one of which something was played."""
        return self.current_text or self._last_text

    @property
    def unsent_s(self) -> float:
        """Returns the seconds of synthesized speech that were not sent yet."""
        return sum(len(sentence.buffer) for sentence in self._queue) / self.bytes_per_s

    @property
    def is_question_open(self) -> bool:
        """Returns whether the agent has said most of a question, or has just asked one."""
        head = self._queue[0] if self._queue else None
        if head is not None and head.text.rstrip().endswith("?"):
            expected = max(head.queued_bytes, 1) if head.is_complete else len(head.text) / 14 * self.bytes_per_s
            return head.sent_bytes >= QUESTION_SHARE * expected
        return self._time() - self._asked_at <= QUESTION_OPEN_S

    def _skip_silence(self) -> None:
        """Leaves out the silence with which the rest of the sentence begins: the pause was long enough."""
        head = self._queue[0] if self._queue else None
        while head is not None and head.sent_bytes and len(head.buffer) > self._frame:
            level = self._frame_level(self._leg.codec, bytes(head.buffer[: self._frame]))
            if level > QUIET_SUM_A_SAMPLE * self._samples_a_frame:
                return
            del head.buffer[: self._frame]
            head.queued_bytes -= self._frame

    def _rewind_to_word(self) -> None:
        if not self._queue or not self._last_frames:
            return
        head, frames = self._queue[0], list(self._last_frames)
        frames = frames[-(head.sent_bytes // self._frame) :] if head.sent_bytes else []
        if not frames:
            return
        levels = [self._frame_level(self._leg.codec, frame) for frame in frames]
        again = frames[levels.index(min(levels)) :]
        head.buffer[:0] = b"".join(again)
        head.sent_bytes -= len(again) * self._frame
        self._last_frames.clear()

    def _resume_sending(self) -> None:
        if self.is_paused:
            return
        if not self._is_running and self._has_frame_ready():
            self._is_running = True
            now = self._time()
            # Still audible from before: continue seamlessly. Otherwise a new epoch begins, with the lead at once.
            if now > self.audible_until:
                self._epoch = now
                self._first_beat = None
                self._frames_since_epoch = 0
            self._send_until(self._count_due_frames(now))
            if self._is_running:
                self._metronome.add(self)

    def _has_frame_ready(self) -> bool:
        while self._queue:
            head = self._queue[0]
            if len(head.buffer) >= self._frame or (head.is_complete and head.buffer):
                return True
            if not head.is_complete:
                return False
            self._finish(head)
        return False

    def _finish(self, sentence: QueuedSentence) -> None:
        self._queue.popleft()
        self._last_frames.clear()
        if sentence.text.rstrip().endswith("?"):
            self._asked_at = self._time()
        if sentence.sent_bytes:
            self._last_text = sentence.text
            self._marks_sent += 1
            sentence.mark = self._marks_sent
            self._unconfirmed.append(sentence)
            self._leg.send_mark(f"s{self._marks_sent}")
        self._changed.set()

    def send_due_frames(self, beat: float) -> bool:
        """Sends the frames due at this beat; returns False when nothing is left to send."""
        if self._first_beat is None:
            self._first_beat = beat
        return self._send_until(self._count_due_frames(beat))

    def _count_due_frames(self, at: float) -> int:
        """Counts the frames since the epoch that may be sent by ``at``: the lead at once, then exactly one a beat.

        Counts beats and not time since the epoch, which would fall on either side of a frame boundary as the loop's
        delay varies: no frame on one beat, two on the next.
        """
        if self._first_beat is None:
            return LEAD_FRAMES
        return LEAD_FRAMES + 1 + int((at - self._first_beat) / FRAME_S + 0.01)

    def _send_until(self, due: int) -> bool:
        now = self._time()
        while self._frames_since_epoch < due:
            if not self._has_frame_ready():
                self._is_running = False
                self._changed.set()
                return False
            self._send_frame(self._queue[0], now)
        return True

    def _send_frame(self, head: QueuedSentence, now: float) -> None:
        frame = bytes(head.buffer[: self._frame])
        del head.buffer[: self._frame]
        if len(frame) < self._frame:
            frame += self._leg.codec.silence_frame[len(frame) :]
        self._last_frames.append(frame)
        if self._is_lowered:
            codec = self._leg.codec
            frame = codec.encode((codec.decode(frame) * LOWERED_GAIN).astype(np.int16))
        self._leg.send_frame(frame)
        # the recording places a frame where it is heard, not where the lead put it on the wire
        heard_at = self._epoch + self._frames_since_epoch * FRAME_S
        if self._recorder is not None:
            self._recorder.record_agent(heard_at - self._t0, frame)
        self._frames_since_epoch += 1
        self.audible_until = heard_at + FRAME_S
        head.sent_bytes += self._frame
        if head.first_frame_at is None:
            head.first_frame_at = max(now, heard_at)
            if head.on_start is not None:
                head.on_start()
        head.last_frame_at = heard_at + FRAME_S

    def drop_unheard(self) -> int:
        """Drops everything unheard, here and at the far end; returns the dropped milliseconds."""
        dropped = sum(len(sentence.buffer) for sentence in self._queue)
        left = max(0.0, self.audible_until - self._time())
        if self._queue and self._queue[0].sent_bytes:
            self._last_text = self._queue[0].text
        self._queue.clear()
        self._last_frames.clear()
        self._asked_at = -QUESTION_OPEN_S
        self.is_paused = self._is_lowered = False
        self._metronome.remove(self)
        self._is_running = False
        self._frames_since_epoch = 0
        self.audible_until = min(self.audible_until, self._time())
        self._unconfirmed.clear()
        self._leg.clear_buffer()
        self._marks_back = self._marks_sent
        self._changed.set()
        return round(dropped / self.bytes_per_s * 1000 + left * 1000)

    def mark_returned(self, name: str) -> None:
        if name.startswith("s") and name[1:].isdigit():
            mark = min(int(name[1:]), self._marks_sent)
            self._marks_back = max(self._marks_back, mark)
            while self._unconfirmed and (self._unconfirmed[0].mark or 0) <= mark:
                self._unconfirmed.popleft().is_confirmed = True
            self._changed.set()

    def is_confirmed(self, sentences: Sequence[QueuedSentence]) -> bool:
        """Returns whether the far end has reported that it played all of these to their end."""
        spoken = [sentence for sentence in sentences if sentence.queued_bytes]
        return bool(spoken) and all(sentence.is_confirmed for sentence in spoken)

    def is_sent_whole(self, sentences: Sequence[QueuedSentence]) -> bool:
        """Returns whether all of these were sent to their end, and nothing of them was dropped at the far end."""
        spoken = [sentence for sentence in sentences if sentence.queued_bytes]
        return bool(spoken) and all(sentence.is_confirmed or sentence in self._unconfirmed for sentence in spoken)

    async def wait_confirmed(self, sentences: Sequence[QueuedSentence]) -> bool:
        """Waits for the reports of :meth:`is_confirmed`; returns False when they cannot come any more."""
        while not self.is_confirmed(sentences):
            if not self.is_sent_whole(sentences):
                return False
            self._changed.clear()
            await self._changed.wait()
            await self.inputs.resumed("confirmed")
        return True

    async def wait_played(self) -> None:
        """Waits until the far end has played everything: by its marks, or by the clock when marks do not come."""
        while self._queue:
            self._changed.clear()
            await self._changed.wait()
            await self.inputs.resumed("sent")
        deadline = max(self.audible_until, self._time()) + MARK_GRACE_S
        while self._marks_back < self._marks_sent:
            self._changed.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._changed.wait()
            except TimeoutError:
                self._marks_back = self._marks_sent
            await self.inputs.resumed("marked")
        left = self.audible_until - self._time()
        if left > 0:
            await self.inputs.sleep("heard", left)
