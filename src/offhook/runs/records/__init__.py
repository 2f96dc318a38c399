"""The run record: state transitions, events, projections and deletion."""
