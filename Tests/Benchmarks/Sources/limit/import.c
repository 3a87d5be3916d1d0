#include <stdio.h>

#include "entries.h"
#include "store.h"

// The table as Apple's framework lays it out for the entity.
static const char create[] =
    "CREATE TABLE ZJOURNALENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, "
    "ZDATE TIMESTAMP, ZHEIGHT VARCHAR, ZLOCATION VARCHAR, ZPERIOD VARCHAR, ZWIND VARCHAR)";
static const char insert[] =
    "INSERT INTO ZJOURNALENTRY (Z_ENT, Z_OPT, ZRATING, ZDATE, ZHEIGHT, ZLOCATION, ZPERIOD, ZWIND) "
    "SELECT 1, 1, rating, date, height, location, period, wind FROM entries";

void import_log(const char *log, const char *store) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  struct reader reader = reader_open(log);
  sqlite3 *database = store_open(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  store_run(database, "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  store_run(database, create);
  struct source source;
  source_register(database, &source);
  sqlite3_stmt *statement = store_prepare(database, insert);
  checkpoints_start(database, store);

  readahead_start(&reader);
  size_t inserted = 0, rejected = 0;
  for (bool is_last = false; !is_last; readahead_return()) {
    const struct block *block = readahead_take();
    source = (struct source){block->entries, block->entries + block->count};
    // A statement outside a transaction is one: a block is one commit.
    if (sqlite3_step(statement) != SQLITE_DONE) fail(insert, sqlite3_errmsg(database));
    sqlite3_reset(statement);
    inserted += block->count;
    rejected += block->rejected;
    is_last = block->is_last;
  }
  checkpoints_stop();
  sqlite3_finalize(statement);
  if (sqlite3_close(database) != SQLITE_OK) fail(store, sqlite3_errmsg(database));
  printf("inserted %zu, rejected %zu\n", inserted, rejected);
}
