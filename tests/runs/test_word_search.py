"""Queries over tokens of words: what they find, against PostgreSQL's own search as a second implementation."""

import random

from sqlalchemy import ARRAY, Text, bindparam, text

from offhook.kit.crypto import DataKey, new_data_key
from offhook.root import Root
from offhook.runs.records.word_search import list_index_words, parse_query

CASES = 600
VOCABULARY = ("friday", "Order", "my", "tooth", "Zoë", "42", "or", "on")
MARKER = "organization/1/key/1"


def make_text(random: random.Random) -> str:
    return " ".join(random.choices(VOCABULARY, k=random.randint(0, 7)))


def make_query(random: random.Random) -> str:
    parts = []
    for _ in range(random.randint(1, 4)):
        part = random.choice(VOCABULARY)
        if random.random() < 0.4:
            part = f'"{" ".join(random.choices(VOCABULARY, k=random.randint(1, 3)))}"'
        minus = "-" if random.random() < 0.25 else ""
        parts.append(f"{minus}{part}")
    return " ".join(parts)


async def test_it_finds_what_postgresql_finds(root: Root) -> None:
    source = random.Random(31)
    texts = [make_text(source) for _ in range(CASES)]
    queries = [make_query(source) for _ in range(CASES)]
    index = DataKey(1, new_data_key()).derive_word_index()
    parsed = [parse_query(query) for query in queries]
    tokens = [
        " ".join([f"'{MARKER}'", *(f"'{index.hash_word(word)}'" for word in list_index_words(spoken))])
        for spoken in texts
    ]
    statement = text(
        "SELECT websearch_to_tsquery('simple', q), to_tsvector('simple', t) @@ websearch_to_tsquery('simple', q),"
        " CAST(k AS tsvector) @@ CAST(tq AS tsquery)"
        " FROM unnest(:texts, :queries, :tokens, :token_queries) WITH ORDINALITY AS x(t, q, k, tq, n) ORDER BY n"
    ).bindparams(*(bindparam(name, type_=ARRAY(Text)) for name in ("texts", "queries", "tokens", "token_queries")))
    values = {
        "texts": texts,
        "queries": queries,
        "tokens": tokens,
        "token_queries": [query.format_tsquery(index.hash_word, MARKER) for query in parsed],
    }
    async with root.db.transaction() as session:
        rows = (await session.execute(statement, values)).all()
    found = 0
    for spoken, query, terms, (tsquery, is_found, has_tokens) in zip(texts, queries, parsed, rows, strict=True):
        if not tsquery:  # without words everything is found
            continue
        assert terms.matches(spoken) == is_found, (spoken, query, tsquery)
        assert has_tokens or not is_found, (spoken, query)
        assert has_tokens == is_found or terms.has_phrases, (spoken, query)
        found += is_found
    assert 50 < found < CASES - 50


def test_what_is_joined_is_found_as_a_whole_and_by_its_parts() -> None:
    spoken = "It\u2019s Ann O'Brien's e-mail: ann@example.com, \u20ac3.50!"
    for query in (
        "it's",
        "e-mail",
        "mail",
        "brien",
        "O\u2019BRIEN'S",
        "ann@example.com",
        "example",
        "3.50",
        '"ann o brien"',
    ):
        assert parse_query(query).matches(spoken), query
    for query in ("example.org", "it -mail", '"mail ann example org"', "o'brien"):
        assert not parse_query(query).matches(spoken), query


def test_nothing_is_invalid() -> None:
    for query in ("", "  ", '"', '""', "-", "or", "or or -or", "&|!()", "a:* <-> b", "\\", "%", "'", '-"', 'x "y z'):
        terms = parse_query(query)
        terms.format_tsquery(lambda word: word, MARKER)
        terms.matches("x y z")
