"""Trains the built-in model's classifier of what callers' words do, from the sentences beside this file.

    uv run --active --with scikit-learn python scripts/caller_acts/train.py

Writes ``weights.npz`` of ``offhook.models.providers.builtin.acts`` and prints how well the held-out sentences, which
another author wrote, are told apart. The result depends on the sentences alone: each is embedded by itself, and the
solver has no random part.
"""

import asyncio
import tempfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from offhook.knowledge.offline.model import OfflineModel
from offhook.models.providers.builtin.acts.classifier import WEIGHTS, ActClassifier, compared_texts
from offhook.models.providers.builtin.acts.features import text_features

HERE = Path(__file__).parent
HELD_OUT = HERE.parents[1] / "tests" / "data" / "caller_acts.tsv"
# A word or pair of words that fewer sentences have is left out.
MIN_COUNT = 3
# Chosen by cross-validation over the authors.
REGULARIZATION = 4.0
WORDS_WEIGHT = 2.5


class Example(NamedTuple):
    """What a caller said after what the agent had asked, which may be nothing, and what that does."""

    act: str
    asked: str
    said: str


def read_examples(path: Path) -> list[Example]:
    return [Example(*line.split("\t")) for line in path.read_text().splitlines() if line.strip()]


def spoken(text: str) -> str:
    """Returns a sentence as a speech recognizer without punctuation writes it."""
    return " ".join("".join(sign if sign.isalnum() or sign in "' " else " " for sign in text.lower()).split())


def with_spoken(rows: list[Example]) -> list[Example]:
    """Returns the examples, and each that has punctuation once more without."""
    return list(dict.fromkeys(both for row in rows for both in (row, row._replace(said=spoken(row.said)))))


def word_matrix(texts: list[str], columns: dict[str, int]) -> csr_matrix:
    """Returns a row for each text, of length one, with the words that have a column."""
    row, column, value = [], [], []
    for at, text in enumerate(texts):
        found = sorted({columns[feature] for feature in text_features(text) if feature in columns})
        row += [at] * len(found)
        column += found
        value += [WORDS_WEIGHT / len(found) ** 0.5] * len(found)
    return csr_matrix((value, (row, column)), shape=(len(texts), len(columns)))


def vector_matrix(rows: list[Example], vectors: dict[str, np.ndarray]) -> csr_matrix:
    return csr_matrix([np.concatenate([vectors[text] for text in compared_texts(row.asked, row.said)]) for row in rows])


async def embed(texts: list[str]) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        model = OfflineModel(Path(folder))
        vectors = await model.embed_sentences(texts)
        await model.aclose()
        return dict(zip(texts, vectors, strict=True))


def fit(rows: list[Example], vectors: dict[str, np.ndarray]) -> tuple[LogisticRegression, dict[str, int]]:
    """Returns the model and its columns of words."""
    counted = Counter(feature for row in rows for feature in text_features(row.said))
    columns = {feature: at for at, feature in enumerate(sorted(f for f, n in counted.items() if n >= MIN_COUNT))}
    words = word_matrix([row.said for row in rows], columns)
    model = LogisticRegression(C=REGULARIZATION, max_iter=2000)
    model.fit(hstack([vector_matrix(rows, vectors), words]).tocsr(), [row.act for row in rows])
    return model, columns


def write_weights(path: Path, model: LogisticRegression, columns: dict[str, int], trained_on: str) -> None:
    size = model.coef_.shape[1] - len(columns)
    np.savez_compressed(
        path,
        acts=np.array(list(model.classes_)),
        features=np.array(list(columns)),
        of_vectors=model.coef_[:, :size].T.astype(np.float16),
        of_words=(model.coef_[:, size:].T * WORDS_WEIGHT).astype(np.float16),
        bias=model.intercept_.astype(np.float32),
        trained_on=np.array(trained_on),
    )


def print_held_out(path: Path, rows: list[Example], vectors: dict[str, np.ndarray]) -> None:
    classifier = ActClassifier(path)
    found = [
        classifier.odds(row.said, [vectors[text] for text in compared_texts(row.asked, row.said)]).likeliest
        for row in rows
    ]
    given = [row.act for row in rows]
    print(
        f"{sum(one == other for one, other in zip(found, given, strict=True)) / len(rows):.1%} of {len(rows)} held-out sentences"
    )
    for act in sorted(set(given)):
        both = sum(one == act == other for one, other in zip(found, given, strict=True))
        print(f"{act:9} precision {both / max(1, found.count(act)):.1%} recall {both / given.count(act):.1%}")


def main() -> None:
    files = sorted(HERE.glob("*.tsv"))
    rows = with_spoken([row for file in files for row in read_examples(file)])
    held_out = read_examples(HELD_OUT)
    texts = dict.fromkeys(text for row in rows + held_out for text in compared_texts(row.asked, row.said))
    vectors = asyncio.run(embed(list(texts)))
    model, columns = fit(rows, vectors)
    trained_on = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    write_weights(WEIGHTS, model, columns, trained_on)
    print(f"{len(rows)} sentences, {len(columns)} words, {WEIGHTS.stat().st_size / 1000:.0f} kB")
    print_held_out(WEIGHTS, held_out, vectors)


if __name__ == "__main__":
    main()
