"""Folders, revisions of workflows."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "workflow_folders",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("organization_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_workflow_folders_organization_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflow_folders")),
        sa.UniqueConstraint("organization_id", "name", name=op.f("uq_workflow_folders_organization_id_name")),
    )
    op.add_column("workflows", sa.Column("revision", sa.Integer(), server_default=sa.text("1"), nullable=False))
    op.create_index(
        "ix_workflows_folder",
        "workflows",
        ["folder_id"],
        unique=False,
        postgresql_where=sa.text("folder_id IS NOT NULL"),
    )
    # No route ever wrote a folder before there were folders.
    op.execute("UPDATE workflows SET folder_id = NULL WHERE folder_id IS NOT NULL")
    op.create_foreign_key(
        op.f("fk_workflows_folder_id"), "workflows", "workflow_folders", ["folder_id"], ["id"], ondelete="SET NULL"
    )
