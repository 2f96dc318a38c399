"""Emulators of the speech vendors' wire formats, written from their documentation and importing nothing of our clients.

Their speech is made of tones, one pitch a word (``tones.py``): what an emulator says can be read back from the audio, and
what it recognizes is what was in the audio that really arrived.
"""
