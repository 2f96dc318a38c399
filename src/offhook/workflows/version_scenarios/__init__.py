"""The scenarios of versions, as JSON that the scenarios domain has checked."""
