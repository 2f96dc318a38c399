"""File descriptors of this process: every connection, file and database session needs one."""

import resource


def descriptor_limit() -> int:
    """Returns how many this process may open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_descriptor_limit() -> int:
    """Raises the limit to what the system allows this process, and returns it: the usual 1,024 are meant for programs
    that call select()."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
