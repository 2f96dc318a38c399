"""Where the bytes of a number, or other words, stand: in every column of every table, and in every stored file."""

from collections.abc import Sequence

from sqlalchemy import text

from offhook.root import Root

NUMBER = "+14152000007"
# Written by hand, apart from the product's own forms.
FORMS = (
    "14152000007",
    "4152000007",
    "415-200-0007",
    "(415) 200-0007",
    "415 200 0007",
    "415.200.0007",
    "four one five two zero zero zero zero zero seven",
    "four one five, two oh oh, oh oh oh seven",
)
_TEXTS = (
    "text",
    "character varying",
    "json",
    "jsonb",
    "bytea",
    "ARRAY",
    "tsvector",
    "character",
    "name",
    "USER-DEFINED",
)


async def find_in_tables(root: Root, forms: Sequence[str] = FORMS) -> dict[str, int]:
    """The rows with the number in any form, by ``table.column``. Forms are in lower case."""
    found: dict[str, int] = {}
    async with root.db.transaction() as session:
        columns = await session.execute(
            text(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " JOIN information_schema.tables USING (table_schema, table_name)"
                " JOIN pg_class ON pg_class.oid = quote_ident(table_name)::regclass AND NOT relispartition"
                " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            )
        )
        for table, column, kind in columns.all():
            if kind not in _TEXTS:
                continue
            value = f"encode(\"{column}\", 'escape')" if kind == "bytea" else f'"{column}"::text'
            rows = await session.scalar(
                text(
                    f'SELECT count(*) FROM "{table}" WHERE EXISTS (SELECT FROM unnest(CAST(:forms AS text[])) AS form'
                    f" WHERE position(form IN lower({value})) > 0)"
                ),
                {"forms": list(forms)},
            )
            if rows:
                found[f"{table}.{column}"] = rows
    return found


def find_in_files(root: Root, forms: Sequence[str] = FORMS) -> list[str]:
    """The stored files that have the number."""
    files = root.settings.data_dir / "files"
    return sorted(
        str(path.relative_to(files))
        for path in files.rglob("*")
        if path.is_file() and any(form.encode() in path.read_bytes().lower() for form in forms)
    )
