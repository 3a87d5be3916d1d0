/* Calls that open files by name, or change names. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* MARK: Opening */

static int opened(int folder, const char *name, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  const char *path = shim_path(folder, name, buffer, sizeof buffer);
  if (!path) return (int)syscall(SYS_openat, folder, name, flags, mode);
  struct verdict verdict = shim_judge(SHIM_OPEN, "open", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int exists = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  int result = (int)syscall(SYS_openat, folder, name, flags, mode);
  if (result >= 0) {
    shim_follow(result, path);
    if (!exists && (flags & O_CREAT)) shim_record_file(SHIM_EVENT_CREATE, result, 0, path);
    else if (flags & O_TRUNC) shim_record_file(SHIM_EVENT_RESIZE, result, 0, NULL);
  }
  shim_record_end();
  shim_after(verdict);
  return result;
}

#define OPENING(function, parameters, folder, name) \
  int function parameters { \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
      va_list arguments; \
      va_start(arguments, flags); \
      mode = va_arg(arguments, mode_t); \
      va_end(arguments); \
    } \
    return opened(folder, name, flags, mode); \
  }

OPENING(open, (const char *name, int flags, ...), AT_FDCWD, name)
OPENING(open64, (const char *name, int flags, ...), AT_FDCWD, name)
OPENING(openat, (int folder, const char *name, int flags, ...), folder, name)
OPENING(openat64, (int folder, const char *name, int flags, ...), folder, name)

int mkstemp(char *template) {
  char buffer[PATH_MAX];
  const char *path = shim_path(AT_FDCWD, template, buffer, sizeof buffer);
  struct verdict verdict = shim_judge(SHIM_OPEN, "mkstemp", path);
  FAIL_IF_TOLD(verdict, -1)
  int (*original)(char *) = (int (*)(char *))dlsym(RTLD_NEXT, "mkstemp");
  shim_record_begin();
  int result = original(template);
  path = shim_path(AT_FDCWD, template, buffer, sizeof buffer);
  if (result >= 0 && path) {
    shim_follow(result, path);
    shim_record_file(SHIM_EVENT_CREATE, result, 0, path);
  }
  shim_record_end();
  shim_after(verdict);
  return result;
}

int mkstemp64(char *template) { return mkstemp(template); }

/* MARK: Names */

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *old = shim_path(from_folder, from, first, sizeof first);
  const char *new = shim_path(to_folder, to, second, sizeof second);
  struct verdict verdict = shim_judge(SHIM_RENAME, "rename", new ? new : old);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (result == 0 && old && new) shim_record_names(SHIM_EVENT_RENAME, old, new);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int link(const char *from, const char *to) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *old = shim_path(AT_FDCWD, from, first, sizeof first);
  const char *new = shim_path(AT_FDCWD, to, second, sizeof second);
  struct verdict verdict = shim_judge(SHIM_RENAME, "link", new);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && old && new) shim_record_names(SHIM_EVENT_LINK, old, new);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int unlinkat(int folder, const char *name, int flags) {
  char buffer[PATH_MAX];
  const char *path = shim_path(folder, name, buffer, sizeof buffer);
  struct verdict verdict = shim_judge(flags & AT_REMOVEDIR ? SHIM_FOLDERS : SHIM_UNLINK, "unlink", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int result = (int)syscall(SYS_unlinkat, folder, name, flags);
  if (result == 0 && path)
    shim_record_names(flags & AT_REMOVEDIR ? SHIM_EVENT_REMOVE_FOLDER : SHIM_EVENT_UNLINK, path, NULL);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdir(const char *name, mode_t mode) {
  char buffer[PATH_MAX];
  const char *path = shim_path(AT_FDCWD, name, buffer, sizeof buffer);
  struct verdict verdict = shim_judge(SHIM_FOLDERS, "mkdir", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
  if (result == 0 && path) shim_record_names(SHIM_EVENT_FOLDER, path, NULL);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int chmod(const char *name, mode_t mode) {
  char buffer[PATH_MAX];
  struct verdict verdict = shim_judge(SHIM_MODE, "chmod", shim_path(AT_FDCWD, name, buffer, sizeof buffer));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_fchmodat, AT_FDCWD, name, mode);
  shim_after(verdict);
  return result;
}

int utimensat(int folder, const char *name, const struct timespec times[2], int flags) {
  char buffer[PATH_MAX];
  struct verdict verdict = shim_judge(SHIM_MODE, "utimensat", shim_path(folder, name, buffer, sizeof buffer));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_utimensat, folder, name, times, flags);
  shim_after(verdict);
  return result;
}
