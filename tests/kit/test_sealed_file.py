"""Encrypted files: any place is read and written, they grow while they are read, and damage is noticed."""

import io
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from offhook.kit.crypto import DataKey, SecretUnreadable, new_data_key
from offhook.kit.files.sealed_file import (
    CHUNK,
    HEADER_BYTES,
    OVERHEAD,
    PlainFile,
    SealedFile,
    SealedReader,
    decrypt_range,
    derive_file_cipher,
    plain_size,
    read_key_number,
    stored_range,
)
from tests.fakes.full_disk import file_size_limit

KEY = DataKey(3, new_data_key())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.wav"


def test_it_is_written_and_read_in_any_place(path: Path) -> None:
    chance = random.Random(7)
    file, twin = SealedFile(path, KEY, creates=True), bytearray()
    for _ in range(120):
        start, length = chance.randrange(0, 4 * CHUNK), chance.randrange(1, 2 * CHUNK)
        data = chance.randbytes(length)
        if chance.random() < 0.15:
            size = chance.randrange(0, 4 * CHUNK)
            file.truncate(size)
            twin = bytearray(twin[:size].ljust(size, b"\0"))
        file.write_at(start, data)
        twin = bytearray(twin.ljust(start, b"\0"))
        twin[start : start + length] = data
        assert file.size == len(twin) == plain_size(path.stat().st_size)
        begin, count = chance.randrange(0, len(twin) + 1), chance.randrange(0, CHUNK)
        assert file.read_at(begin, count) == bytes(twin[begin : begin + count])
    file.close()
    again = SealedFile(path, KEY)
    assert io.BufferedReader(SealedReader(again)).read() == bytes(twin)


def test_nothing_of_it_is_readable(path: Path) -> None:
    words = b"my card number is four one one one " * 4000
    file = SealedFile(path, KEY, creates=True)
    file.write_at(0, words)
    file.close()
    stored = path.read_bytes()
    assert read_key_number(stored) == 3
    assert words[:16] not in stored
    assert len(set(stored[-CHUNK:])) == 256
    with pytest.raises(SecretUnreadable):
        SealedFile(path, DataKey(4, KEY.secret))
    with pytest.raises(SecretUnreadable):
        SealedFile(path, DataKey(3, new_data_key())).read_at(0, 1)


@pytest.mark.parametrize("damage", ["changed", "swapped", "of another file"])
def test_damage_is_noticed(path: Path, tmp_path: Path, damage: str) -> None:
    for name in (path, tmp_path / "b.wav"):
        file = SealedFile(name, KEY, creates=True)
        file.write_at(0, bytes(3 * CHUNK))
        file.close()
    stored = bytearray(path.read_bytes())
    slot = CHUNK + OVERHEAD
    first, second = HEADER_BYTES, HEADER_BYTES + slot
    if damage == "changed":
        stored[second + 100] ^= 1
    elif damage == "swapped":
        stored[first:second], stored[second : second + slot] = stored[second : second + slot], stored[first:second]
    else:
        stored[second : second + slot] = (tmp_path / "b.wav").read_bytes()[second : second + slot]
    path.write_bytes(stored)
    with pytest.raises(SecretUnreadable):
        SealedFile(path, KEY).read_at(CHUNK, 10)


def test_the_half_written_end_of_a_killed_process_is_dropped(path: Path) -> None:
    file = SealedFile(path, KEY, creates=True)
    file.write_at(0, b"a" * (CHUNK + 1000))
    with path.open("r+b") as raw:
        raw.seek(-10, 2)
        raw.write(b"0123456789")
    file.cut_torn_end()
    assert (file.size, file.read_at(0, 3)) == (CHUNK, b"aaa")
    file.cut_torn_end()
    assert file.size == CHUNK


def test_a_disk_that_takes_a_part_only_says_so(path: Path) -> None:
    file = PlainFile(path, creates=True)
    with file_size_limit(10), pytest.raises(OSError, match="File too large"):
        file.write_at(0, b"a" * 20)
    file.write_at(5, b"b" * 20)
    assert path.read_bytes() == b"a" * 5 + b"b" * 20


@pytest.mark.parametrize("held", [0, 1000, CHUNK + 1000, 2 * CHUNK])
def test_a_full_disk_damages_nothing_of_it(path: Path, held: int) -> None:
    file = SealedFile(path, KEY, creates=True)
    file.write_at(0, b"a" * held)
    with file_size_limit(path.stat().st_size + 500), pytest.raises(OSError, match="File too large"):
        file.write_at(held, b"b" * 3 * CHUNK)
    assert file.read_at(0, held) == b"a" * held
    assert file.size == held
    file.write_at(held, b"c" * 10)
    assert SealedFile(path, KEY).read_at(0, held + 20) == b"a" * held + b"c" * 10


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 1), (0, 3 * CHUNK + 5), (CHUNK - 1, CHUNK + 1), (CHUNK, 2 * CHUNK), (3 * CHUNK, 3 * CHUNK + 5)],
)
async def test_a_range_of_a_bucket_needs_only_its_slots(path: Path, start: int, stop: int) -> None:
    plain = random.Random(1).randbytes(3 * CHUNK + 5)
    file = SealedFile(path, KEY, creates=True)
    file.write_at(0, plain)
    stored = path.read_bytes()
    begin, end = stored_range(start, stop, len(stored))
    assert end - begin <= (stop - start) + 2 * (CHUNK + OVERHEAD) + OVERHEAD * 4

    async def parts() -> AsyncIterator[bytes]:
        for at in range(begin, end, 1000):
            yield stored[at : min(end, at + 1000)]

    cipher = derive_file_cipher(KEY, stored)
    assert b"".join([part async for part in decrypt_range(parts(), cipher, start, stop)]) == plain[start:stop]
