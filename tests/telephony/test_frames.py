"""RFC 6455 frames of a client, as our reader puts them together."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from offhook.kit.media_sockets.frames import (
    BINARY,
    CLOSE,
    PING,
    TEXT,
    FrameError,
    FrameReader,
    SocketMessage,
    encode_frame,
)


def masked(opcode: int, payload: bytes, *, fin: bool = True) -> bytes:
    return Frame(Opcode(opcode), payload, fin).serialize(mask=True)


def read(data: bytes, *, limit: int = 1000, step: int | None = None) -> list[SocketMessage | FrameError]:
    reader = FrameReader(limit)
    found = []
    for start in range(0, len(data), step or len(data)):
        found += reader.feed(data[start : start + (step or len(data))])
    return found


class TestASingleMessage:
    @given(data=st.binary(max_size=40), size=st.integers(0, 70_000), cut=st.integers(0, 20), more=st.binary(max_size=9))
    def test_is_read_as_any_other(self, data: bytes, size: int, cut: int, more: bytes) -> None:
        sent = masked(TEXT, (data * 2000)[:size])
        sent = sent[: len(sent) - cut] + more
        single = FrameReader(1000).read_single(sent)
        assert single is None or read(sent) == [SocketMessage(TEXT, single)]

    @pytest.mark.parametrize(("size", "is_single"), [(125, False), (126, True), (1000, True), (1001, False)])
    def test_of_the_usual_length_is_read_at_once(self, size: int, is_single: bool) -> None:
        assert (FrameReader(1000).read_single(masked(TEXT, b"x" * size)) == b"x" * size) == is_single

    @pytest.mark.parametrize(
        "before",
        [
            pytest.param(masked(TEXT, b"x" * 200, fin=False), id="a fragment"),
            pytest.param(masked(TEXT, b"x" * 200)[:50], id="half a frame"),
        ],
    )
    def test_is_not_read_behind_a_part_of_another(self, before: bytes) -> None:
        reader = FrameReader(1000)
        assert reader.feed(before) == []
        assert reader.read_single(masked(TEXT, b"y" * 200)) is None

    def test_counts_as_a_frame(self) -> None:
        reader = FrameReader(1000, frames_left=1)
        assert reader.read_single(masked(TEXT, b"y" * 200)) is not None
        assert reader.read_single(masked(TEXT, b"y" * 200)) is None

    @pytest.mark.parametrize(
        "data",
        [
            pytest.param(masked(BINARY, b"x" * 200), id="binary"),
            pytest.param(masked(CLOSE, b""), id="close"),
            pytest.param(b"", id="nothing"),
        ],
    )
    def test_of_another_kind_is_left_to_the_reader(self, data: bytes) -> None:
        assert FrameReader(1000).read_single(data) is None


class TestWholeMessages:
    @given(
        messages=st.lists(st.tuples(st.sampled_from([TEXT, BINARY]), st.binary(max_size=300)), min_size=1, max_size=6),
        step=st.integers(1, 400),
    )
    def test_however_the_bytes_are_cut(self, messages: list[tuple[int, bytes]], step: int) -> None:
        data = b"".join(masked(opcode, payload) for opcode, payload in messages)

        assert read(data, step=step) == [SocketMessage(opcode, payload) for opcode, payload in messages]

    @given(parts=st.lists(st.binary(max_size=50), min_size=2, max_size=5), step=st.integers(1, 60))
    def test_fragments_with_a_ping_between_them(self, parts: list[bytes], step: int) -> None:
        frames = [masked(TEXT, parts[0], fin=False), masked(PING, b"hi")]
        frames += [masked(0, part, fin=False) for part in parts[1:-1]] + [masked(0, parts[-1])]

        assert read(b"".join(frames), step=step) == [SocketMessage(PING, b"hi"), SocketMessage(TEXT, b"".join(parts))]

    @pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
    def test_every_kind_of_length(self, size: int) -> None:
        assert read(masked(BINARY, bytes(size)), limit=70000) == [SocketMessage(BINARY, bytes(size))]

    @pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
    def test_ours_are_read_by_others(self, size: int) -> None:
        assert encode_frame(TEXT, bytes(size)) == Frame(Opcode.TEXT, bytes(size)).serialize(mask=False)


class TestTooBig:
    def test_is_said_at_the_header_and_the_rest_is_skipped(self) -> None:
        reader = FrameReader(100)
        big = masked(TEXT, bytes(5000))

        (error,) = reader.feed(big[:20])
        assert isinstance(error, FrameError)
        assert error.code == 1009
        assert reader.feed(big[20:] + masked(CLOSE, b"")) == [SocketMessage(CLOSE, b"")]

    def test_fragments_are_added_up(self) -> None:
        found = read(masked(TEXT, bytes(60), fin=False) + masked(0, bytes(60)), limit=100)

        assert [error.code for error in found if isinstance(error, FrameError)] == [1009]

    def test_empty_fragments_do_not_go_on_for_ever(self) -> None:
        found = read(masked(TEXT, b"", fin=False) + masked(0, b"", fin=False) * 200, limit=100)

        assert isinstance(found[0], FrameError)
        assert found[0].code == 1009


class TestTooMany:
    @pytest.mark.parametrize("opcode", [BINARY, PING])
    def test_no_more_than_are_left(self, opcode: int) -> None:
        reader = FrameReader(100, frames_left=3)
        *messages, error = reader.feed(masked(opcode, b"ab") * 1000)

        assert messages == [SocketMessage(opcode, b"ab")] * 3
        assert isinstance(error, FrameError)
        assert error.code == 1008

    def test_fragments_count(self) -> None:
        (error,) = FrameReader(100, frames_left=3).feed(
            masked(TEXT, b"", fin=False) + masked(0, b"", fin=False) * 2 + masked(0, b"")
        )

        assert isinstance(error, FrameError)
        assert error.code == 1008


class TestBrokenFrames:
    @pytest.mark.parametrize(
        "data",
        [
            pytest.param(encode_frame(TEXT, b"not masked"), id="unmasked"),
            pytest.param(bytes([0xC1]) + masked(TEXT, b"abcdef")[1:], id="reserved bit"),
            pytest.param(bytes([0x83]) + masked(TEXT, b"abcdef")[1:], id="unknown opcode"),
            pytest.param(bytes([0x8B]) + masked(TEXT, b"abcdef")[1:], id="unknown control opcode"),
            pytest.param(bytes([0x09]) + masked(TEXT, b"abcdef")[1:], id="fragmented ping"),
            pytest.param(bytes([0x89]) + masked(TEXT, bytes(126))[1:], id="long ping"),
            pytest.param(masked(0, b"abcdef"), id="nothing to continue"),
            pytest.param(masked(TEXT, b"abc", fin=False) + masked(TEXT, b"def"), id="two beginnings"),
            pytest.param(bytes([0x81, 0xFF]) + struct.pack("!Q", 2**63) + bytes(8), id="endless"),
        ],
    )
    def test_are_refused(self, data: bytes) -> None:
        (error,) = read(data)

        assert isinstance(error, FrameError)
        assert error.code in {1002, 1009}
