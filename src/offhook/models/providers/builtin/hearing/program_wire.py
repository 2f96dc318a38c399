"""The requests of the pocketsphinx program, which documents them; importing it would load it into the server."""

from typing import Final

from offhook.models.speech_programs.recognizer_process import program_command

COMMAND: Final = program_command("pocketsphinx.program")
BEGIN, AUDIO, FINISH, FORGET, WORDS, PRONOUNCE, COMMON, LEARN, HEAR_AGAIN = 1, 2, 3, 4, 5, 6, 7, 8, 9
