#include <stdio.h>
#include <stdlib.h>

#include "entries.h"
#include "store.h"

// What `benchmarks insert-books` and the like do with objects, as one prepared statement for each row.

enum { CHUNK = 1000 };

static sqlite3 *open_library(const char *path) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3 *database = store_open(path, SQLITE_OPEN_READWRITE);
  store_run(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  return database;
}

static void close_library(sqlite3 *database, const char *path) {
  if (sqlite3_close(database) != SQLITE_OK) fail(path, sqlite3_errmsg(database));
}

static sqlite3_int64 *author_keys(sqlite3 *database, size_t *count) {
  size_t capacity = 1024;
  sqlite3_int64 *keys = malloc(capacity * sizeof *keys);
  sqlite3_stmt *statement = store_prepare(database, "SELECT Z_PK FROM ZAUTHOR ORDER BY ZNAME");
  *count = 0;
  while (keys != NULL && sqlite3_step(statement) == SQLITE_ROW) {
    if (*count == capacity) keys = realloc(keys, (capacity *= 2) * sizeof *keys);
    if (keys != NULL) keys[(*count)++] = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  if (keys == NULL || *count == 0) fail("authors", "there are none");
  return keys;
}

static void bind_text(sqlite3_stmt *statement, int index, const char *format, long number) {
  char text[64];
  int length = snprintf(text, sizeof text, format, number);
  sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

void library_insert(const char *path, long rows, bool is_linked) {
  static const char *const bindings[] = {"paper", "cloth", "leather", "none"};
  sqlite3 *database = open_library(path);
  size_t authors = 0;
  sqlite3_int64 *keys = is_linked ? author_keys(database, &authors) : NULL;
  sqlite3_stmt *statement = store_prepare(
      database, "INSERT INTO ZBOOK (Z_ENT, Z_OPT, ZPAGES, ZAUTHOR, ZPUBLISHED, ZBINDING, ZGENRE, ZPLACE, ZTITLE) "
                "VALUES (2, 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  for (long row = 0; row < rows; row++) {
    if (row % CHUNK == 0) store_run(database, "BEGIN");
    sqlite3_bind_int64(statement, 1, row % 1000);
    if (is_linked) sqlite3_bind_int64(statement, 2, keys[(size_t)row * authors / (size_t)rows]);
    sqlite3_bind_double(statement, 3, (double)row * 60);
    sqlite3_bind_text(statement, 4, bindings[row % 4], -1, SQLITE_STATIC);
    bind_text(statement, 5, "genre %ld", row % 8);
    bind_text(statement, 6, "Harbour number %ld", row % 16);
    bind_text(statement, 7, "The waves of the coast, part %ld", row % 16);
    if (sqlite3_step(statement) != SQLITE_DONE) fail("insert", sqlite3_errmsg(database));
    sqlite3_reset(statement);
    if (row % CHUNK == CHUNK - 1 || row == rows - 1) store_run(database, "COMMIT");
  }
  sqlite3_finalize(statement);
  free(keys);
  close_library(database, path);
}

void library_walk(const char *path) {
  sqlite3 *database = store_open(path, SQLITE_OPEN_READONLY);
  sqlite3_stmt *cursor = store_prepare(
      database, "SELECT a.Z_PK, a.ZNAME, b.ZTITLE, b.ZGENRE, b.ZBINDING, b.ZPLACE, b.ZPAGES, b.ZPUBLISHED "
                "FROM ZAUTHOR a JOIN ZBOOK b ON b.ZAUTHOR = a.Z_PK ORDER BY a.Z_PK");
  sqlite3_int64 author = -1, pages = 0, seconds = 0;
  size_t authors = 0, books = 0, bytes = 0;
  int code;
  while ((code = sqlite3_step(cursor)) == SQLITE_ROW) {
    if (sqlite3_column_int64(cursor, 0) != author) {
      author = sqlite3_column_int64(cursor, 0);
      authors++;
      if (sqlite3_column_text(cursor, 1) != NULL) bytes += (size_t)sqlite3_column_bytes(cursor, 1);
    }
    books++;
    for (int column = 2; column < 6; column++)
      if (sqlite3_column_text(cursor, column) != NULL) bytes += (size_t)sqlite3_column_bytes(cursor, column);
    pages += sqlite3_column_int64(cursor, 6);
    seconds += sqlite3_column_int64(cursor, 7);
  }
  if (code != SQLITE_DONE) fail("walk", sqlite3_errmsg(database));
  sqlite3_finalize(cursor);
  sqlite3_close(database);
  printf("authors %zu, books %zu, text bytes %zu, pages %lld, seconds %lld\n", authors, books, bytes, (long long)pages,
         (long long)seconds);
}

// Two statements, and a look at what they delete, of which an app would be notified.
void library_delete(const char *path) {
  sqlite3 *database = open_library(path);
  sqlite3_stmt *cursor = store_prepare(database, "SELECT * FROM ZBOOK");
  while (sqlite3_step(cursor) == SQLITE_ROW) sqlite3_column_int64(cursor, 0);
  sqlite3_finalize(cursor);
  store_run(database, "BEGIN; DELETE FROM ZBOOK WHERE ZAUTHOR IN (SELECT Z_PK FROM ZAUTHOR); DELETE FROM ZAUTHOR; COMMIT");
  close_library(database, path);
}
