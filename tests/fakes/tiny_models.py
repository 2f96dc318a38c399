"""Speech models of a few kilobytes in the real file formats, which sherpa-onnx loads and runs like those with weights.

A recognizer knows a pitch for each word, a voice a pitch for each phoneme: what was said can be computed from the audio.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from offhook.kit.audio import Samples
from offhook.models.voice_packs.manifest import PackManifest, parse_manifest
from offhook.models.voice_packs.packing import PackOrder, make_manifest, write_manifest

WORD_S = 0.2
GAP_S = 0.06
ENGLISH = ("i", "want", "to", "book", "a", "table", "for", "two", "please")
GERMAN = ("ich", "möchte", "einen", "tisch", "für", "zwei", "bitte")
# kaldi's filter bank: 80 triangles between 20 and 7600 Hz, equally wide in mels.
_LOW_MEL, _HIGH_MEL = (1127 * np.log(1 + hz / 700) for hz in (20, 7600))
_MEL_STEP = (_HIGH_MEL - _LOW_MEL) / 81
_FIRST_BIN, _BIN_STEP = 8, 5
PHONEME_S = 0.05
_PHONEME_LOW_HZ, _PHONEME_STEP_HZ = 200, 30
_MARKS = "_^$ "
_PHONEMES = _MARKS + ",.?!;:ˈˌːabcdefghijklmnopqrstuvwxyzæçðøŋœɐɑɔəɚɛɜɡɪɬɹɾʃʊʌʏʒθᵻ\u0329\u0303"


def pitch_of(word: str, words: Sequence[str] = ENGLISH) -> float:
    """The center of the word's band."""
    mel = _LOW_MEL + _MEL_STEP * (_bin_of(words.index(word)) + 1)
    return float(700 * (np.exp(mel / 1127) - 1))


def _bin_of(index: int) -> int:
    return _FIRST_BIN + _BIN_STEP * index


def say_words(text: str, rate: int, words: Sequence[str] = ENGLISH) -> Samples:
    """A caller whose every word is a tone."""
    t = np.arange(int(WORD_S * rate)) / rate
    ramp = np.minimum(1.0, np.arange(t.size) / (0.01 * rate))
    gap = np.zeros(int(GAP_S * rate))
    parts = [
        part
        for word in text.split()
        for part in (np.sin(2 * np.pi * pitch_of(word, words) * t) * ramp * ramp[::-1] * 8000, gap)
    ]
    return np.concatenate(parts).astype(np.int16)


def _save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: Mapping[str, tuple[int, Sequence[int | str]]],
    outputs: Mapping[str, tuple[int, Sequence[int | str]]],
    constants: Mapping[str, NDArray[np.generic]],
    metadata: Mapping[str, str] | None = None,
) -> None:
    graph = helper.make_graph(
        nodes,
        path.stem,
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, dict(metadata or {}))
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


F, I64, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32


def write_zipformer(folder: Path, words: Sequence[str] = ENGLISH) -> None:
    """A streaming zipformer of one layer, whose states it hands on: a chunk of 40 ms is one word, or none."""
    size = len(words) + 1
    states: dict[str, tuple[int, list[int | str]]] = {
        "cached_key_0": (F, [2, "N", 4]),
        "cached_nonlin_attn_0": (F, [1, "N", 2, 3]),
        "cached_val1_0": (F, [2, "N", 4]),
        "cached_val2_0": (F, [2, "N", 4]),
        "cached_conv1_0": (F, ["N", 4, 1]),
        "cached_conv2_0": (F, ["N", 4, 1]),
        "embed_states": (F, ["N", 128, 3, 19]),
        "processed_lens": (I64, ["N"]),
    }
    node = helper.make_node
    nodes = [
        node("ReduceMean", ["x"], ["mel"], axes=[1], keepdims=1),
        node("ReduceMean", ["mel"], ["level"], axes=[2], keepdims=1),
        node("Gather", ["mel", "bins"], ["bands"], axis=2),
        node("Sub", ["bands", "level"], ["contrast"]),
        node("ReduceMax", ["bands"], ["loudest"], axes=[2], keepdims=1),
        node("Sub", ["bands", "loudest"], ["behind"]),
        node("Mul", ["behind", "sharpness"], ["weighted"]),
        node("Add", ["contrast", "weighted"], ["heard"]),
        node("Mul", ["level", "nothing"], ["zero"]),
        node("Add", ["zero", "blank"], ["silence"]),
        node("Concat", ["silence", "heard"], ["encoder_out"], axis=2),
        *(node("Identity", [name], [f"new_{name}"]) for name in states),
    ]
    _save(
        folder / "encoder-epoch-99-avg-1.int8.onnx",
        nodes,
        {"x": (F, ["N", 4, 80]), **states},
        {"encoder_out": (F, ["N", 1, size]), **{f"new_{name}": value for name, value in states.items()}},
        {
            "bins": np.array([_bin_of(index) for index in range(len(words))], np.int64),
            "sharpness": np.array(20, np.float32),
            "nothing": np.array(0, np.float32),
            "blank": np.array([4.5], np.float32),
        },
        {
            "model_type": "zipformer2",
            "encoder_dims": "4",
            "query_head_dims": "4",
            "value_head_dims": "4",
            "num_heads": "1",
            "num_encoder_layers": "1",
            "cnn_module_kernels": "3",
            "left_context_len": "2",
            "T": "4",
            "decode_chunk_len": "4",
        },
    )
    # The word that was said last is not said again.
    memory = np.zeros((size, size), np.float32)
    memory[np.arange(1, size), np.arange(1, size)] = -100
    _save(
        folder / "decoder-epoch-99-avg-1.onnx",
        [
            node("Gather", ["y", "last"], ["previous"], axis=1),
            node("Gather", ["memory", "previous"], ["decoder_out"]),
        ],
        {"y": (I64, ["N", 2])},
        {"decoder_out": (F, ["N", size])},
        {"last": np.array(1, np.int64), "memory": memory},
        {"vocab_size": str(size), "context_size": "2"},
    )
    _save(
        folder / "joiner-epoch-99-avg-1.int8.onnx",
        [node("Add", ["encoder_out", "decoder_out"], ["logit"])],
        {"encoder_out": (F, ["N", size]), "decoder_out": (F, ["N", size])},
        {"logit": (F, ["N", size])},
        {},
        {"joiner_dim": str(size)},
    )
    tokens = "".join(f"\u2581{word.upper()} {index}\n" for index, word in enumerate(words, 1))
    (folder / "tokens.txt").write_text(f"<blk> 0\n{tokens}")


