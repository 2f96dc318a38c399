"""A turn detector whose judgments are written down, and files with the interface of a real one."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from offhook.kit.audio import Samples
from offhook.voice.ports import EndJudgment

GIVES_UP_S = 1.0


@dataclass
class ScriptedDetector:
    """Implements TurnDetector. Judges one pause after the other, each after ``takes_s``; None: it hangs."""

    probabilities: list[float | None]
    takes_s: float = 0.05
    heard: list[Samples] = field(default_factory=list)

    def judge_turn(self, samples: Samples, sample_rate: int, on_judged: Callable[[EndJudgment], None]) -> None:
        self.heard.append(samples)
        probability = self.probabilities.pop(0)
        judged = EndJudgment(None, failure="late") if probability is None else EndJudgment(probability, 7)
        delay_s = GIVES_UP_S if probability is None else self.takes_s
        asyncio.get_running_loop().call_later(delay_s, on_judged, judged)


def write_detector(
    path: Path,
    *,
    shape: Sequence[int | str] = ("batch_size", 80, 800),
    is_logit: bool = False,
    outputs: int = 1,
    kind: int = TensorProto.FLOAT,
) -> str:
    """Writes a model of no weight worth the name: the louder the end of the features, the less complete is the turn. Its
    input and output are those of Smart Turn v3. Returns the SHA-256 of the file."""
    node = helper.make_node
    axes = list(range(1, len(shape)))
    nodes = [
        node("Cast", ["input_features"], ["floats"], to=TensorProto.FLOAT),
        node("Slice", ["floats", "from", "to", "last"], ["end"]),
        node("ReduceMean", ["end"], ["mean"], axes=axes, keepdims=0),
        node("Mul", ["mean", "weight"], ["weighted"]),
        node("Unsqueeze", ["weighted", "one"], ["level"]),
        node("Identity" if is_logit else "Sigmoid", ["level"], ["logits"]),
        *(node("Identity", ["logits"], [f"more{index}"]) for index in range(1, outputs)),
    ]
    constants: dict[str, NDArray[np.generic]] = {
        "from": np.array([-40], np.int64),
        "to": np.array([2**31], np.int64),
        "last": np.array([len(shape) - 1], np.int64),
        "one": np.array([1], np.int64),
        "weight": np.array(-8, np.float32),
    }
    names = ["logits", *(f"more{index}" for index in range(1, outputs))]
    graph = helper.make_graph(
        nodes,
        "detector",
        [helper.make_tensor_value_info("input_features", kind, list(shape))],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch_size", 1]) for name in names],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = model.SerializeToString()
    onnx.checker.check_model(model)
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
