#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "store.h"

// What a linked import does, with nothing on top: the names of spots are in a hash, and each session is written with
// the key of its spot. A transaction counts up the versions of the stored spots that have new sessions, as Apple's
// framework does: both ends of a link have changed. The index of the keys is made at the end, when SQLite can sort them.

// The tables as Apple's framework lays them out for the entities.
static const char create[] =
    "CREATE TABLE ZSPOT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);"
    "CREATE TABLE ZSESSION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, ZSPOT INTEGER, "
    "ZDATE TIMESTAMP, ZHEIGHT VARCHAR, ZPERIOD VARCHAR, ZPLACE VARCHAR, ZWIND VARCHAR)";
static const char insert_sessions[] =
    "INSERT INTO ZSESSION (Z_ENT, Z_OPT, ZRATING, ZSPOT, ZDATE, ZHEIGHT, ZPERIOD, ZWIND) "
    "SELECT 1, 1, rating, spot, date, height, period, wind FROM entries";

struct spot {
  char *name;
  uint32_t length, key;  // 0: a free place
};

// For each key of a spot, the number of the last block with a session there.
static uint32_t *last_block;
static size_t last_blocks;
static uint32_t block_number;

// A place for each name at the first free one from its hash on; at most half of the places are taken.
static struct spot *spots;
static size_t places = 1 << 14;
static uint32_t spots_count;

static struct spot *place_of(const char *name, uint32_t length) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 0x100000001B3;
  size_t place = (hash ^ hash >> 32) & (places - 1);
  while (spots[place].key != 0 &&
         (spots[place].length != length || memcmp(spots[place].name, name, length) != 0))
    place = (place + 1) & (places - 1);
  return &spots[place];
}

static struct spot *make_places(size_t count) {
  struct spot *made = calloc(count, sizeof *made);
  if (made == NULL) fail("memory", "there is not enough");
  return made;
}

static void grow(void) {
  struct spot *old = spots;
  size_t count = places;
  spots = make_places(places *= 2);
  for (struct spot *spot = old; spot < old + count; spot++)
    if (spot->key != 0) *place_of(spot->name, spot->length) = *spot;
  free(old);
}

static uint32_t insert_spot(sqlite3_stmt *statement, const char *name, uint32_t length) {
  if (spots_count >= places / 2) grow();
  struct spot *spot = place_of(name, length);
  char *copy = malloc(length);
  if (copy == NULL) fail("memory", "there is not enough");
  memcpy(copy, name, length);
  *spot = (struct spot){copy, length, ++spots_count};
  sqlite3_bind_int64(statement, 1, spot->key);
  sqlite3_bind_text(statement, 2, copy, (int)length, SQLITE_STATIC);
  if (sqlite3_step(statement) != SQLITE_DONE) fail("a spot", sqlite3_errmsg(sqlite3_db_handle(statement)));
  sqlite3_reset(statement);
  return spot->key;
}

static void note_spot(uint32_t key) {
  if (key >= last_blocks) {
    size_t count = last_blocks == 0 ? places : last_blocks * 2;
    last_block = realloc(last_block, count * sizeof *last_block);
    if (last_block == NULL) fail("memory", "there is not enough");
    memset(last_block + last_blocks, 0, (count - last_blocks) * sizeof *last_block);
    last_blocks = count;
  }
  last_block[key] = block_number;
}

static void link_block(sqlite3_stmt *statement, const struct block *block) {
  block_number++;
  for (struct entry *entry = block->entries; entry < block->entries + block->count; entry++) {
    uint32_t length = entry->length[LOCATION];
    entry->spot = 0;
    if (length == 0) continue;
    entry->spot = place_of(entry->text[LOCATION], length)->key;
    if (entry->spot == 0) entry->spot = insert_spot(statement, entry->text[LOCATION], length);
    note_spot(entry->spot);
  }
}

// A spot that is new in this block has its first version.
static void count_versions(sqlite3_stmt *statement, uint32_t stored_spots) {
  for (uint32_t key = 1; key <= stored_spots; key++) {
    if (last_block[key] != block_number) continue;
    sqlite3_bind_int64(statement, 1, key);
    if (sqlite3_step(statement) != SQLITE_DONE) fail("a version", sqlite3_errmsg(sqlite3_db_handle(statement)));
    sqlite3_reset(statement);
  }
}

void import_log_linked(const char *log, const char *store) {
  struct reader reader = reader_open(log);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3 *database = store_open(store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  store_run(database, "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  store_run(database, create);
  struct source source;
  source_register(database, &source);
  sqlite3_stmt *sessions = store_prepare(database, insert_sessions);
  sqlite3_stmt *spot = store_prepare(database, "INSERT INTO ZSPOT (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, 2, 1, ?2)");
  sqlite3_stmt *version = store_prepare(database, "UPDATE ZSPOT SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?1");
  spots = make_places(places);
  checkpoints_start(database, store);
  readahead_start(&reader);
  size_t inserted = 0, rejected = 0;
  for (bool is_last = false; !is_last; readahead_return()) {
    const struct block *block = readahead_take();
    uint32_t stored_spots = spots_count;
    store_run(database, "BEGIN");
    link_block(spot, block);
    count_versions(version, stored_spots);
    source = (struct source){block->entries, block->entries + block->count};
    if (sqlite3_step(sessions) != SQLITE_DONE) fail(insert_sessions, sqlite3_errmsg(database));
    sqlite3_reset(sessions);
    store_run(database, "COMMIT");
    inserted += block->count;
    rejected += block->rejected;
    is_last = block->is_last;
  }
  checkpoints_stop();
  sqlite3_finalize(sessions);
  sqlite3_finalize(spot);
  sqlite3_finalize(version);
  store_run(database, "CREATE INDEX ZSESSION_ZSPOT_INDEX ON ZSESSION (ZSPOT)");
  if (sqlite3_close(database) != SQLITE_OK) fail(store, sqlite3_errmsg(database));
  printf("inserted %zu, rejected %zu, spots %u\n", inserted, rejected, spots_count);
}
