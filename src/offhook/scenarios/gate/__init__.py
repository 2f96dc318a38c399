"""The publish gate: whether a version may answer calls, by its graph, its scenarios and the version before it. Pure."""
