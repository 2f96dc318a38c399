"""Whether a caller has finished, judged by the sound: an optional model from a file."""
