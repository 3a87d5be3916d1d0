#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Calls before the setup pass: they are those of the loader. */
static char folder[PATH_MAX];
static size_t folder_length;
static const char *name_end;
static uint64_t kinds, at, sticky, hurry;
static struct verdict chosen;
static struct shim_page *page;

enum { DESCRIPTORS = 4096 };
static char *paths[DESCRIPTORS];

uint64_t shim_number(const char *variable) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void set_up(void) {
  const char *root = getenv("SHIM_FOLDER"), *shared = getenv("SHIM_PAGE");
  if (!root || !shared || !realpath(root, folder)) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, shared, O_RDWR | O_CLOEXEC);
  void *mapped = (void *)syscall(SYS_mmap, NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)0);
  if (file < 0 || mapped == MAP_FAILED) abort();
  syscall(SYS_close, file);
  name_end = getenv("SHIM_NAME");
  kinds = shim_number("SHIM_KINDS");
  at = shim_number("SHIM_AT");
  sticky = shim_number("SHIM_STICKY");
  hurry = shim_number("SHIM_HURRY");
  chosen.action = (enum shim_action)shim_number("SHIM_ACTION");
  chosen.error = (int)shim_number("SHIM_ERROR");
  page = mapped;
  folder_length = strlen(folder);
}

struct shim_page *shim_page_of(void) { return page; }

/* MARK: Paths */

static int is_below(const char *path) {
  if (!folder_length || strncmp(path, folder, folder_length) != 0) return 0;
  return path[folder_length] == '/' || path[folder_length] == 0;
}

const char *shim_path(int at_folder, const char *path, char *buffer, size_t size) {
  if (!folder_length || !path) return NULL;
  if (path[0] != '/') {
    char place[64], base[PATH_MAX];
    if (at_folder == AT_FDCWD) snprintf(place, sizeof place, "/proc/self/cwd");
    else snprintf(place, sizeof place, "/proc/self/fd/%d", at_folder);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, place, base, sizeof base - 1);
    if (length < 0) return NULL;
    base[length] = 0;
    while (path[0] == '.' && path[1] == '/') path += 2;
    if (snprintf(buffer, size, "%s/%s", base, strcmp(path, ".") ? path : "") >= (int)size) return NULL;
  } else if (snprintf(buffer, size, "%s", path) >= (int)size) {
    return NULL;
  }
  size_t end = strlen(buffer);
  while (end > 1 && buffer[end - 1] == '/') buffer[--end] = 0;
  return is_below(buffer) ? buffer : NULL;
}

const char *shim_path_of(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? paths[descriptor] : NULL;
}

void shim_follow(int descriptor, const char *path) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS && path) paths[descriptor] = strdup(path);
}

/* The text stays: another thread may still read it, and a run opens few files. */
void shim_forget(int descriptor) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) paths[descriptor] = NULL;
}

/* MARK: Verdicts */

static int has_name(const char *path) {
  if (!name_end || !*name_end) return 1;
  size_t length = strlen(path), end = strlen(name_end);
  return length >= end && strcmp(path + length - end, name_end) == 0;
}

struct verdict shim_judge(enum shim_kind kind, const char *call, const char *path) {
  struct verdict pass = {SHIM_NOTHING, 0};
  if (!page || !path) return pass;
  __atomic_add_fetch(&page->counts[kind], 1, __ATOMIC_RELAXED);
  if (!(kinds >> kind & 1) || !has_name(path)) return pass;
  uint64_t number = __atomic_add_fetch(&page->counted, 1, __ATOMIC_RELAXED);
  if (at == 0 || number < at || (number > at && !sticky)) return pass;
  if (__atomic_add_fetch(&page->fired, 1, __ATOMIC_RELAXED) == 1)
    snprintf(page->what, sizeof page->what, "%s %.200s", call, path + folder_length);
  if (chosen.action == SHIM_KILL) kill(getpid(), SIGKILL);
  if (chosen.action == SHIM_TERMINATE) kill(getpid(), SIGTERM);
  /* To this thread, so that it stops here and not some calls later. */
  if (chosen.action == SHIM_STOP) syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGSTOP);
  if (chosen.action == SHIM_DELAY) usleep((useconds_t)chosen.error * 1000);
  return chosen;
}

void shim_after(struct verdict verdict) {
  int error = errno;
  if (verdict.action == SHIM_KILL_AFTER) kill(getpid(), SIGKILL);
  errno = error;
}

/* SQLite tries a lock again a hundred times and sleeps longer each time, ten seconds in all. After a call that failed it
   mostly waits for what does not come; the series of faults would last for hours. */
int usleep(useconds_t microseconds) {
  int is_hurried = hurry || (page && chosen.action == SHIM_FAIL && __atomic_load_n(&page->fired, __ATOMIC_RELAXED));
  uint64_t nanoseconds = (uint64_t)microseconds * (is_hurried ? 20 : 1000);
  struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  return nanosleep(&time, NULL);
}
