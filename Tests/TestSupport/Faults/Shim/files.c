/* Calls on open files. */
#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t length_for(struct verdict verdict, size_t count) {
  return verdict.action == SHIM_SHORT && count > 1 ? count / 2 : count;
}

/* MARK: Reading and writing */

ssize_t read(int file, void *bytes, size_t count) {
  struct verdict verdict = shim_judge(SHIM_READ, "read", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  ssize_t result = syscall(SYS_read, file, bytes, length_for(verdict, count));
  shim_after(verdict);
  return result;
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  struct verdict verdict = shim_judge(SHIM_READ, "pread", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  ssize_t result = syscall(SYS_pread64, file, bytes, length_for(verdict, count), offset);
  shim_after(verdict);
  return result;
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) { return pread(file, bytes, count, offset); }

ssize_t write(int file, const void *bytes, size_t count) {
  const char *path = shim_path_of(file);
  if (!path) return syscall(SYS_write, file, bytes, count);
  struct verdict verdict = shim_judge(SHIM_WRITE, "write", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  ssize_t result = syscall(SYS_write, file, bytes, length_for(verdict, count));
  if (result > 0) shim_record_bytes(file, bytes, (size_t)result, lseek(file, 0, SEEK_CUR) - result);
  shim_record_end();
  shim_after(verdict);
  return result;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  const char *path = shim_path_of(file);
  if (!path) return syscall(SYS_pwrite64, file, bytes, count, offset);
  struct verdict verdict = shim_judge(SHIM_WRITE, "pwrite", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  ssize_t result = syscall(SYS_pwrite64, file, bytes, length_for(verdict, count), offset);
  if (result > 0) shim_record_bytes(file, bytes, (size_t)result, offset);
  shim_record_end();
  shim_after(verdict);
  return result;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  return pwrite(file, bytes, count, offset);
}

/* One piece of it is written: a caller has to go on by itself, as after any short write. */
ssize_t writev(int file, const struct iovec *pieces, int count) {
  if (!shim_path_of(file)) return syscall(SYS_writev, file, pieces, count);
  for (int index = 0; index < count; index++)
    if (pieces[index].iov_len > 0) return write(file, pieces[index].iov_base, pieces[index].iov_len);
  return 0;
}

/* A piece of it is copied, with a write that can fail or be recorded as any other. */
ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
  if (!shim_path_of(to)) return syscall(SYS_sendfile, to, from, offset, count);
  char bytes[1 << 14];
  size_t wanted = count < sizeof bytes ? count : sizeof bytes;
  off_t begin = offset ? *offset : lseek(from, 0, SEEK_CUR);
  ssize_t found = syscall(SYS_pread64, from, bytes, wanted, begin);
  if (found <= 0) return found;
  ssize_t result = write(to, bytes, (size_t)found);
  if (result <= 0) return result;
  if (offset) *offset = begin + result;
  else lseek(from, begin + result, SEEK_SET);
  return result;
}

/* MARK: Syncs and sizes */

static int synced(int file, long call, const char *name) {
  const char *path = shim_path_of(file);
  if (!path) return (int)syscall(call, file);
  struct verdict verdict = shim_judge(SHIM_SYNC, name, path);
  FAIL_IF_TOLD(verdict, -1)
  if (verdict.action == SHIM_SWALLOW) return 0;
  shim_record_begin();
  int result = (int)syscall(call, file);
  if (result == 0) shim_record_file(SHIM_EVENT_SYNC, file, 0, path);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int fsync(int file) { return synced(file, SYS_fsync, "fsync"); }
int fdatasync(int file) { return synced(file, SYS_fdatasync, "fdatasync"); }

int ftruncate(int file, off_t length) {
  const char *path = shim_path_of(file);
  struct verdict verdict = shim_judge(SHIM_RESIZE, "ftruncate", path);
  FAIL_IF_TOLD(verdict, -1)
  shim_record_begin();
  int result = (int)syscall(SYS_ftruncate, file, length);
  if (result == 0 && path) shim_record_file(SHIM_EVENT_RESIZE, file, length, NULL);
  shim_record_end();
  shim_after(verdict);
  return result;
}

int ftruncate64(int file, off64_t length) { return ftruncate(file, length); }

/* MARK: Locks, maps, modes */

static int controlled(int file, int command, void *argument) {
  const char *path = shim_path_of(file);
  int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  struct verdict verdict = shim_judge(SHIM_LOCK, "fcntl", locks ? path : NULL);
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_fcntl, file, command, argument);
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0) shim_follow(result, path);
  shim_after(verdict);
  return result;
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return controlled(file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return controlled(file, command, argument);
}

int flock(int file, int operation) {
  struct verdict verdict = shim_judge(SHIM_LOCK, "flock", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_flock, file, operation);
  shim_after(verdict);
  return result;
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  struct verdict verdict = shim_judge(SHIM_MAP, "mmap", file >= 0 ? shim_path_of(file) : NULL);
  FAIL_IF_TOLD(verdict, MAP_FAILED)
  void *result = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
  if (file >= 0 && shim_path_of(file) && (flags & MAP_SHARED) && (protection & PROT_WRITE)) shim_record_mapping(file);
  shim_after(verdict);
  return result;
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset) {
  return mmap(address, length, protection, flags, file, offset);
}

int fchmod(int file, mode_t mode) {
  struct verdict verdict = shim_judge(SHIM_MODE, "fchmod", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_fchmod, file, mode);
  shim_after(verdict);
  return result;
}

int fchown(int file, uid_t user, gid_t group) {
  struct verdict verdict = shim_judge(SHIM_MODE, "fchown", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_fchown, file, user, group);
  shim_after(verdict);
  return result;
}

int futimens(int file, const struct timespec times[2]) {
  struct verdict verdict = shim_judge(SHIM_MODE, "futimens", shim_path_of(file));
  FAIL_IF_TOLD(verdict, -1)
  int result = (int)syscall(SYS_utimensat, file, NULL, times, 0);
  shim_after(verdict);
  return result;
}

/* The descriptor is gone whatever close answers. */
int close(int file) {
  struct verdict verdict = shim_judge(SHIM_CLOSE, "close", shim_path_of(file));
  shim_record_begin();
  shim_record_unmapping(file);
  shim_forget(file);
  int result = (int)syscall(SYS_close, file);
  shim_record_end();
  FAIL_IF_TOLD(verdict, -1)
  shim_after(verdict);
  return result;
}
