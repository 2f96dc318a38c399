"""Models on onnxruntime: the library is loaded when a model first runs, with options for small models that run
alongside calls."""

import os
from pathlib import Path
from typing import Any


def onnx_session(model: Path | bytes, *, log_level: int = 2) -> Any:
    """Returns an ``InferenceSession`` on one thread that releases its memory. The first one blocks for up to 0.2 s.
    ``model`` is a file or its content."""
    # read during import: no data leaves the machine or is kept in the user's home
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # noqa: PLC0415 - 18 MB, 40 with a model: only where one is run

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = log_level
    return onnxruntime.InferenceSession(
        model if isinstance(model, bytes) else str(model), options, providers=["CPUExecutionProvider"]
    )
