#include <stdio.h>

#include "entries.h"
#include "store.h"

// The table as Apple's framework lays it out for the entity.
static const char create[] =
    "CREATE TABLE ZJOURNALENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, "
    "ZDATE TIMESTAMP, ZHEIGHT VARCHAR, ZLOCATION VARCHAR, ZPERIOD VARCHAR, ZWIND VARCHAR)";
#define INSERT "INSERT INTO ZJOURNALENTRY (Z_ENT, Z_OPT, ZRATING, ZDATE, ZHEIGHT, ZLOCATION, ZPERIOD, ZWIND) "
static const char insert_block[] = INSERT "SELECT 1, 1, rating, date, height, location, period, wind FROM entries";
static const char insert_row[] = INSERT "VALUES (1, 1, ?6, ?5, ?1, ?4, ?2, ?3)";

static sqlite3 *open_new(const char *store) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3 *database = store_open(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  store_run(database, "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  store_run(database, create);
  return database;
}

static void close_new(sqlite3 *database, sqlite3_stmt *statement, const char *store) {
  sqlite3_finalize(statement);
  if (sqlite3_close(database) != SQLITE_OK) fail(store, sqlite3_errmsg(database));
}

// A statement outside a transaction is one: a block is one commit.
static void step_block(sqlite3_stmt *statement, struct source *source, const struct block *block) {
  *source = (struct source){block->entries, block->entries + block->count};
  if (sqlite3_step(statement) != SQLITE_DONE) fail(insert_block, sqlite3_errmsg(sqlite3_db_handle(statement)));
  sqlite3_reset(statement);
}

static void step_rows(sqlite3_stmt *statement, const struct block *block) {
  sqlite3 *database = sqlite3_db_handle(statement);
  store_run(database, "BEGIN");
  for (const struct entry *entry = block->entries; entry < block->entries + block->count; entry++) {
    for (int i = 0; i < TEXTS; i++) {
      if (entry->length[i] > 0) sqlite3_bind_text(statement, i + 1, entry->text[i], entry->length[i], SQLITE_STATIC);
      else sqlite3_bind_null(statement, i + 1);
    }
    sqlite3_bind_int64(statement, TEXTS + 1, entry->date);
    if (entry->rating > 0) sqlite3_bind_int(statement, TEXTS + 2, entry->rating);
    else sqlite3_bind_null(statement, TEXTS + 2);
    if (sqlite3_step(statement) != SQLITE_DONE) fail(insert_row, sqlite3_errmsg(database));
    sqlite3_reset(statement);
  }
  store_run(database, "COMMIT");
}

void import_log(const char *log, const char *store) {
  struct reader reader = reader_open(log);
  sqlite3 *database = open_new(store);
  struct source source;
  source_register(database, &source);
  sqlite3_stmt *statement = store_prepare(database, insert_block);
  checkpoints_start(database, store);
  readahead_start(&reader);
  size_t inserted = 0, rejected = 0;
  for (bool is_last = false; !is_last; readahead_return()) {
    const struct block *block = readahead_take();
    step_block(statement, &source, block);
    inserted += block->count;
    rejected += block->rejected;
    is_last = block->is_last;
  }
  checkpoints_stop();
  close_new(database, statement, store);
  printf("inserted %zu, rejected %zu\n", inserted, rejected);
}

void import_log_alone(const char *log, const char *store, bool by_row) {
  struct reader reader = reader_open(log);
  sqlite3 *database = open_new(store);
  struct source source;
  if (!by_row) source_register(database, &source);
  sqlite3_stmt *statement = store_prepare(database, by_row ? insert_row : insert_block);
  struct block block = block_make();
  size_t inserted = 0, rejected = 0;
  do {
    reader_next(&reader, &block);
    if (by_row) step_rows(statement, &block);
    else step_block(statement, &source, &block);
    inserted += block.count;
    rejected += block.rejected;
  } while (!block.is_last);
  close_new(database, statement, store);
  printf("inserted %zu, rejected %zu\n", inserted, rejected);
}
