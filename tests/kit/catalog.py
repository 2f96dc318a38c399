"""Reads what a database consists of from PostgreSQL's own catalog, so that two schemas can be compared line by line."""

from sqlalchemy import Connection, text

_OURS = "NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = {0}.oid AND d.deptype = 'e')"
_PUBLIC = "n.nspname = 'public'"

COLUMNS = f"""
SELECT format('%s.%s %s%s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
  CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
  CASE WHEN a.attcollation NOT IN (0, t.typcollation) THEN format(' COLLATE %s', co.collname) ELSE '' END,
  CASE WHEN a.attidentity <> '' THEN format(' IDENTITY %s', a.attidentity) ELSE '' END,
  CASE WHEN d.oid IS NULL THEN '' WHEN a.attgenerated <> '' THEN format(' GENERATED %s', pg_get_expr(d.adbin, d.adrelid))
    ELSE format(' DEFAULT %s', pg_get_expr(d.adbin, d.adrelid)) END)
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_collation AS co ON co.oid = a.attcollation
LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {_PUBLIC} AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
"""
TABLES = f"""
SELECT format('%s %s %s %s', c.relname, c.relpersistence, (SELECT array_agg(o ORDER BY o) FROM unnest(c.reloptions) AS o),
  pg_get_partkeydef(c.oid))
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE {_PUBLIC} AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
SEQUENCES = f"""
SELECT format('%s %s of %s.%s', c.relname, format_type(s.seqtypid, NULL), d.refobjid::regclass, a.attname)
FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_depend AS d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
LEFT JOIN pg_attribute AS a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid WHERE {_PUBLIC}
"""
CONSTRAINTS = f"""
SELECT format('%s %s: %s', o.conrelid::regclass, o.conname, pg_get_constraintdef(o.oid))
FROM pg_constraint AS o JOIN pg_namespace AS n ON n.oid = o.connamespace
WHERE {_PUBLIC} AND o.conrelid <> 0 AND o.contype <> 'n'
AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = o.conrelid AND c.relispartition)
"""
INDEXES = f"""
SELECT format('%s %s', pg_get_indexdef(c.oid), c.reloptions)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE {_PUBLIC} AND c.relkind IN ('i', 'I') AND NOT c.relispartition
"""
TRIGGERS = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
FUNCTIONS = f"""
SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE {_PUBLIC} AND {_OURS.format("p")}
"""
TYPES = f"""
SELECT format('%s: %s', t.typname, string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder))
FROM pg_type AS t JOIN pg_enum AS e ON e.enumtypid = t.oid JOIN pg_namespace AS n ON n.oid = t.typnamespace
WHERE {_PUBLIC} GROUP BY t.typname
"""
EXTENSIONS = "SELECT extname FROM pg_extension"
KINDS = {
    "table": TABLES,
    "column": COLUMNS,
    "sequence": SEQUENCES,
    "constraint": CONSTRAINTS,
    "index": INDEXES,
    "trigger": TRIGGERS,
    "function": FUNCTIONS,
    "type": TYPES,
    "extension": EXTENSIONS,
}


def read_catalog(connection: Connection) -> set[tuple[str, str]]:
    """Returns ``(kind, definition)`` of everything in the schema; the order of columns and partitions are left out."""
    return {
        (kind, definition) for kind, query in KINDS.items() for definition in connection.execute(text(query)).scalars()
    }
