#pragma once
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

// Macros that are computed are not imported either.
enum {
  CSQLITE_CONSTRAINT_UNIQUE = SQLITE_CONSTRAINT_UNIQUE,
  CSQLITE_CONSTRAINT_PRIMARYKEY = SQLITE_CONSTRAINT_PRIMARYKEY,
  CSQLITE_CONSTRAINT_ROWID = SQLITE_CONSTRAINT_ROWID,
  CSQLITE_CONSTRAINT_COMMITHOOK = SQLITE_CONSTRAINT_COMMITHOOK,
};

// Variadic C functions are not imported into Swift; these are the ones the store needs.
static inline int csqlite_vtab_config_directonly(sqlite3 *db) {
  return sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
}

static inline int csqlite_set_reset(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_RESET_DATABASE, on, (int *)0);
}

static inline int csqlite_forbid_views(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

// SQLite commits only while *refuses is 0; a refused commit is a rollback with SQLITE_CONSTRAINT_COMMITHOOK.
static inline int csqlite_is_refused(void *refuses) { return *(int *)refuses; }
static inline void csqlite_guard_commits(sqlite3 *db, int *refuses) {
  sqlite3_commit_hook(db, refuses ? csqlite_is_refused : 0, refuses);
}

static inline int csqlite_set_keeps_log(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, (int *)0);
}

// The system's error in the last failed call on the database or its log; 0 without one. SQLite reports some as damage.
static inline int csqlite_read_errno(sqlite3 *db) {
  int number = 0;
  sqlite3_file *log = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
  if (number == 0 && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log
      && log->pMethods)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  return number;
}

// Why no file can be made in a folder, as errno(3) has it; 0 if one can. The file of the trial has no name. It is -1 where
// the system or the file system has no such files.
static inline int csqlite_creation_errno(const char *folder) {
#ifdef __O_TMPFILE
  int file = open(folder, __O_TMPFILE | O_DIRECTORY | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno == EISDIR || errno == EOPNOTSUPP || errno == ENOENT ? -1 : errno;
  close(file);
  return 0;
#else
  return -1;
#endif
}

// The two running sums of a WAL's checksum, over `count` bytes from `offset` on, a multiple of 8.
// (SQLite: "Database File Format", 4.2.)
typedef struct {
  unsigned int first, second;
} csqlite_wal_sums;
static inline csqlite_wal_sums csqlite_wal_checksum(
  const unsigned char *bytes, long offset, long count, int is_big_endian, csqlite_wal_sums sums) {
  for (const unsigned char *p = bytes + offset, *end = p + count; p < end; p += 8) {
    unsigned int x, y;
    __builtin_memcpy(&x, p, 4);
    __builtin_memcpy(&y, p + 4, 4);
    if (is_big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)) {
      x = __builtin_bswap32(x);
      y = __builtin_bswap32(y);
    }
    sums.first += x + sums.second;
    sums.second += y + sums.first;
  }
  return sums;
}

// SQLite takes a nil pointer for NULL, so empty values point somewhere.
// The destructor constants are function-pointer casts that the importer drops.
static inline int csqlite_bind_text_transient(sqlite3_stmt *s, int i, const char *p, sqlite3_uint64 n) {
  return sqlite3_bind_text64(s, i, p ? p : "", n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int csqlite_bind_blob_transient(sqlite3_stmt *s, int i, const void *p, sqlite3_uint64 n) {
  return sqlite3_bind_blob64(s, i, p ? p : "", n, SQLITE_TRANSIENT);
}
static inline void csqlite_result_text_transient(sqlite3_context *c, const char *p, sqlite3_uint64 n) {
  sqlite3_result_text64(c, p ? p : "", n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline void csqlite_result_blob_transient(sqlite3_context *c, const void *p, sqlite3_uint64 n) {
  sqlite3_result_blob64(c, p ? p : "", n, SQLITE_TRANSIENT);
}
