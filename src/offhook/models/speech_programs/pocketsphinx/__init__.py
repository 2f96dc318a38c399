"""The recognizer program: pocketsphinx in a process of its own, which imports nothing of the rest of Offhook."""
