"""WAV files of any kind as a telephone would carry them."""

import wave
from pathlib import Path

import numpy as np
import pytest

from offhook.kit.audio import MULAW_8K
from offhook.telephony.media.sound_files import SoundFileError, read_as_mulaw


def write_wav(path: Path, *, rate: int, channels: int = 1, width: int = 2, seconds: float = 1.0) -> Path:
    """A tone of 440 Hz at half of full scale, the same on every channel."""
    tone = np.sin(2 * np.pi * 440 * np.arange(int(rate * seconds)) / rate) * 0.5
    samples = np.repeat(tone[:, None], channels, axis=1).reshape(-1)
    if width == 1:
        raw = ((samples * 127) + 128).astype(np.uint8).tobytes()
    elif width == 3:
        raw = b"".join(int(value * (2**23 - 1)).to_bytes(3, "little", signed=True) for value in samples)
    else:
        raw = (samples * (2 ** (8 * width - 1) - 1)).astype(f"<i{width}").tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(raw)
    return path


@pytest.mark.parametrize(
    ("rate", "channels", "width"),
    [(8000, 1, 2), (16000, 1, 2), (44100, 2, 2), (48000, 6, 3), (22050, 1, 1), (96000, 2, 4)],
)
def test_the_sound_stays_the_same(tmp_path: Path, rate: int, channels: int, width: int) -> None:
    path = write_wav(tmp_path / "tone.wav", rate=rate, channels=channels, width=width)

    heard = MULAW_8K.decode(read_as_mulaw(path)).astype(float)

    assert len(heard) == pytest.approx(8000, abs=10)
    spectrum = np.abs(np.fft.rfft(heard[:8000]))
    assert abs(int(spectrum.argmax()) - 440) <= 1
    assert np.abs(heard).max() == pytest.approx(16384, rel=0.1)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("hello")
    (tmp_path / "empty.wav").write_bytes(b"")
    write_wav(tmp_path / "nothing.wav", rate=8000, seconds=0)
    for name, reason in {
        "missing.wav": "cannot be read",
        "text.wav": "is not a PCM WAV file",
        "empty.wav": "is not a PCM WAV file: it ends too early",
        "nothing.wav": "contains no audio",
    }.items():
        with pytest.raises(SoundFileError, match=reason):
            read_as_mulaw(tmp_path / name)
    with pytest.raises(SoundFileError, match="cannot be read"):
        read_as_mulaw(tmp_path)


def test_a_file_that_was_cut_off_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "tone.wav", rate=8000)
    path.write_bytes(path.read_bytes()[:-3001])

    assert 6000 <= len(read_as_mulaw(path)) <= 8000
