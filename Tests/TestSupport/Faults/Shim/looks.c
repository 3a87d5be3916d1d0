/* Calls that list folders, or ask about a file by its name. Those of the C library itself, as glob(3) and fts(3) make
   them, are not seen. */
#define _GNU_SOURCE
#include "shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* MARK: Folders */

DIR *opendir(const char *name) {
  char buffer[PATH_MAX];
  const char *path = shim_path(AT_FDCWD, name, buffer, sizeof buffer);
  struct verdict verdict = shim_judge(SHIM_LIST, "opendir", path);
  FAIL_IF_TOLD(verdict, NULL)
  DIR *(*original)(const char *) = (DIR *(*)(const char *))dlsym(RTLD_NEXT, "opendir");
  DIR *result = original(name);
  if (result && path) shim_follow(dirfd(result), path);
  shim_after(verdict);
  return result;
}

struct dirent *readdir(DIR *folder) {
  struct verdict verdict = shim_judge(SHIM_LIST, "readdir", shim_path_of(dirfd(folder)));
  FAIL_IF_TOLD(verdict, NULL)
  struct dirent *(*original)(DIR *) = (struct dirent *(*)(DIR *))dlsym(RTLD_NEXT, "readdir");
  struct dirent *result = original(folder);
  shim_after(verdict);
  return result;
}

int closedir(DIR *folder) {
  shim_forget(dirfd(folder));
  int (*original)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
  return original(folder);
}

/* MARK: Files */

static int looked(const char *call, int folder, const char *name, struct stat *status, int flags) {
  char buffer[PATH_MAX];
  struct verdict verdict = shim_judge(SHIM_LOOK, call, shim_path(folder, name, buffer, sizeof buffer));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_newfstatat, folder, name, status, flags);
  shim_after(verdict);
  return result;
}

int stat(const char *name, struct stat *status) { return looked("stat", AT_FDCWD, name, status, 0); }
int lstat(const char *name, struct stat *status) {
  return looked("lstat", AT_FDCWD, name, status, AT_SYMLINK_NOFOLLOW);
}

/* The two structures are the same where a file's length has 64 bits. */
int stat64(const char *name, struct stat64 *status) { return stat(name, (struct stat *)status); }
int lstat64(const char *name, struct stat64 *status) { return lstat(name, (struct stat *)status); }

int fstatat(int folder, const char *name, struct stat *status, int flags) {
  return looked("fstatat", folder, name, status, flags);
}

int access(const char *name, int mode) {
  char buffer[PATH_MAX];
  struct verdict verdict = shim_judge(SHIM_LOOK, "access", shim_path(AT_FDCWD, name, buffer, sizeof buffer));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_faccessat, AT_FDCWD, name, mode);
  shim_after(verdict);
  return result;
}
