"""What an agent counts as a result and as a success of a call."""
