"""The offline embedding model: a sentence is the same vector wherever it stands."""

from pathlib import Path

import numpy as np

from offhook.knowledge.offline.model import OfflineModel

SENTENCE = "It's on but still nothing loads"
OTHERS = ["My bill is wrong", "The internet is slow in the evening, and in the morning as well", "Green"]


async def test_a_sentence_is_the_same_vector_beside_others(models_folder: Path) -> None:
    model = OfflineModel(models_folder)
    (alone,) = await model.embed_sentences([SENTENCE])
    (*_, beside) = await model.embed_sentences([*OTHERS, SENTENCE])
    await model.aclose()
    assert np.array_equal(alone, beside)
