"""Silero's network at 8 kHz as a graph of few large products, for the windows of many calls at once.

The published graph convolves each window by itself, so that a batch hardly helps: 0.034 ms a window in a batch of
16. With the same weights as products over the whole batch it is 0.011, and 0.047 instead of 0.084 for one window
alone. The answers differ by rounding only, less than 1e-5.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_Weights = dict[str, NDArray[np.float32]]
# The weights of 8 kHz stand in this branch of the published graph, behind a prefix that its exporter made.
_BRANCH: Final = "else_branch"
_PREFIX: Final = "__Inline_0__"
# A window with its context is 288 samples, 320 with their reflection: five halves, four frames of two halves each.
# The convolutions are over three frames and their neighbors: "near" are the columns that such a product needs.
_GRAPH: Final = """
<ir_version: 9, opset_import: ["": 18]>
silero_8k (float[n,288] input, float[2,n,128] state) => (float[n,1] output, float[2,n,128] stateN)
<int64[4] reflected = {0, 0, 0, 32}, int64[3] as_halves = {0, 5, 64}, int64[1] zero = {0}, int64[1] one = {1},
 int64[1] two = {2}, int64[1] four = {4}, int64[1] five = {5}, int64[1] six = {6}, int64[1] c65 = {65},
 int64[1] c128 = {128}, int64[1] c130 = {130}, int64[1] c256 = {256}, int64[1] c384 = {384}, int64[1] c512 = {512},
 int64[1] c640 = {640}, int64[6] both_sides = {0, 1, 0, 0, 1, 0}, int64[6] before = {0, 1, 0, 0, 0, 0},
 int64[2] as_row = {0, 640}, int64[3] as_pair = {0, 2, 384}, int64[2] flat = {0, 128}, int64 first = {0},
 int64 second = {1}>
{
  padded = Pad <mode = "reflect"> (input, reflected)
  halves = Reshape (padded, as_halves)
  left = Slice (halves, zero, four, one)
  right = Slice (halves, one, five, one)
  frames = Concat <axis = 2> (left, right)
  spectrum = MatMul (frames, basis)
  real = Slice (spectrum, zero, c65, two)
  imaginary = Slice (spectrum, c65, c130, two)
  real_power = Mul (real, real)
  imaginary_power = Mul (imaginary, imaginary)
  power = Add (real_power, imaginary_power)
  magnitude = Sqrt (power)

  magnitudes = Pad (magnitude, both_sides)
  near0_before = Slice (magnitudes, zero, four, one)
  near0_here = Slice (magnitudes, one, five, one)
  near0_after = Slice (magnitudes, two, six, one)
  near0 = Concat <axis = 2> (near0_before, near0_here, near0_after)
  product0 = MatMul (near0, weight0)
  sum0 = Add (product0, bias0)
  layer0 = Relu (sum0)

  layer0_padded = Pad (layer0, before)
  layer0_row = Reshape (layer0_padded, as_row)
  near1_first = Slice (layer0_row, zero, c384, one)
  near1_second = Slice (layer0_row, c256, c640, one)
  near1_row = Concat <axis = 1> (near1_first, near1_second)
  near1 = Reshape (near1_row, as_pair)
  product1 = MatMul (near1, weight1)
  sum1 = Add (product1, bias1)
  layer1 = Relu (sum1)

  near2 = Reshape (layer1, flat)
  sum2 = Gemm (near2, weight2, bias2)
  layer2 = Relu (sum2)
  sum3 = Gemm (layer2, weight3, bias3)
  layer3 = Relu (sum3)

  hidden = Gather <axis = 0> (state, first)
  cell = Gather <axis = 0> (state, second)
  known = Concat <axis = 1> (layer3, hidden)
  gates = Gemm (known, gate_weight, gate_bias)
  open_sums = Slice (gates, zero, c384, one)
  opened = Sigmoid (open_sums)
  candidate_sum = Slice (gates, c384, c512, one)
  candidate = Tanh (candidate_sum)
  in_gate = Slice (opened, zero, c128, one)
  forget_gate = Slice (opened, c128, c256, one)
  out_gate = Slice (opened, c256, c384, one)
  kept = Mul (forget_gate, cell)
  added = Mul (in_gate, candidate)
  new_cell = Add (kept, added)
  squashed = Tanh (new_cell)
  new_hidden = Mul (out_gate, squashed)
  hidden_row = Unsqueeze (new_hidden, zero)
  cell_row = Unsqueeze (new_cell, zero)
  stateN = Concat <axis = 0> (hidden_row, cell_row)

  positive = Relu (new_hidden)
  logit = Gemm (positive, out_weight, out_bias)
  output = Sigmoid (logit)
}
"""


def build_graph(published: Path) -> bytes:
    """Returns the graph with the weights of the published file: ``input`` (calls, 288) and ``state`` (2, calls, 128)
    become ``output`` (calls, 1), probabilities, and ``stateN``. Raises KeyError where a weight is missing."""
    from onnx import numpy_helper, parser  # noqa: PLC0415 - 12 MB: only where calls are carried

    model = parser.parse_model(_GRAPH)
    for name, value in _arrange_weights(_read_weights(published)).items():
        model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
    serialized: bytes = model.SerializeToString()
    return serialized


def _read_weights(published: Path) -> _Weights:
    import onnx  # noqa: PLC0415 - see above

    (choice,) = (node for node in onnx.load(published).graph.node if node.op_type == "If")
    (branch,) = (attribute.g for attribute in choice.attribute if attribute.name == _BRANCH)
    constants: dict[str, Any] = {
        node.output[0]: node.attribute[0].t for node in branch.node if node.op_type == "Constant"
    }
    return {name.rpartition(_PREFIX)[2]: onnx.numpy_helper.to_array(tensor) for name, tensor in constants.items()}


def _arrange_weights(weights: _Weights) -> _Weights:
    """Returns the matrices (inputs, outputs) of the graph."""
    convolutions = [weights[f"encoder.{layer}.reparam_conv.weight"].transpose(2, 1, 0) for layer in range(4)]
    arranged = {
        "basis": weights["stft.forward_basis_buffer"][:, 0].T,
        "weight0": convolutions[0].reshape(-1, 128),
        "weight1": convolutions[1].reshape(-1, 64),
        # one frame is left, the first of two: there is nothing before it
        "weight2": convolutions[2][1:].reshape(-1, 64),
        # one frame is left: there is nothing on its sides
        "weight3": convolutions[3][1],
        **{f"bias{layer}": weights[f"encoder.{layer}.reparam_conv.bias"] for layer in range(4)},
        "out_weight": weights["decoder.decoder.2.weight"][0],
        "out_bias": weights["decoder.decoder.2.bias"],
    }
    by_input = np.concatenate((weights["decoder.rnn.weight_ih"], weights["decoder.rnn.weight_hh"]), axis=1).T
    bias = weights["decoder.rnn.bias_ih"] + weights["decoder.rnn.bias_hh"]
    # in, forget, candidate, out: the candidate goes last
    order = np.r_[0:256, 384:512, 256:384]
    return {**arranged, "gate_weight": by_input[:, order], "gate_bias": bias[order]}
