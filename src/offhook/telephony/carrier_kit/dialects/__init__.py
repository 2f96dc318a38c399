"""Wire dialects that more than one carrier speaks."""