def write_moonshine(folder: Path, sentences: Sequence[str], words: Sequence[str] = ENGLISH) -> None:
    """Moonshine that knows one sentence for each word: the pitch that is heard most tells which."""
    count, span, step = len(sentences), 400, 384
    at = np.arange(span) / 16000
    pitches = [pitch_of(word, words) for word in words[:count]]
    kernels = np.stack([wave(2 * np.pi * hz * at) for hz in pitches for wave in (np.sin, np.cos)])
    pairs = np.kron(np.eye(count), np.ones((2, 1)))
    node = helper.make_node
    _save(
        folder / "preprocess.onnx",
        [
            node("Unsqueeze", ["audio", "one"], ["channel"]),
            node("Conv", ["channel", "kernels"], ["waves"], strides=[step]),
            node("Mul", ["waves", "waves"], ["power"]),
            node("Transpose", ["power"], ["frames"], perm=[0, 2, 1]),
            node("MatMul", ["frames", "pairs"], ["features"]),
        ],
        {"audio": (F, [1, "samples"])},
        {"features": (F, [1, "T", count])},
        {
            "one": np.array([1], np.int64),
            "kernels": kernels[:, None, :].astype(np.float32),
            "pairs": pairs.astype(np.float32),
        },
    )
    _save(
        folder / "encode.int8.onnx",
        [node("Identity", ["features"], ["encoded"])],
        {"features": (F, [1, "T", count]), "features_len": (I32, [1])},
        {"encoded": (F, [1, "T", count])},
        {},
    )
    vocabulary = list(dict.fromkeys(word for sentence in sentences for word in sentence.split()))
    longest = max(len(sentence.split()) for sentence in sentences) + 1
    table = np.zeros((count, longest, len(vocabulary) + 3), np.float32)
    for row, sentence in enumerate(sentences):
        ids = [3 + vocabulary.index(word) for word in sentence.split()]
        for column in range(longest):
            table[row, column, ids[column] if column < len(ids) else 2] = 9
    decode = [
        node("ReduceMean", ["encoded"], ["energy"], axes=[1], keepdims=0),
        node("ArgMax", ["energy"], ["which"], axis=1, keepdims=0),
        node("Gather", ["table", "which"], ["sentence"]),
        node("Cast", ["seq_len"], ["length"], to=I64),
        node("Sub", ["length", "first"], ["place"]),
        node("Min", ["place", "last"], ["index"]),
        node("Gather", ["sentence", "index"], ["logits"], axis=1),
    ]
    constants: dict[str, NDArray[np.generic]] = {
        "table": table,
        "first": np.array([1], np.int64),
        "last": np.array([longest - 1], np.int64),
    }
    inputs: dict[str, tuple[int, list[int | str]]] = {
        "tokens": (I32, [1, 1]),
        "encoded": (F, [1, "T", count]),
        "seq_len": (I32, [1]),
    }
    outputs: dict[str, tuple[int, list[int | str]]] = {"logits": (F, [1, 1, "V"]), "state": (F, [1, "T", count])}
    first = [*decode, node("Identity", ["encoded"], ["state"])]
    _save(folder / "uncached_decode.int8.onnx", first, inputs, outputs, constants)
    _save(
        folder / "cached_decode.int8.onnx",
        [*decode, node("Identity", ["old_state"], ["state"])],
        {**inputs, "old_state": (F, [1, "T", count])},
        outputs,
        constants,
    )
    lines = ["<unk> 0", "<s> 1", "</s> 2", *(f"\u2581{word} {index}" for index, word in enumerate(vocabulary, 3))]
    (folder / "tokens.txt").write_text("\n".join(lines) + "\n")


