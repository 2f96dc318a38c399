"""Emulators of the speech vendors' wire formats, written from their documentation and importing none of our clients.

Their speech is made of tones, one pitch per word (``tones.py``): the speech of an emulator can be read back from the
audio, and it recognizes the words in the audio that really arrived.
"""
