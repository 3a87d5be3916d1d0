#define _GNU_SOURCE
#include "entries.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct block block_make(void) {
  // The shortest record that passes has 26 bytes.
  struct block block = {.bytes = malloc(BLOCK_BYTES + BLOCK_PADDING),
                        .entries = malloc((BLOCK_BYTES / 26 + 2) * sizeof(struct entry))};
  if (block.bytes == NULL || block.entries == NULL) fail("memory", "there is not enough");
  return block;
}

// Appends bytes of the file until the block is full or the file ends.
static void fill(struct reader *reader, struct block *block) {
  block->is_last = false;
  // One byte stays free for a line end that the last record may lack.
  while (block->filled < BLOCK_BYTES - 1) {
    ssize_t got = read(reader->file, block->bytes + block->filled, BLOCK_BYTES - 1 - block->filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("the log", strerror(errno));
    block->filled += got;
    if (got > 0) continue;
    block->is_last = true;
    if (block->filled > 0 && block->bytes[block->filled - 1] != '\n') block->bytes[block->filled++] = '\n';
    break;
  }
  memset(block->bytes + block->filled, 0, BLOCK_PADDING);
}

struct reader reader_open(const char *path) {
  struct reader reader = {.file = open(path, O_RDONLY), .rest = malloc(BLOCK_BYTES)};
  if (reader.file < 0) fail(path, strerror(errno));
  posix_fadvise(reader.file, 0, 0, POSIX_FADV_SEQUENTIAL);
  char header[sizeof LOG_HEADER] = "";
  if (read(reader.file, header, sizeof header) != sizeof header || memcmp(header, LOG_HEADER "\n", sizeof header) != 0)
    fail(path, "its first line must be " LOG_HEADER);
  return reader;
}

void reader_next(struct reader *reader, struct block *block) {
  memcpy(block->bytes, reader->rest, reader->rest_bytes);
  block->filled = reader->rest_bytes;
  fill(reader, block);
  size_t used = scan(block);
  reader->rest_bytes = block->filled - used;
  if (block->is_last && reader->rest_bytes > 0) fail("the log", "its last record has a quote that is not closed");
  if (used == 0 && !block->is_last) fail("the log", "a record is longer than a block");
  memcpy(reader->rest, block->bytes + used, reader->rest_bytes);
}

// Four blocks in a ring: the thread fills those that the importer has returned.
enum { AHEAD = 4 };
static struct block ring[AHEAD];
static unsigned filled_count, taken_count, returned_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void step(unsigned *count) {
  pthread_mutex_lock(&lock);
  ++*count;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void *read_ahead(void *reader) {
  for (unsigned turn = 0;; turn++) {
    pthread_mutex_lock(&lock);
    while (turn - returned_count == AHEAD) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    struct block *block = &ring[turn % AHEAD];
    reader_next(reader, block);
    bool is_last = block->is_last;
    step(&filled_count);
    if (is_last) return NULL;
  }
}

void readahead_start(struct reader *reader) {
  for (int i = 0; i < AHEAD; i++) ring[i] = block_make();
  pthread_t thread;
  if (pthread_create(&thread, NULL, read_ahead, reader) != 0) fail("the reading thread", "it can't be started");
  pthread_detach(thread);
}

struct block *readahead_take(void) {
  pthread_mutex_lock(&lock);
  while (filled_count == taken_count) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return &ring[taken_count++ % AHEAD];
}

void readahead_return(void) { step(&returned_count); }
