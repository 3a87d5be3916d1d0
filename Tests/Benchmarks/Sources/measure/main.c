// measure OUTPUT PROGRAM [ARGUMENT...]
// measure --evict FILE...
// measure --touch MEGABYTES
//
// Runs a program with its standard output in the file OUTPUT, and prints what it took: seconds of the clock, seconds
// of processor time, peak memory in KiB, exit status. This is a program of its own because the kernel counts the peak
// memory of the process that starts another one as that other one's: it has to be started from a small one.
// The second form makes the next start of programs that lie in the files a cold one. The third has the machine find so
// much memory: a virtual one may have to ask its host for each page that nobody used for a while.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "evict.h"

extern char **environ;

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec * 1e-6; }

static int touch(size_t bytes) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("measure: mmap");
    return 71;
  }
  for (size_t i = 0; i < bytes; i += 4096) ((volatile char *)memory)[i] = 1;
  return 0;
}

int main(int count, char **words) {
  if (count < 3) {
    fprintf(stderr, "usage: measure OUTPUT PROGRAM [ARGUMENT...] | --evict FILE... | --touch MEGABYTES\n");
    return 64;
  }
  if (strcmp(words[1], "--evict") == 0) return evict_all(words + 2) ? 0 : 74;
  if (strcmp(words[1], "--touch") == 0) return touch(strtoul(words[2], NULL, 10) << 20);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, words[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);

  double begin = clock_seconds();
  pid_t process;
  int code = posix_spawnp(&process, words[2], &actions, NULL, words + 2, environ);
  if (code != 0) {
    fprintf(stderr, "measure: %s: %s\n", words[2], strerror(code));
    return 69;
  }
  int status;
  struct rusage usage;
  while (wait4(process, &status, 0, &usage) < 0) {
    if (errno != EINTR) {
      perror("measure: wait4");
      return 71;
    }
  }
  double wall = clock_seconds() - begin;
  printf("%.6f %.6f %ld %d\n", wall, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
