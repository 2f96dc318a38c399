"""Code that the six carriers' emulators share: REST, callbacks, calls, phones, sound, media sockets, documents,
chaos."""
