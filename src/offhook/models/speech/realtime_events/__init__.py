"""Speech-to-speech sessions of vendors that speak the events of OpenAI's Realtime API (GA)."""
