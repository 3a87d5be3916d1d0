// What a PostgreSQL server can take from a program without contexts, keys in blocks or checks of what others write.
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../../Sources/CPostgreSQL/shim.h"
#include "entries.h"

enum { BUFFER_BYTES = 1 << 18, ROW_BYTES_MAX = 1 << 16 };

static struct cpq_functions pq;
static struct cpq_end_reason end_reason;

static struct pg_conn *server_connect(const char *address) {
  if (!cpq_load(&pq)) fail("libpq", dlerror());
  struct pg_conn *connection =
      pq.connect((const char *[]){"dbname", NULL}, (const char *[]){address, NULL}, 1);
  if (connection == NULL || pq.status(connection) != CPQ_CONNECTION_OK) fail("connect", pq.error_message(connection));
  cpq_receive_notices(&pq, connection, &end_reason);
  return connection;
}

static struct pg_result *server_run(struct pg_conn *connection, const char *sql, int expected) {
  struct pg_result *result = pq.exec(connection, sql);
  if (pq.result_status(result) != expected) fail(sql, pq.error_message(connection));
  return result;
}

static void server_do(struct pg_conn *connection, const char *sql, int expected) {
  pq.clear(server_run(connection, sql, expected));
}

// Rows in COPY's binary form.
struct copy {
  struct pg_conn *connection;
  char *bytes;
  size_t filled;
};

static void put(struct copy *copy, const void *bytes, size_t count) {
  memcpy(copy->bytes + copy->filled, bytes, count);
  copy->filled += count;
}

static void put_16(struct copy *copy, uint16_t number) { put(copy, &(uint16_t){__builtin_bswap16(number)}, 2); }
static void put_32(struct copy *copy, uint32_t number) { put(copy, &(uint32_t){__builtin_bswap32(number)}, 4); }
static void put_64(struct copy *copy, uint64_t number) { put(copy, &(uint64_t){__builtin_bswap64(number)}, 8); }

static void send_filled(struct copy *copy) {
  if (pq.put_copy_data(copy->connection, copy->bytes, (int)copy->filled) != 1)
    fail("COPY", pq.error_message(copy->connection));
  copy->filled = 0;
}

static void put_entry(struct copy *copy, const struct entry *entry, int64_t key) {
  put_16(copy, 9);
  put_32(copy, 8), put_64(copy, (uint64_t)key);
  put_32(copy, 4), put_32(copy, 1);
  put_32(copy, 4), put_32(copy, 1);
  double date = (double)entry->date;
  uint64_t bits;
  memcpy(&bits, &date, sizeof bits);
  put_32(copy, 8), put_64(copy, bits);
  for (int text = 0; text < TEXTS; text++) {
    if (entry->length[text] == 0) {
      put_32(copy, UINT32_MAX);
      continue;
    }
    put_32(copy, entry->length[text]);
    put(copy, entry->text[text], entry->length[text]);
  }
  if (entry->rating > 0) put_32(copy, 2), put_16(copy, (uint16_t)entry->rating);
  else put_32(copy, UINT32_MAX);
}

static void begin(struct copy *copy) {
  static const char sql[] =
      "COPY \"ZJOURNALENTRY\" (\"Z_PK\", \"Z_ENT\", \"Z_OPT\", \"ZDATE\", \"ZHEIGHT\", \"ZPERIOD\", \"ZWIND\", "
      "\"ZLOCATION\", \"ZRATING\") FROM STDIN (FORMAT binary)";
  server_do(copy->connection, "BEGIN", CPQ_COMMAND_OK);
  server_do(copy->connection, sql, CPQ_COPY_IN);
  put(copy, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19);
}

static void commit(struct copy *copy) {
  put_16(copy, UINT16_MAX);
  send_filled(copy);
  if (pq.put_copy_end(copy->connection, NULL) != 1) fail("COPY", pq.error_message(copy->connection));
  for (struct pg_result *result; (result = pq.get_result(copy->connection)) != NULL; pq.clear(result))
    if (pq.result_status(result) != CPQ_COMMAND_OK) fail("COPY", pq.error_message(copy->connection));
  server_do(copy->connection, "COMMIT", CPQ_COMMAND_OK);
}

void server_import(const char *log, const char *address, size_t rows_per_transaction) {
  struct reader reader = reader_open(log);
  struct copy copy = {server_connect(address), malloc(BUFFER_BYTES + ROW_BYTES_MAX), 0};
  if (copy.bytes == NULL) fail("memory", "there is none");
  readahead_start(&reader);
  size_t inserted = 0, rejected = 0;
  for (bool is_last = false; !is_last; readahead_return()) {
    const struct block *block = readahead_take();
    for (size_t i = 0; i < block->count; i++) {
      if (inserted % rows_per_transaction == 0) {
        if (inserted > 0) commit(&copy);
        begin(&copy);
      }
      put_entry(&copy, &block->entries[i], (int64_t)++inserted);
      if (copy.filled >= BUFFER_BYTES) send_filled(&copy);
    }
    rejected += block->rejected;
    is_last = block->is_last;
  }
  if (inserted > 0) commit(&copy);
  pq.finish(copy.connection);
  printf("inserted %zu, rejected %zu\n", inserted, rejected);
}

void server_step(const char *address) {
  static const char sql[] =
      "DECLARE entries BINARY NO SCROLL CURSOR FOR SELECT \"ZDATE\", \"ZHEIGHT\", \"ZPERIOD\", \"ZWIND\", "
      "\"ZLOCATION\", \"ZRATING\" FROM \"ZJOURNALENTRY\" ORDER BY \"Z_PK\"";
  struct pg_conn *connection = server_connect(address);
  server_do(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", CPQ_COMMAND_OK);
  server_do(connection, sql, CPQ_COMMAND_OK);
  size_t rows = 0, bytes = 0;
  int64_t seconds = 0, ratings = 0;
  for (int count = 1; count > 0;) {
    struct pg_result *result = server_run(connection, "FETCH 1000 FROM entries", CPQ_TUPLES_OK);
    count = pq.row_count(result);
    for (int row = 0; row < count; row++) {
      uint64_t bits;
      memcpy(&bits, pq.value(result, row, 0), sizeof bits);
      bits = __builtin_bswap64(bits);
      double date;
      memcpy(&date, &bits, sizeof date);
      seconds += (int64_t)date;
      for (int column = 1; column <= TEXTS; column++) bytes += (size_t)pq.value_length(result, row, column);
      if (!pq.is_null(result, row, TEXTS + 1)) {
        uint16_t rating;
        memcpy(&rating, pq.value(result, row, TEXTS + 1), sizeof rating);
        ratings += (int16_t)__builtin_bswap16(rating);
      }
    }
    rows += (size_t)count;
    pq.clear(result);
  }
  server_do(connection, "COMMIT", CPQ_COMMAND_OK);
  pq.finish(connection);
  printf("rows %zu, seconds %lld, text bytes %zu, ratings %lld\n", rows, (long long)seconds, bytes, (long long)ratings);
}
