"""Texts inside of phone_number and call_id are looked for in the narrowest index of an organization's runs."""

from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.drop_index("ix_runs_org", table_name="runs")
    op.create_index(
        "ix_runs_org", "runs", ["organization_id", "id"], postgresql_include=["phone_number", "call_id_lower"]
    )
