#include <pthread.h>

#include "entries.h"
#include "store.h"

enum {
  PAGES_PER_CHECKPOINT = 1000,
  // 64 MiB. A log that is written without pause never starts over, so the writer has to wait now and then.
  PAGES_MAX = 16384,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int logged_pages, moved_pages;
static bool is_ending;
static sqlite3 *database;
static pthread_t thread;

static void *move_pages(void *unused) {
  pthread_mutex_lock(&lock);
  while (true) {
    if (logged_pages < moved_pages) moved_pages = 0;  // the log has started over
    bool is_behind = logged_pages - moved_pages >= PAGES_PER_CHECKPOINT || logged_pages > PAGES_MAX;
    if (is_ending) break;
    if (!is_behind || logged_pages == moved_pages) {
      pthread_cond_wait(&changed, &lock);
      continue;
    }
    pthread_mutex_unlock(&lock);
    int logged, moved;
    int code = sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, &logged, &moved);
    if (code != SQLITE_OK && code != SQLITE_BUSY) fail("checkpoint", sqlite3_errmsg(database));
    pthread_mutex_lock(&lock);
    if (code == SQLITE_OK) moved_pages = moved;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return unused;
}

// Called by SQLite after each transaction.
static int after_commit(void *unused, sqlite3 *writer, const char *schema, int pages) {
  (void)unused, (void)writer, (void)schema;
  pthread_mutex_lock(&lock);
  logged_pages = pages;
  pthread_cond_broadcast(&changed);
  while (pages > PAGES_MAX && moved_pages != pages) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return SQLITE_OK;
}

void checkpoints_start(sqlite3 *writer, const char *path) {
  database = store_open(path, SQLITE_OPEN_READWRITE);
  store_run(database, "PRAGMA synchronous = NORMAL");
  sqlite3_wal_hook(writer, after_commit, NULL);
  if (pthread_create(&thread, NULL, move_pages, NULL) != 0) fail("the checkpoint thread", "it can't be started");
}

void checkpoints_stop(void) {
  pthread_mutex_lock(&lock);
  is_ending = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  sqlite3_close(database);
}
