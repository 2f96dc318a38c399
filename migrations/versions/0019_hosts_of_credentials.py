"""hosts of credentials."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

# Those that are in use are bound to the servers that they are used for; the others to the first one that comes.
BIND = r"""
UPDATE credentials SET allowed_hosts = used.hosts
FROM (
  SELECT organization_id, lower(credential_uuid) AS uuid, array_agg(DISTINCT host ORDER BY host)::varchar[] AS hosts
  FROM (
    SELECT organization_id, definition -> 'config' ->> 'credential_uuid' AS credential_uuid,
      definition -> 'config' ->> 'url' AS url
    FROM tools WHERE status <> 'archived'
    UNION ALL
    SELECT v.organization_id, node -> 'data' ->> place.credential, node -> 'data' ->> place.url
    FROM workflow_versions AS v
    CROSS JOIN LATERAL jsonb_array_elements(
      CASE WHEN jsonb_typeof(v.definition -> 'nodes') = 'array' THEN v.definition -> 'nodes' ELSE '[]' END) AS node
    CROSS JOIN (VALUES ('credential_uuid', 'endpoint_url'), ('pre_call_fetch_credential_uuid', 'pre_call_fetch_url'))
      AS place (credential, url)
    WHERE v.status IN ('draft', 'published')
  ) AS uses
  CROSS JOIN LATERAL (SELECT lower(rtrim(substring(url FROM '^\s*[A-Za-z]+://([^/?#:@\[\]{}\s]+)'), '.')) AS host) AS read
  WHERE credential_uuid IS NOT NULL AND host ~ '^[a-z0-9._-]+$'
  GROUP BY 1, 2
) AS used
WHERE credentials.organization_id = used.organization_id AND credentials.credential_uuid::text = used.uuid
"""


def upgrade() -> None:
    op.add_column("credentials", sa.Column("allowed_hosts", sa.ARRAY(sa.String(length=253)), nullable=True))
    op.execute(BIND)
