"""PostgreSQL: the engine and its transactions, the embedded server, migrations, LISTEN."""
