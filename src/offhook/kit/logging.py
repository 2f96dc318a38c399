"""One log for our code and the libraries: readable lines or JSON, on stderr."""

import logging
import sys
from typing import Any, Final, Literal

import structlog

_OURS: Final = ("offhook", "offhook_lab")


def configure_logging(level: str = "info", style: Literal["text", "json"] = "text") -> None:
    """Sends structlog and ``logging`` to stderr. Calling it again replaces the configuration."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    rendering: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if style == "json":
        rendering += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # Not the renderer's own tracebacks: they show the values of variables, which include credentials and callers'
        # words, and take seconds in the loop that carries audio.
        console = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        rendering.append(console)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendering))
    logging.root.handlers = [handler]
    # Libraries log each request and each frame at "info", with URLs that hold keys: only their warnings are kept.
    logging.root.setLevel(max(number, logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(number)
