"""Models on onnxruntime: its library is loaded when a model is first run, and one set of options serves small models beside calls."""

import os
from pathlib import Path
from typing import Any


def onnx_session(path: Path, *, log_level: int = 2) -> Any:
    """An ``InferenceSession`` on one thread that gives its memory back. Blocking: up to 0.2 s the first time in a process."""
    # read while it is imported: nothing leaves the machine or is kept in the user's home
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # noqa: PLC0415 - 18 MB, 40 with a model: only where one is run

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = log_level
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
