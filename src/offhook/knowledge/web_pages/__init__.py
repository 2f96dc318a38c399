"""Web pages as documents: added by their address, fetched by a job, read again on request."""
