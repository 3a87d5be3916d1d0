"""csv_sqlite3.py LOG STORE: an import as one writes it with Python's own modules, dates and ratings checked."""

import csv
import datetime
import sqlite3
import sys

EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)


def entries(path):
    with open(path, newline="", encoding="utf-8") as file:
        for record in csv.DictReader(file):
            date = datetime.datetime.fromisoformat(record["date"])
            rating = int(record["rating"]) if record["rating"] else None
            if rating is not None and not 1 <= rating <= 5:
                raise ValueError(f"rating {rating}")
            texts = [record[name] or None for name in ("height", "location", "period", "wind")]
            yield [1, 1, rating, int((date - EPOCH).total_seconds()), *texts]


store = sqlite3.connect(sys.argv[2])
store.execute("PRAGMA journal_mode = WAL")
store.execute("PRAGMA synchronous = NORMAL")
store.execute(
    "CREATE TABLE ZJOURNALENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, "
    "ZDATE TIMESTAMP, ZHEIGHT VARCHAR, ZLOCATION VARCHAR, ZPERIOD VARCHAR, ZWIND VARCHAR)"
)
with store:
    store.executemany("INSERT INTO ZJOURNALENTRY VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", entries(sys.argv[1]))
store.close()
