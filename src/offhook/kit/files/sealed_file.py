"""Files that are encrypted in chunks, so that parts are read, and a growing file is written, without the rest.

A file is a header (what it is, the number of the data key, a salt) and slots: each holds a nonce, up to ``CHUNK`` bytes
under AES-256-GCM, and the tag. The slot's index is authenticated. Every file has a key of its own, derived from the data key and the salt, and
every writing of a slot a random nonce.
"""

import io
import os
import struct
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from offhook.kit.crypto import DataKey, FileCipher, SecretUnreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK: Final = 1 << 16
_MAGIC: Final = b"OFHSEAL1"
_HEADER: Final = struct.Struct(">8sI16s")
HEADER_BYTES: Final = _HEADER.size
OVERHEAD: Final = 28
_SLOT: Final = CHUNK + OVERHEAD
# A slot that is being written can be read half old, half new.
_RETRIES: Final = 20
_RETRY_S: Final = 0.005


class RandomAccessFile(Protocol):
    """A file that is read and written in any place."""

    @property
    def size(self) -> int: ...

    def read_at(self, start: int, length: int) -> bytes: ...

    def write_at(self, start: int, data: bytes) -> None: ...

    def truncate(self, size: int) -> None:
        """Shortens the file, or lengthens it with zeros."""
        ...

    def close(self) -> None: ...


class PlainFile:
    """A file as it is on the disk. ``creates``: it is made, or emptied."""

    def __init__(self, path: Path, *, creates: bool = False) -> None:
        self._descriptor = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_TRUNC if creates else 0), 0o640)

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read_at(self, start: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, start)

    def write_at(self, start: int, data: bytes) -> None:
        left = memoryview(data)
        while left:  # a disk without room takes a part, and says so at the next attempt
            done = os.pwrite(self._descriptor, left, start)
            start, left = start + done, left[done:]

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        os.close(self._descriptor)


def read_key_number(head: bytes) -> int | None:
    """Returns the number of the data key of a file that begins with ``head``; None when it is not encrypted."""
    if len(head) < HEADER_BYTES or not head.startswith(_MAGIC):
        return None
    number: int = _HEADER.unpack(head[:HEADER_BYTES])[1]
    return number


def derive_file_cipher(key: DataKey, head: bytes) -> FileCipher:
    """Returns the cipher of an encrypted file that begins with ``head``."""
    return key.derive_cipher(_HEADER.unpack(head[:HEADER_BYTES])[2])


def plain_size(stored: int) -> int:
    """Returns how many bytes an encrypted file of ``stored`` bytes holds."""
    whole, rest = divmod(max(0, stored - HEADER_BYTES), _SLOT)
    return whole * CHUNK + max(0, rest - OVERHEAD)


