#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* MARK: Memory. Swift ends a process that has no memory left; SQLite promises an error. */

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_calloc(size_t count, size_t size);

static uint64_t memory_at, clock_at, hurry;
static enum { MEMORY_OF_SQLITE, MEMORY_OF_ALL, MEMORY_OF_OTHERS } memory_of;
static int64_t clock_jump;
static struct timespec clock_begin;

/* Where a library is, if the program is linked to it. */
struct place {
  const char *name;
  uintptr_t begin, end;
};
static struct place sqlite = {"libsqlite3", 0, 0}, swift = {"libswiftCore", 0, 0};

static int find(struct dl_phdr_info *library, size_t size, void *context) {
  (void)size;
  struct place *place = context;
  if (!library->dlpi_name || !strstr(library->dlpi_name, place->name)) return 0;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    uintptr_t end = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr + library->dlpi_phdr[i].p_memsz;
    if (library->dlpi_phdr[i].p_type == PT_LOAD && end > place->end) place->end = end;
  }
  place->begin = library->dlpi_addr;
  return 1;
}

static int is_in(struct place place, void *caller) {
  return (uintptr_t)caller >= place.begin && (uintptr_t)caller < place.end;
}

__attribute__((constructor)) static void set_up(void) {
  dl_iterate_phdr(find, &sqlite);
  dl_iterate_phdr(find, &swift);
  memory_at = shim_number("SHIM_MEMORY_AT");
  const char *whose = getenv("SHIM_MEMORY");
  if (whose && !strcmp(whose, "all")) memory_of = MEMORY_OF_ALL;
  if (whose && !strcmp(whose, "others")) memory_of = MEMORY_OF_OTHERS;
  clock_at = shim_number("SHIM_CLOCK_AT");
  const char *jump = getenv("SHIM_CLOCK");
  clock_jump = jump ? strtoll(jump, NULL, 10) : 0;
  hurry = shim_number("SHIM_HURRY");
  syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &clock_begin);
}

static int fails(void *caller, size_t size) {
  struct shim_page *page = shim_page_of();
  if (!memory_at || !page) return 0;
  int is_of_sqlite = is_in(sqlite, caller);
  if (memory_of == MEMORY_OF_SQLITE && !is_of_sqlite) return 0;
  if (memory_of == MEMORY_OF_OTHERS && (is_of_sqlite || is_in(swift, caller))) return 0;
  if (!is_of_sqlite) __atomic_add_fetch(&page->allocated_bytes, size, __ATOMIC_RELAXED);
  if (__atomic_add_fetch(&page->allocations, 1, __ATOMIC_RELAXED) != memory_at) return 0;
  __atomic_add_fetch(&page->fired, 1, __ATOMIC_RELAXED);
  /* As the system does: opendir(3), for one, leaves it to malloc. (POSIX: malloc.) */
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) {
  return fails(__builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
  return fails(__builtin_return_address(0), size) ? NULL : __libc_realloc(old, size);
}

void *calloc(size_t count, size_t size) {
  return fails(__builtin_return_address(0), count * size) ? NULL : __libc_calloc(count, size);
}

/* MARK: Statements */

int sqlite3_finalize(void *statement) {
  enum { STATUS_STEPS = 4 };
  /* Not RTLD_NEXT: the program may have loaded the library for a library of its own only. */
  void *library = dlopen("libsqlite3.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return 0;
  int (*finalize)(void *) = (int (*)(void *))dlsym(library, "sqlite3_finalize");
  int (*status)(void *, int, int) = (int (*)(void *, int, int))dlsym(library, "sqlite3_stmt_status");
  struct shim_page *page = shim_page_of();
  if (page && statement)
    __atomic_add_fetch(&page->steps, (uint64_t)status(statement, STATUS_STEPS, 0), __ATOMIC_RELAXED);
  int result = finalize(statement);
  dlclose(library);
  return result;
}

/* MARK: The clock of the day */

static int64_t jump(void) {
  struct shim_page *page = shim_page_of();
  if (!clock_jump || !page) return 0;
  return __atomic_add_fetch(&page->clock_reads, 1, __ATOMIC_RELAXED) >= clock_at ? clock_jump : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += jump();
  /* Deadlines are of this clock. */
  if (result == 0 && clock == CLOCK_BOOTTIME && hurry) {
    int64_t passed = (time->tv_sec - clock_begin.tv_sec) * 1000000000 + time->tv_nsec - clock_begin.tv_nsec;
    int64_t shown = clock_begin.tv_nsec + passed * 50;
    *time = (struct timespec){.tv_sec = clock_begin.tv_sec + shown / 1000000000, .tv_nsec = shown % 1000000000};
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  *time = (struct timeval){.tv_sec = now.tv_sec + jump(), .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  now.tv_sec += jump();
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
