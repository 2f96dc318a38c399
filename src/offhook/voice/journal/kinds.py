"""What can reach a call from outside, as its journal names it. The numbers are stored: add new ones, and change none."""

from typing import Final

# Time went on before the call looked at the clock again.
TICK: Final = 1
# By the owner of the leg, and by the process
AUDIO: Final = 2  # bytes of the caller's audio
DIGIT: Final = 3
MARK: Final = 4
END: Final = 5
APOLOGY: Final = 6
TIME_LIMIT: Final = 7
VOICEMAIL: Final = 8
# The voice activity detector, and the beat of the output
WINDOW: Final = 9  # probability of speech
BEAT: Final = 10
# Models, tools and other servers: [stream, what came]
ANSWER: Final = 11
# What was measured, in the moment in which the call asked; a beep is one, too
MEASURED: Final = 12
BEEP: Final = 13
# By the thread that cleans the caller's audio: why it does not
UNCLEANED: Final = 14
# By the thread of the turn detector: [pause, probability or None, milliseconds of CPU, why there is none]
JUDGED: Final = 15
