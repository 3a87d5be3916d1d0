// A virtual table over the entries of a block: SQLite fetches the rows, instead of being called for each of them.
#include <string.h>

#include "entries.h"
#include "store.h"

struct table {
  sqlite3_vtab base;
  struct source *source;
};

static int connect(sqlite3 *database, void *source, int count, const char *const *words, sqlite3_vtab **result,
                   char **error) {
  (void)count, (void)words, (void)error;
  struct table *table = sqlite3_malloc(sizeof *table);
  if (table == NULL) return SQLITE_NOMEM;
  *table = (struct table){.source = source};
  *result = &table->base;
  return sqlite3_declare_vtab(database, "CREATE TABLE entries (height, period, wind, location, date, rating, spot)");
}

static int disconnect(sqlite3_vtab *table) {
  sqlite3_free(table);
  return SQLITE_OK;
}

static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = 5000;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result) {
  (void)table;
  *result = sqlite3_malloc(sizeof **result);
  if (*result == NULL) return SQLITE_NOMEM;
  memset(*result, 0, sizeof **result);
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
  sqlite3_free(cursor);
  return SQLITE_OK;
}

static inline struct source *source_of(sqlite3_vtab_cursor *cursor) { return ((struct table *)cursor->pVtab)->source; }

static int first(sqlite3_vtab_cursor *cursor, int plan, const char *name, int count, sqlite3_value **values) {
  (void)cursor, (void)plan, (void)name, (void)count, (void)values;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor) {
  source_of(cursor)->next++;
  return SQLITE_OK;
}

static int is_done(sqlite3_vtab_cursor *cursor) { return source_of(cursor)->next == source_of(cursor)->end; }

static int value(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column) {
  const struct entry *entry = source_of(cursor)->next;
  if (column < TEXTS) {
    if (entry->length[column] > 0)
      sqlite3_result_text(result, entry->text[column], (int)entry->length[column], SQLITE_STATIC);
  } else if (column == TEXTS) {
    sqlite3_result_int64(result, entry->date);
  } else {
    int64_t number = column == TEXTS + 1 ? entry->rating : (int64_t)entry->spot;
    if (number > 0) sqlite3_result_int64(result, number);
  }
  return SQLITE_OK;
}

static int row_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number) {
  *number = source_of(cursor)->end - source_of(cursor)->next;
  return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,  .xBestIndex = plan,  .xDisconnect = disconnect, .xOpen = open_cursor,
    .xClose = close_cursor, .xFilter = first, .xNext = next,             .xEof = is_done,
    .xColumn = value,     .xRowid = row_number,
};

void source_register(sqlite3 *database, struct source *source) {
  if (sqlite3_create_module(database, "entries", &module, source) != SQLITE_OK)
    fail("the virtual table", sqlite3_errmsg(database));
}
