#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int record = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

/* Files that are mapped: they change without a call. Their content is recorded before each sync of another file. */
enum { MAPPED = 16 };
static int mapped[MAPPED];

__attribute__((constructor)) static void set_up(void) {
  for (int index = 0; index < MAPPED; index++) mapped[index] = -1;
  const char *path = getenv("SHIM_RECORD");
  if (path) record = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

void shim_record_begin(void) {
  if (record >= 0) pthread_mutex_lock(&order);
}

void shim_record_end(void) {
  if (record >= 0) pthread_mutex_unlock(&order);
}

static void append(struct shim_event event, const char *first, const char *second, const void *bytes) {
  int error = errno;
  event.first_length = first ? strlen(first) : 0;
  event.second_length = second ? strlen(second) : 0;
  struct iovec parts[] = {
    {&event, sizeof event}, {(void *)first, event.first_length}, {(void *)second, event.second_length},
    {(void *)bytes, event.bytes_length},
  };
  size_t whole = sizeof event + event.first_length + event.second_length + event.bytes_length;
  if (syscall(SYS_writev, record, parts, 4) != (long)whole) abort();
  errno = error;
}

static uint64_t inode_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

void shim_record_names(enum shim_event_kind kind, const char *first, const char *second) {
  if (record >= 0) append((struct shim_event){.kind = kind}, first, second, NULL);
}

void shim_record_bytes(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (record < 0) return;
  struct shim_event event = {
    .kind = SHIM_EVENT_WRITE, .inode = inode_of(descriptor), .offset = (uint64_t)offset, .bytes_length = count};
  append(event, NULL, NULL, bytes);
}

static void record_mapped(void) {
  static char content[1 << 20];
  for (int index = 0; index < MAPPED; index++) {
    if (mapped[index] < 0) continue;
    ssize_t count = syscall(SYS_pread64, mapped[index], content, sizeof content, (off_t)0);
    if (count > 0) shim_record_bytes(mapped[index], content, (size_t)count, 0);
  }
}

void shim_record_file(enum shim_event_kind kind, int descriptor, off_t length, const char *path) {
  if (record < 0) return;
  if (kind == SHIM_EVENT_SYNC) record_mapped();
  append((struct shim_event){.kind = kind, .inode = inode_of(descriptor), .offset = (uint64_t)length}, path, NULL, NULL);
}

void shim_record_mapping(int descriptor) {
  if (record < 0) return;
  for (int index = 0; index < MAPPED; index++) if (mapped[index] == descriptor) return;
  for (int index = 0; index < MAPPED; index++) {
    if (mapped[index] >= 0) continue;
    mapped[index] = descriptor;
    return;
  }
}

void shim_record_unmapping(int descriptor) {
  for (int index = 0; index < MAPPED; index++) if (mapped[index] == descriptor) mapped[index] = -1;
}
