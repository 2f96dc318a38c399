"""How the caller's audio is cut into messages: large pieces where no vendor waits for them, small ones where it does."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from offhook.models.speech.audio_replay import AudioReplay
from offhook.models.speech.formats import MULAW_8000
from offhook_lab.speech.recognizers import DeepgramRecognizerServer
from tests.models.speech.test_ears import AND, BOOK, heard, says
from tests.models.speech.vendors import EARS, listening, virtually

LOUD, SOFT = 8000, 300


class PiecesServer(DeepgramRecognizerServer):
    """Notes the length of each message, in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[int] = []

    async def feed_audio(self, socket: Any, hearing: Any, samples: Any) -> Any:
        self.pieces.append(round(samples.size / 8))
        return await super().feed_audio(socket, hearing, samples)


DEEPGRAM = replace(EARS[0], server=PiecesServer)


def test_between_turns_five_frames_are_a_message() -> None:
    async def scenario() -> None:
        async with listening(DEEPGRAM) as (stt, server), heard(stt) as (stream, transcript):
            assert isinstance(server, PiecesServer)
            for _ in range(100):
                stream.push_audio(bytes(320))
                await asyncio.sleep(0.02)
            assert set(server.pieces) == {100}
            await says(stream, BOOK, quiet_s=3.0)
            server.pieces.clear()
            await asyncio.sleep(1)
            for _ in range(50):
                stream.push_audio(bytes(320))
                await asyncio.sleep(0.02)
            assert set(server.pieces) == {100}
            await says(stream, AND)
            assert transcript.finals == f"{BOOK} {AND}"

    virtually(scenario)


def test_what_waited_is_sent_when_speech_begins_and_pauses_wait_for_nothing() -> None:
    async def scenario() -> None:
        async with listening(DEEPGRAM) as (stt, server), heard(stt) as (stream, _):
            assert isinstance(server, PiecesServer)
            for _ in range(4):
                stream.push_audio(bytes(320))
            await asyncio.sleep(0.1)
            assert server.pieces == []
            stream.speech_started()
            await asyncio.sleep(0.1)
            assert server.pieces == [80]
            await says(stream, BOOK, quiet_s=0.3)
            # the pause at the end, which the vendor measures
            assert server.pieces[-8:] == [20] * 8
            assert max(server.pieces) <= 80
            await says(stream, AND)
            assert stream.sent_s == pytest.approx(server.received_s)

    virtually(scenario)


class TestSizes:
    def sizes(self, peaks: list[int]) -> list[int]:
        """Returns the pieces, in frames, of a turn whose frames are so loud."""
        replay, found = AudioReplay(MULAW_8000, 0.02, 0.1), []
        for peak in peaks:
            replay.add(bytes(160))
            replay.expect_words(peak)
            while piece := replay.next_piece():
                found.append(len(piece) // 160)
        return found

    def test_loud_speech_waits_for_two_frames(self) -> None:
        assert self.sizes([LOUD] * 6) == [2, 2, 2]

    def test_a_pause_waits_for_nothing_when_it_may_end_the_turn(self) -> None:
        assert self.sizes([LOUD] * 2 + [SOFT] * 9 + [LOUD] * 4) == [2, 2, 2, 2, 1, 1, 1, 2, 2]

    def test_a_pause_takes_what_waited_along(self) -> None:
        assert self.sizes([LOUD] * 3 + [SOFT] * 7) == [2, 2, 2, 2, 1, 1]

    def test_a_soft_voice_is_loud_after_a_while(self) -> None:
        assert self.sizes([LOUD] * 3 + [LOUD // 10] * 120)[-3:] == [2, 2, 2]

    def test_a_vendor_of_larger_pieces_keeps_them(self) -> None:
        replay = AudioReplay(MULAW_8000, 0.08)
        for _ in range(7):
            replay.add(bytes(160))
        assert [len(replay.next_piece()), len(replay.next_piece())] == [640, 0]
        replay.expect_words(LOUD)
        replay.add(bytes(160))
        assert len(replay.next_piece()) == 640
