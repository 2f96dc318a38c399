"""The offline model that reads edges: an answer means the edge that a person would take, or none."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from offhook.knowledge.errors import ModelMissing
from offhook.knowledge.offline.edge_reader import MAX_TOKENS, OfflineEdgeReader, tokens_of
from offhook.knowledge.offline.prepared_model import tokenizer_path
from offhook.models.edge_reading import AnswerToRead, EdgeText

STAYS = EdgeText("home", "Someone will be there to take the delivery.", ("yes I'll be in", "my neighbor can take it"))
AWAY = EdgeText("away", "Nobody will be there that day.", ("no we're both at work",))
PERSON = EdgeText("person", "The caller asks for a human.", ("can I talk to someone",))
ASKED = "Will someone be home on Thursday?"


@pytest.fixture
async def reader(models_folder: Path) -> OfflineEdgeReader:
    found = OfflineEdgeReader(models_folder)
    await found.load()
    return found


@pytest.mark.parametrize(
    ("heard", "place"),
    [
        ("My son is off school, he'll open the door for you.", 0),
        ("Thursdays I'm at the hospital all day.", 1),
        ("I'd rather deal with one of your staff directly.", 2),
        ("What time did you say?", 3),
        ("hang on, somebody is at the door", 3),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
async def test_the_edge_that_is_meant(reader: OfflineEdgeReader, heard: str, place: int, order: list[int]) -> None:
    edges = [(STAYS, AWAY, PERSON)[at] for at in order]
    odds = await reader.read(AnswerToRead(ASKED, heard, tuple(edges)))
    assert sum(odds) == pytest.approx(1.0)
    likeliest = odds.index(max(odds))
    assert (order[likeliest] if likeliest < len(order) else 3) == place


async def test_the_same_answer_has_the_same_odds(reader: OfflineEdgeReader) -> None:
    answer = AnswerToRead(ASKED, "The dog will be.", (STAYS, AWAY))
    assert await reader.read(answer) == reader.read_here(answer)


async def test_more_edges_than_there_is_room_for(reader: OfflineEdgeReader) -> None:
    wordy = EdgeText("a label " * 20, "a condition " * 40, tuple(f"an example number {at}" for at in range(30)))
    answer = AnswerToRead("a question " * 200, "an answer " * 200, (wordy,) * 20)
    tokens = tokens_of(answer, Tokenizer.from_file(str(tokenizer_path())))
    assert len(tokens.ids) == len(tokens.types) <= MAX_TOKENS
    assert len(await reader.read(answer)) == 21


async def test_an_edge_and_an_answer_without_words(reader: OfflineEdgeReader) -> None:
    odds = await reader.read(AnswerToRead("", "", (EdgeText("", ""),)))
    assert sum(odds) == pytest.approx(1.0)


async def test_without_the_wheel(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing):
        await OfflineEdgeReader(tmp_path, wheel="no_such_wheel").read(AnswerToRead(ASKED, "yes", (STAYS,)))
