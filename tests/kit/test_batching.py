"""Group commit: who comes together is written together, and a bad one harms nobody else."""

import asyncio
from collections.abc import Sequence

import pytest

from offhook.kit.database.group_commit import MAX_BATCH_SIZE, GroupCommit


class Book:
    """Answers twice the number; a batch with a number in ``refused`` fails as a whole."""

    def __init__(self, refused: Sequence[int] = ()) -> None:
        self.refused = set(refused)
        self.batches: list[list[int]] = []
        self.may_write = asyncio.Event()
        self.may_write.set()

    async def write(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        await self.may_write.wait()
        if self.refused & set(numbers):
            raise ValueError(sorted(self.refused & set(numbers)))
        return [2 * number for number in numbers]


async def test_who_comes_at_once_is_written_at_once_and_in_order() -> None:
    book = Book()
    batcher = GroupCommit(book.write)
    assert await asyncio.gather(*(batcher.submit(number) for number in range(5))) == [0, 2, 4, 6, 8]
    assert book.batches == [[0, 1, 2, 3, 4]]


async def test_who_comes_meanwhile_is_the_next_batch() -> None:
    book = Book()
    batcher = GroupCommit(book.write)
    book.may_write.clear()
    first = asyncio.create_task(batcher.submit(1))
    while not book.batches:
        await asyncio.sleep(0)
    others = [asyncio.create_task(batcher.submit(number)) for number in (2, 3)]
    await asyncio.sleep(0)
    book.may_write.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6]
    assert book.batches == [[1], [2, 3]]


async def test_a_batch_has_a_limit() -> None:
    book = Book()
    batcher = GroupCommit(book.write)
    await asyncio.gather(*(batcher.submit(number) for number in range(MAX_BATCH_SIZE + 1)))
    assert [len(batch) for batch in book.batches] == [MAX_BATCH_SIZE, 1]


async def test_an_error_is_heard_by_whom_it_concerns_alone() -> None:
    book = Book(refused=[2])
    batcher = GroupCommit(book.write)
    done = await asyncio.gather(*(batcher.submit(number) for number in (1, 2, 3)), return_exceptions=True)
    assert (done[0], done[2]) == (2, 6)
    assert isinstance(done[1], ValueError)
    assert book.batches == [[1, 2, 3], [1], [2], [3]]


async def test_who_is_cancelled_is_written_all_the_same() -> None:
    book = Book()
    batcher = GroupCommit(book.write)
    book.may_write.clear()
    one, other = (asyncio.create_task(batcher.submit(number)) for number in (1, 2))
    while not book.batches:
        await asyncio.sleep(0)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    book.may_write.set()
    assert await other == 4
    assert book.batches == [[1, 2]]
