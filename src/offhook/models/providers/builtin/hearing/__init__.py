"""What the offline recognizer expects, how it is asked, which of its hypotheses is taken, and where commas belong."""
