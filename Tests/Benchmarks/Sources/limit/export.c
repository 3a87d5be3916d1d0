#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"
#include "store.h"

// Text of the log, written in pieces.
enum { OUTPUT_BYTES = 1 << 20 };
static char *output;
static size_t output_count;
static int file;

static void flush(void) {
  for (size_t done = 0; done < output_count;) {
    ssize_t wrote = write(file, output + done, output_count - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail("the log", strerror(errno));
    done += wrote;
  }
  output_count = 0;
}

static inline void reserve(size_t bytes) {
  if (bytes > OUTPUT_BYTES) fail("the store", "a text is longer than this yardstick can write");
  if (output_count + bytes > OUTPUT_BYTES) flush();
}

static inline char *put_two(char *at, unsigned number, char after) {
  at[0] = '0' + number / 10;
  at[1] = '0' + number % 10;
  at[2] = after;
  return at + 3;
}

// Seconds since 2001 as 2014-07-14T09:30:00Z.
static inline void put_date(int64_t seconds) {
  int64_t days = seconds / 86400 - (seconds % 86400 < 0);
  unsigned second = seconds - days * 86400;
  if (days < calendar_year[0] || days >= calendar_year[YEARS]) fail("the store", "a date lies outside of 1900 to 2199");
  // A guess that is never too late, and seldom a year too early.
  int year = (days - calendar_year[0]) / 366;
  while (days >= calendar_year[year + 1]) year++;
  struct day day = calendar_day[calendar_is_leap(FIRST_YEAR + year)][days - calendar_year[year]];
  char *at = output + output_count;
  at = put_two(at, (FIRST_YEAR + year) / 100, 0) - 1;
  at = put_two(at, (FIRST_YEAR + year) % 100, '-');
  at = put_two(at, day.month, '-');
  at = put_two(at, day.day, 'T');
  at = put_two(at, second / 3600, ':');
  at = put_two(at, second / 60 % 60, ':');
  put_two(at, second % 60, 'Z');
  output_count += 20;
}

// RFC 4180: quotes only where they are needed.
static inline void put_text(const char *text, size_t length) {
  reserve(2 * length + 3);
  char *at = output + output_count;
  *at++ = ',';
  bool needs_quotes = false;
  for (size_t i = 0; i < length; i++)
    needs_quotes |= (text[i] == ',') | (text[i] == '"') | (text[i] == '\n') | (text[i] == '\r');
  if (needs_quotes) {
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
      if (text[i] == '"') *at++ = '"';
      *at++ = text[i];
    }
    *at++ = '"';
  } else {
    memcpy(at, text, length);
    at += length;
  }
  output_count = at - output;
}

void export_log(const char *store, const char *log, bool by_date) {
  sqlite3 *database = store_open(store, SQLITE_OPEN_READONLY);
  file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) fail(log, strerror(errno));
  output = malloc(OUTPUT_BYTES);
  if (output == NULL) fail("memory", "there is not enough");
  output_count = sprintf(output, LOG_HEADER "\n");

  char sql[200];
  sprintf(sql, "SELECT ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY %s",
          by_date ? "ZDATE, Z_PK" : "Z_PK");
  sqlite3_stmt *cursor = store_prepare(database, sql);
  size_t rows = 0;
  int code;
  while ((code = sqlite3_step(cursor)) == SQLITE_ROW) {
    reserve(32);
    put_date(sqlite3_column_int64(cursor, 0));
    for (int column = 1; column <= TEXTS; column++) {
      const char *text = (const char *)sqlite3_column_text(cursor, column);
      put_text(text == NULL ? "" : text, sqlite3_column_bytes(cursor, column));
    }
    reserve(3);
    output[output_count++] = ',';
    if (sqlite3_column_type(cursor, 5) != SQLITE_NULL) output[output_count++] = '0' + sqlite3_column_int(cursor, 5);
    output[output_count++] = '\n';
    rows++;
  }
  if (code != SQLITE_DONE) fail(sql, sqlite3_errmsg(database));
  flush();
  if (close(file) != 0) fail(log, strerror(errno));
  sqlite3_finalize(cursor);
  sqlite3_close(database);
  printf("exported %zu\n", rows);
}
