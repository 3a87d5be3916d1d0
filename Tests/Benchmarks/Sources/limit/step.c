#include <stdio.h>

#include "entries.h"
#include "store.h"

// The sums show that the values were looked at, and let another program prove that it saw the same.
void step_store(const char *store) {
  sqlite3 *database = store_open(store, SQLITE_OPEN_READONLY);
  static const char sql[] =
      "SELECT ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK";
  sqlite3_stmt *cursor = store_prepare(database, sql);
  size_t rows = 0, bytes = 0;
  int64_t seconds = 0, ratings = 0;
  int code;
  while ((code = sqlite3_step(cursor)) == SQLITE_ROW) {
    seconds += sqlite3_column_int64(cursor, 0);
    for (int column = 1; column <= TEXTS; column++)
      if (sqlite3_column_text(cursor, column) != NULL) bytes += sqlite3_column_bytes(cursor, column);
    ratings += sqlite3_column_int64(cursor, TEXTS + 1);
    rows++;
  }
  if (code != SQLITE_DONE) fail(sql, sqlite3_errmsg(database));
  sqlite3_finalize(cursor);
  sqlite3_close(database);
  printf("rows %zu, seconds %lld, text bytes %zu, ratings %lld\n", rows, (long long)seconds, bytes, (long long)ratings);
}
