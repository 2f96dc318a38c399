"""Where Alembic meets our connection; ``offhook.kit.migrations`` passes it in."""

from alembic import context

# PgQueuer's tables, which are installed as SQL, and partitions have no metadata.
OURS_NOT = ("pgqueuer", "run_events_", "run_values_")


def include_name(name: str | None, kind: str, _parents: object) -> bool:
    return not (kind == "table" and name is not None and name.startswith(OURS_NOT))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=context.config.attributes.get("metadata"),
    include_name=include_name,
    compare_server_default=True,
    compare_type=True,
)
with context.begin_transaction():
    # For this transaction only: an index that is built beside requests leaves it, and blocks nobody while it waits.
    if (lock_timeout_s := context.config.attributes.get("lock_timeout_s")) is not None:
        context.execute(f"SET LOCAL lock_timeout = '{lock_timeout_s}s'")
    context.run_migrations()
    if (note := context.config.attributes.get("note")) is not None:
        context.execute(f"COMMENT ON TABLE alembic_version IS '{note}'")
