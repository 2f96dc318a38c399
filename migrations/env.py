"""Where Alembic meets our connection; ``offhook.kit.migrations`` passes it in."""

from alembic import context

OURS_NOT = "pgqueuer"  # PgQueuer's tables are installed as SQL and have no metadata


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
    context.run_migrations()
