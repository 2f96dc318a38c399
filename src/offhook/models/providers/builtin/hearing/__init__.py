"""What the offline recognizer expects, how it is asked, and which of its hypotheses is taken."""
