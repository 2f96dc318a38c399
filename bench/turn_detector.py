"""Measures what one judgment of a turn detector costs: the sound to 16 kHz, its features, the model.

    python -m bench.turn_detector [--judgments N] [--file MODEL.onnx --sha256 HASH]

Without a file, the model is a tiny one of the tests: then the figures are those of the features alone. Smart Turn's model is
not part of Offhook, nor of this.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from tests.fakes.turn_detector import write_detector

from offhook.voice.turn_detector.onnx_detector import features_of, load_runner

RATES: Final = (8000, 16_000)


def measure_ms(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Returns the median and the 95th percentile of the CPU time, in milliseconds."""
    work()
    spent = []
    for _ in range(times):
        began = time.thread_time()
        work()
        spent.append((time.thread_time() - began) * 1000)
    median, high = np.percentile(spent, [50, 95])
    return float(median), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgments", type=int, default=200)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--sha256", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or Path(folder) / "tiny.onnx"
        run_model = load_runner(file, given.sha256 if given.file else write_detector(file))
    random = np.random.default_rng(1)
    for rate in RATES:
        sound = random.normal(0, 3000, 8 * rate).astype(np.int16)
        features = features_of(sound, rate)
        for name, work in (
            ("features", lambda sound=sound, rate=rate: features_of(sound, rate)),
            ("model", lambda features=features: run_model(features)),
        ):
            median, high = measure_ms(work, given.judgments)
            print(f"{rate:6} Hz  {name:9} {median:6.2f} ms of CPU, 95th percentile {high:6.2f}")
        print(f"{rate:6} Hz  {'sound':9} {sound.nbytes / 1024:6.0f} KB per call at most")


if __name__ == "__main__":
    main()