def _phoneme_table(rate: int) -> NDArray[np.float32]:
    t = np.arange(int(PHONEME_S * rate)) / rate
    tones = [
        np.zeros(t.size) if index < len(_MARKS) else np.sin(2 * np.pi * _phoneme_hz(index) * t) * 0.5
        for index in range(len(_PHONEMES))
    ]
    return np.stack(tones).astype(np.float32)


def _phoneme_hz(index: int) -> float:
    return _PHONEME_LOW_HZ + _PHONEME_STEP_HZ * index


def _write_phonemes(folder: Path) -> None:
    (folder / "tokens.txt").write_text("".join(f"{char} {index}\n" for index, char in enumerate(_PHONEMES)))


def write_piper(folder: Path, *, rate: int = 16000, voice: str = "en-us") -> None:
    """A Piper voice that sounds a tone for each phoneme; what stands between two phonemes is silence."""
    node = helper.make_node
    _save(
        folder / "en_US-tiny-low.onnx",
        [
            node("Gather", ["table", "input"], ["tones"]),
            node("Reshape", ["tones", "shape"], ["output"]),
        ],
        {"input": (I64, ["N", "L"]), "input_lengths": (I64, ["N"]), "scales": (F, [3])},
        {"output": (F, [1, 1, "samples"])},
        {"table": _phoneme_table(rate), "shape": np.array([1, 1, -1], np.int64)},
        {
            "model_type": "vits",
            "comment": "piper",
            "language": "English",
            "voice": voice,
            "has_espeak": "1",
            "n_speakers": "1",
            "sample_rate": str(rate),
        },
    )
    _write_phonemes(folder)


def write_kokoro(folder: Path, *, loudness: Sequence[float] = (1.0, 0.25)) -> None:
    """Kokoro with a speaker for each loudness: the same tones at 24 kHz, as loud as the speaker's style says."""
    node = helper.make_node
    _save(
        folder / "model.int8.onnx",
        [
            node("Gather", ["table", "tokens"], ["tones"]),
            node("Reshape", ["tones", "shape"], ["speech"]),
            node("ReduceMean", ["style"], ["volume"], axes=[0, 1], keepdims=0),
            node("Mul", ["speech", "volume"], ["audio"]),
        ],
        {"tokens": (I64, [1, "L"]), "style": (F, [1, 2]), "speed": (F, [1])},
        {"audio": (F, ["samples"])},
        {"table": _phoneme_table(24000), "shape": np.array([-1], np.int64)},
        {
            "model_type": "kokoro",
            "language": "English",
            "voice": "en-us",
            "has_espeak": "1",
            "version": "1",
            "n_speakers": str(len(loudness)),
            "sample_rate": "24000",
            "style_dim": "510,1,2",
            "speaker_names": "a,b",
        },
    )
    styles = np.repeat(np.array(loudness, np.float32), 510 * 2)
    (folder / "voices.bin").write_bytes(styles.tobytes())
    _write_phonemes(folder)


def phonemes_in(pcm: bytes, rate: int) -> str:
    """What a tiny voice said: its phonemes, without the marks between them."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    size = int(PHONEME_S * rate)
    loud = 0.3 * float(np.abs(samples).max(initial=0))
    heard = ""
    for start in range(0, samples.size - size // 2, size):
        frame = samples[start : start + size]
        if np.sqrt((frame**2).mean()) < loud:
            continue
        spectrum = np.abs(np.fft.rfft(frame * np.hanning(frame.size), 4 * size))
        hz = float(spectrum.argmax()) * rate / (4 * size)
        index = round((hz - _PHONEME_LOW_HZ) / _PHONEME_STEP_HZ)
        heard += _PHONEMES[index] if 0 <= index < len(_PHONEMES) else "?"
    return heard


def make_pack(
    folder: Path,
    *,
    name: str = "english",
    languages: tuple[str, ...] = ("en",),
    speakers: tuple[tuple[str, int], ...] = (),
) -> PackManifest:
    """Makes a mirror of what lies in ``stt/`` and ``tts/`` of the folder."""
    has_stt, has_tts = (folder / "stt").is_dir(), (folder / "tts").is_dir()
    order = PackOrder(
        name,
        f"Tiny {name}",
        "Apache-2.0" if has_stt else None,
        "MIT" if has_tts else None,
        languages,
        speakers,
    )
    manifest = make_manifest(folder, order)
    write_manifest(folder, manifest)
    return parse_manifest((folder / "voices.json").read_bytes())
