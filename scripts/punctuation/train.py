"""Trains where the clauses of an utterance end that a recognizer wrote without punctuation.

    uv run --active --with scikit-learn python scripts/punctuation/train.py

Writes ``punctuation.npz`` of ``offhook.models.providers.builtin.hearing`` and prints how many boundaries of the everyday
corpora, which other authors wrote, are found, and how many of those that are found are there. The result depends on the
sentences alone: those beside this file and of the classifier of callers' acts, the corpora of conversations that are not
everyday, and pairs of short sentences, which a caller says in one breath.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from offhook.models.providers.builtin.hearing.punctuation import MIN_PROBABILITY, WEIGHTS, gap_features

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "tests" / "data"
SENTENCES = (*sorted((HERE.parent / "caller_acts").glob("*.tsv")), HERE / "ramblers.tsv")
FOLDERS = (
    "conversations",
    "held_out_conversations",
    "blind_conversations",
    "indirect_conversations",
    "figurative_conversations",
)
# A feature that fewer gaps have is left out, and one that says less.
MIN_COUNT = 3
MIN_WEIGHT = 0.15
REGULARIZATION = 0.3
# Longer texts without a sign were written without any: they say nothing of where one belongs.
MAX_WORDS_WITHOUT = 9
# Of the sentences that are paired.
MAX_WORDS_PAIRED = 12
_TOKEN = re.compile(r"[\w'\u2019:$]+|[,.;!?\u2026\u2014]+|-(?=\s)")


def read_turns(folder: str) -> Iterator[str]:
    for path in sorted((DATA / folder).glob("*.json")):
        for conversation in json.loads(path.read_text()):
            yield from conversation["turns"]


def read_sentences() -> list[str]:
    told = [line.split("\t")[-1] for path in SENTENCES for line in path.read_text().splitlines() if line.strip()]
    return list(dict.fromkeys([*told, *(turn for folder in FOLDERS for turn in read_turns(folder))]))


def pair_sentences(sentences: Iterable[str]) -> list[str]:
    whole = [text for text in sentences if text.rstrip()[-1:] in ".!?" and len(text.split()) <= MAX_WORDS_PAIRED]
    chance = random.Random(1)
    return [f"{a} {b}" for a, b in zip(chance.sample(whole, len(whole)), chance.sample(whole, len(whole)), strict=True)]


def split_tokens(text: str) -> tuple[list[str], list[int]]:
    """Returns the words, and 1 for each that punctuation follows."""
    words: list[str] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(re.sub(r"(?<=\d)[.,](?=\d)", "", text)):
        if re.match(r"[\w'\u2019:$]", match.group()):
            words.append(match.group().lower().replace("\u2019", "'"))
            ends.append(0)
        elif words:
            ends[-1] = 1
    return words, ends


def read_gaps(texts: Iterable[str]) -> tuple[list[list[str]], list[int]]:
    """Returns the features of every gap between words, and whether there is punctuation."""
    rows: list[list[str]] = []
    is_end: list[int] = []
    for text in texts:
        words, ends = split_tokens(text)
        if len(words) < 2 or (not any(ends[:-1]) and len(words) > MAX_WORDS_WITHOUT):
            continue
        rows += [gap_features(words, at) for at in range(len(words) - 1)]
        is_end += ends[:-1]
    return rows, is_end


def matrix_of(rows: list[list[str]], columns: dict[str, int]) -> csr_matrix:
    places = [(at, columns[feature]) for at, row in enumerate(rows) for feature in row if feature in columns]
    row, column = zip(*places, strict=True)
    return csr_matrix((np.ones(len(places), np.float32), (row, column)), shape=(len(rows), len(columns)))


def main() -> None:
    sentences = read_sentences()
    rows, is_end = read_gaps([*sentences, *pair_sentences(sentences)])
    counts = Counter(feature for row in rows for feature in row)
    columns = {feature: at for at, feature in enumerate(sorted(f for f, n in counts.items() if n >= MIN_COUNT))}
    model = LogisticRegression(C=REGULARIZATION, max_iter=300, solver="liblinear", random_state=1)
    model.fit(matrix_of(rows, columns), np.array(is_end))
    weights = model.coef_[0]
    features = [feature for feature, at in columns.items() if abs(weights[at]) > MIN_WEIGHT]
    kept = np.array([weights[columns[feature]] for feature in features], np.float16)
    stored = np.frombuffer("\n".join(features).encode(), np.uint8)
    np.savez_compressed(WEIGHTS, features=stored, weights=kept, bias=np.float32(model.intercept_[0]))
    unseen, expected = read_gaps(read_turns("everyday_conversations"))
    found = model.predict_proba(matrix_of(unseen, columns))[:, 1] >= MIN_PROBABILITY
    right = int((found & (np.array(expected) == 1)).sum())
    print(f"{len(rows)} gaps, {len(features)} features, {WEIGHTS.stat().st_size // 1000} kB")
    print(f"everyday corpora: {right / sum(expected):.1%} of the boundaries, {right / found.sum():.1%} of those found")


if __name__ == "__main__":
    main()
