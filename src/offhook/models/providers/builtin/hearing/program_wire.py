"""The requests of the pocketsphinx program, which documents them; importing it would load it into the server."""

from typing import Final

from offhook.models.speech_programs.recognizer_process import program_command

# The caller waits meanwhile, and so does everybody who speaks to the same program.
MAX_DECODING_S: Final = 4.0
BEGIN, AUDIO, FINISH, FORGET, WORDS, PRONOUNCE, COMMON, LEARN, HEAR_AGAIN, FORGET_WORDS = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10


def recognizer_command(max_decoding_s: float = MAX_DECODING_S) -> tuple[str, ...]:
    """Returns the command of the program. It gives up hearing an utterance again after ``max_decoding_s``."""
    return program_command("pocketsphinx.program", str(max_decoding_s))
