"""The runs domain."""

from offhook.root import Root


def register(root: Root) -> None:
    """Add this domain's routes, jobs and services to the process."""
