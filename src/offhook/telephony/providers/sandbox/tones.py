"""The sounds of a telephone network."""

from functools import cache
from typing import Final

import numpy as np

from offhook.kit.audio import MULAW_8K

BEEP_HZ: Final = 1000
BEEP_S: Final = 0.4


@cache
def make_beep() -> bytes:
    """Returns the tone after which a message can be left: 0.4 s of 1 kHz as 8 kHz mu-law."""
    at = np.arange(int(BEEP_S * MULAW_8K.sample_rate)) / MULAW_8K.sample_rate
    return MULAW_8K.encode((np.sin(2 * np.pi * BEEP_HZ * at) * 10000).astype(np.int16))
