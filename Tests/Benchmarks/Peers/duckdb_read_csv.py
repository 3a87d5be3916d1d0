"""duckdb_read_csv.py LOG DATABASE: a typed read into a table of DuckDB's own; prints the number of rows."""

import sys

import duckdb

TYPES = {
    "date": "TIMESTAMPTZ",
    "height": "VARCHAR",
    "period": "VARCHAR",
    "wind": "VARCHAR",
    "location": "VARCHAR",
    "rating": "TINYINT",
}

database = duckdb.connect(sys.argv[2])
database.execute(
    "CREATE TABLE log AS SELECT * FROM read_csv(?, header = true, columns = "
    + "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in TYPES.items()) + "})",
    [sys.argv[1]],
)
print(database.execute("SELECT count(*) FROM log WHERE rating IS NULL OR rating BETWEEN 1 AND 5").fetchone()[0])
database.close()
