"""Metrics that a process counts about itself, in the registry that ``/metrics`` shows."""

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("offhook_http_requests", "HTTP requests by route template.", ("method", "route", "status"))
LATENCY = Histogram(
    "offhook_http_request_seconds",
    "Time until the answer was sent, by route template.",
    ("method", "route"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
REQUEST_SHARE = Gauge(
    "offhook_request_share",
    "How much of the event loop's time requests may take: less while frames of agents are late.",
)
DATABASE_CONNECTIONS = Gauge("offhook_database_connections", "Connections of this process's pool that are in use.")
CALLER_FRAMES_LOST = Counter("offhook_caller_frames_lost", "Frames of callers that never came and were concealed.")
DIALS = Counter("offhook_dials", "Calls that this process asked carriers for.", ("carrier", "result"))
# Its owner is the registry of live calls.
LIVE_CALLS = Gauge("offhook_live_calls", "Calls that this process carries now.")
