// The database side of the yardstick.
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

sqlite3 *store_open(const char *path, int flags);
void store_run(sqlite3 *database, const char *sql);
sqlite3_stmt *store_prepare(sqlite3 *database, const char *sql);

// `entries` as a table that SQL can select from: hand it a block, then step the statement.
struct source {
  const struct entry *next, *end;
};
void source_register(sqlite3 *database, struct source *source);

// Moves the write-ahead log's pages to the database on a thread of its own.
void checkpoints_start(sqlite3 *writer, const char *path);
void checkpoints_stop(void);

// With all threads: the limit.
void import_log(const char *log, const char *store);
// With none but the caller's; a statement for each row, or the same as the limit's.
void import_log_alone(const char *log, const char *store, bool by_row);
// As the limit, with the locations as rows of their own that the others lead to.
void import_log_linked(const char *log, const char *store);
void export_log(const char *store, const char *log, bool by_date);
// Reads every value and writes nothing.
void step_store(const char *store);

// A library of authors and books, object by object.
void library_insert(const char *store, long rows, bool is_linked);
void library_walk(const char *store);
void library_delete(const char *store);
