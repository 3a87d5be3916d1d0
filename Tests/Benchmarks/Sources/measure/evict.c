// Takes files out of the page cache, and says so if one of their pages is still there: those that any process has
// mapped stay. Returns whether all are gone.
#define _GNU_SOURCE
#include "evict.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t pages_in_memory(int file, size_t bytes) {
  size_t page = sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page, count = 0;
  // Mapping alone brings no page in.
  void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  unsigned char *is_there = malloc(pages);
  if (map == MAP_FAILED || is_there == NULL || mincore(map, bytes, is_there) != 0) return pages;
  for (size_t i = 0; i < pages; i++) count += is_there[i] & 1;
  free(is_there);
  munmap(map, bytes);
  return count;
}

static bool evict(const char *path) {
  int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    fprintf(stderr, "measure: %s: %s\n", path, strerror(errno));
    return false;
  }
  // What is not written yet can't be dropped.
  fdatasync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  size_t left = status.st_size > 0 ? pages_in_memory(file, status.st_size) : 0;
  close(file);
  if (left > 0) fprintf(stderr, "measure: %s: %zu pages stay in memory\n", path, left);
  return left == 0;
}

bool evict_all(char **paths) {
  bool are_gone = true;
  for (; *paths != NULL; paths++) are_gone &= evict(*paths);
  return are_gone;
}
