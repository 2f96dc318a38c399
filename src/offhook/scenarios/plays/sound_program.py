"""The process that plays scenarios with sound. See :mod:`~offhook.scenarios.plays.program`, which plays them by text.

Its third argument is a folder for recordings.
"""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from offhook.models.ports import ModelError
from offhook.scenarios.plays.program import begin_play, play_order, write_line, write_lines
from offhook.scenarios.sound.player import SoundPlayer
from offhook.voice.input.silero_vad_engine import VadModelMissing


def main() -> int:
    cpu_s, models_folder, recordings_folder = sys.argv[1:]
    order, models = begin_play(cpu_s, models_folder)
    with closing(SoundPlayer(Path(recordings_folder))) as player:
        try:
            player.load_models()
        except (ModelError, VadModelMissing) as error:
            write_line({"error": str(error)})
            return 1
        beside = Path(recordings_folder) / "published"
        beside.mkdir()
        play_published = partial(player.play_call, folder=beside)
        write_lines(play_order(order, *models, play=player.play_call, play_published=play_published))
    return 0
