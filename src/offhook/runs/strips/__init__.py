"""The call strip: the loudness of both sides, the steps and the marks of a finished run, measured once."""