class SealedFile:
    """An encrypted file on this machine. One process writes it; others can read it at the same time."""

    def __init__(self, path: Path, key: DataKey, *, creates: bool = False) -> None:
        self._file = PlainFile(path, creates=creates)
        try:
            if creates:
                head = _HEADER.pack(_MAGIC, key.number, os.urandom(16))
                self._file.write_at(0, head)
            else:
                head = self._file.read_at(0, HEADER_BYTES)
                if read_key_number(head) != key.number:
                    raise SecretUnreadable("the file is not encrypted with this key")
            self._cipher = derive_file_cipher(key, head)
        except BaseException:
            self._file.close()
            raise

    @property
    def size(self) -> int:
        return plain_size(self._file.size)

    def read_at(self, start: int, length: int) -> bytes:
        stop = min(start + length, self.size)
        if start >= stop:
            return b""
        first = start // CHUNK
        parts = [self._read_slot(index) for index in range(first, (stop - 1) // CHUNK + 1)]
        return b"".join(parts)[start - first * CHUNK : stop - first * CHUNK]

    def write_at(self, start: int, data: bytes) -> None:
        if start > self.size:
            self.truncate(start)
        done = 0
        while done < len(data):
            index, offset = divmod(start + done, CHUNK)
            part = data[done : done + CHUNK - offset]
            if len(part) < CHUNK:
                old = self._read_slot(index)
                part = old[:offset] + part + old[offset + len(part) :]
            self._write_slot(index, part)
            done = min(len(data), done + CHUNK - offset)

    def truncate(self, size: int) -> None:
        held = self.size
        if size > held:
            for at in range(held, size, CHUNK):
                self.write_at(at, bytes(min(CHUNK, size - at)))
            return
        index, rest = divmod(size, CHUNK)
        kept = self._read_slot(index)[:rest] if rest else b""
        self._file.truncate(HEADER_BYTES + index * _SLOT)
        if rest:
            self._write_slot(index, kept)

    def cut_torn_end(self) -> None:
        """Drops a last slot that a dying process wrote by half."""
        last = (self.size - 1) // CHUNK
        if last >= 0:
            try:
                self._read_slot(last, retries=1)
            except SecretUnreadable:
                self._file.truncate(HEADER_BYTES + last * _SLOT)

    def close(self) -> None:
        self._file.close()

    def _read_slot(self, index: int, *, retries: int = _RETRIES) -> bytes:
        for left in range(retries, 0, -1):
            stored = self._file.read_at(HEADER_BYTES + index * _SLOT, _SLOT)
            if len(stored) <= OVERHEAD:
                return b""
            try:
                return self._cipher.decrypt(index, stored)
            except SecretUnreadable:
                if left == 1:
                    raise
                time.sleep(_RETRY_S)
        raise AssertionError("unreachable")

    def _write_slot(self, index: int, data: bytes) -> None:
        start = HEADER_BYTES + index * _SLOT
        held = max(0, self._file.size - start - OVERHEAD)
        try:
            self._file.write_at(start, self._cipher.encrypt(index, data))
        except OSError:
            if held < len(data):
                # Half of a slot cannot be read, nor written on. What it had needs no more room than before.
                self._file.truncate(start + (OVERHEAD + held if held else 0))
                self._file.write_at(start, self._cipher.encrypt(index, data[:held]) if held else b"")
            raise


def open_random_access(path: Path, key: DataKey | None, *, creates: bool = False) -> RandomAccessFile:
    """Opens a file, encrypted when there is a key. Raises OSError."""
    return PlainFile(path, creates=creates) if key is None else SealedFile(path, key, creates=creates)


class SealedReader(io.RawIOBase):
    """Reads an encrypted file like a plain one; wrap it in ``io.BufferedReader``."""

    def __init__(self, file: SealedFile) -> None:
        self._source = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._source.size}[whence]
        self._at = max(0, begin + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        part = self._source.read_at(self._at, len(view))
        view[: len(part)] = part
        self._at += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


async def decrypt_range(parts: AsyncIterator[bytes], cipher: FileCipher, start: int, stop: int) -> AsyncIterator[bytes]:
    """Yields the plain bytes from ``start`` to before ``stop``; ``parts`` is what :func:`stored_range` says of them."""
    index, waiting = start // CHUNK, bytearray()
    async for part in parts:
        waiting += part
        while len(waiting) >= _SLOT:
            yield _cut(cipher.decrypt(index, bytes(waiting[:_SLOT])), index, start, stop)
            del waiting[:_SLOT]
            index += 1
    if len(waiting) > OVERHEAD:
        yield _cut(cipher.decrypt(index, bytes(waiting)), index, start, stop)


def stored_range(start: int, stop: int, stored: int) -> tuple[int, int]:
    """Returns which bytes of a file of ``stored`` bytes hold the plain ones from ``start`` to before ``stop``."""
    first, last = start // CHUNK, (stop - 1) // CHUNK
    return HEADER_BYTES + first * _SLOT, min(stored, HEADER_BYTES + (last + 1) * _SLOT)


def _cut(plain: bytes, index: int, start: int, stop: int) -> bytes:
    return plain[max(0, start - index * CHUNK) : stop - index * CHUNK]
