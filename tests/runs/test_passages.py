"""Passages of transcripts: which utterance is shown for a search, and what is marked in it."""

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs.lists.passages import MAX_PASSAGE_CHARS, find_passage
from offhook.runs.records.projections import TranscriptLine
from offhook.runs.records.word_search import parse_query
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun
from tests.runs.test_encrypted_words import use_keys
from tests.runs.test_transcript_search import PATH, hold_call


def show(query: str, *texts: str) -> str | None:
    """The passage in one line, with what is marked in brackets; the agent speaks first."""
    lines = [
        TranscriptLine("caller" if number % 2 else "agent", text, float(number), number + 0.5)
        for number, text in enumerate(texts)
    ]
    passage = find_passage(lines, parse_query(query).list_wanted_terms())
    if passage is None:
        return None
    marked = "".join(f"[{part.text}]" if part.is_match else part.text for part in passage.parts)
    return f"{passage.role} {passage.start_s:.0f}: {marked}"


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("tooth", "caller 1: My [Tooth] hurts, a [tooth]-ache on Friday."),
        ("friday tooth", "caller 1: My [Tooth] hurts, a [tooth]-ache on [Friday]."),
        ('"on friday"', "caller 1: My Tooth hurts, a tooth-ache [on Friday]."),
        ("tooth-ache", "caller 1: My Tooth hurts, a [tooth-ache] on Friday."),
        ("friday", "caller 1: My Tooth hurts, a tooth-ache on [Friday]."),
        ("it's", "agent 2: [It’s] fine: Friday at ten."),
        ("nothing or ten", "agent 2: It’s fine: Friday at [ten]."),
        ("friday -tooth", "caller 1: My Tooth hurts, a tooth-ache on [Friday]."),
        ('"help my tooth"', "caller 1: [My] [Tooth] hurts, a [tooth]-ache on Friday."),
        ("-tooth", None),
        ("marzipan", None),
        ("&|!", None),
    ],
)
def test_the_utterance_with_most_of_the_words_is_shown(query: str, shown: str | None) -> None:
    said = ("How may I help?", "My Tooth hurts, a tooth-ache on Friday.", "It’s fine: Friday at ten.")
    assert show(query, *said) == shown


def test_a_long_utterance_is_cut_around_the_first_match() -> None:
    shown = show("needle", "hay " * 300 + "a needle " + "hay " * 300)
    assert shown is not None
    assert shown.startswith("agent 0: …hay hay")
    assert " a [needle] hay" in shown
    assert shown.endswith("hay…")
    assert len(shown) <= MAX_PASSAGE_CHARS + len("agent 0: …[]…")


def test_words_without_spaces_are_cut_too() -> None:
    shown = show("needle", f"needle,{'x' * 5000}")
    assert shown == f"agent 0: [needle],{'x' * (MAX_PASSAGE_CHARS - 7)}…"


@pytest.mark.parametrize("encrypts", [False, True])
async def test_each_found_run_shows_who_said_it_and_when(
    client: AsyncClient, make_run: MakeRun, org: OrgFixture, root: Root, encrypts: bool
) -> None:
    use_keys(root, encrypts=encrypts)
    tooth = await hold_call(root, await make_run(), "My Tooth hurts, can I come on Friday?")
    order = await hold_call(root, await make_run(), "Where is my order?", answer="It arrives on Friday.")
    answer = await client.get(PATH, params={"search": "friday"}, headers=org.owner_headers)
    passages = {item["run_id"]: item["passage"] for item in answer.json()["items"]}
    assert passages == {
        tooth.id: {
            "role": "caller",
            "start_s": 0.2,
            "parts": [
                {"text": "My Tooth hurts, can I come on ", "is_match": False},
                {"text": "Friday", "is_match": True},
                {"text": "?", "is_match": False},
            ],
        },
        order.id: {
            "role": "agent",
            "start_s": 1.2,
            "parts": [
                {"text": "It arrives on ", "is_match": False},
                {"text": "Friday", "is_match": True},
                {"text": ".", "is_match": False},
            ],
        },
    }


async def test_without_a_search_nothing_is_shown(client: AsyncClient, run: Run, org: OrgFixture, root: Root) -> None:
    await hold_call(root, run, "On Friday, please.")
    for params in ({}, {"search": "-marzipan"}):
        (item,) = (await client.get(PATH, params=params, headers=org.owner_headers)).json()["items"]
        assert item["passage"] is None
