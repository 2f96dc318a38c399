"""How authors write their instructions, and how sentences to a caller are worded."""
