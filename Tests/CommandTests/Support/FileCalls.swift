import Foundation
import TestSupport

/// A library in front of the C library that counts, records, fails or ends the program at calls that change files below
/// one folder. It is compiled for the test that uses it.
struct FileCalls {
  private let files: TemporaryFolder
  private var library: String { files.path("calls.so") }

  init() throws {
    files = try TemporaryFolder()
    try files.write(Self.source, to: "calls.c")
    try Programs.output(
      of: ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", "calls.so", "calls.c", "-ldl"], in: files)
  }

  /// Runs `surfjournal` with the library.
  ///
  /// - Parameters:
  ///   - killedAt: The number of the call, from 1, before which the program is killed.
  ///   - killedBefore: It is killed before the first call whose line in the log has this text.
  ///   - failing: `CALL:TEXT:ERROR`: calls of that name for a path with that text fail with the error number.
  ///   - writesShort: Writes to a path with this text store half of what they get.
  func run(
    _ arguments: [String], in folder: TemporaryFolder, at name: String = ".", killedAt: Int? = nil,
    killedBefore: String? = nil, failing: String? = nil, writesShort: String? = nil
  ) throws -> ProgramOutput {
    var environment = ["LD_PRELOAD": library, "CALLS_FOLDER": folder.url.resolvingSymlinksInPath().path]
    environment["CALLS_LOG"] = files.path("log")
    environment["CALLS_KILL"] = killedAt.map(String.init)
    environment["CALLS_KILL_TEXT"] = killedBefore
    environment["CALLS_FAIL"] = failing
    environment["CALLS_SHORT"] = writesShort
    try files.write("", to: "log")
    return try Programs.run(
      "/usr/bin/env", ["-C", folder.path(name), Tool.url.path] + arguments, in: folder, environment: environment)
  }

  /// The calls of the last run in their order: a name, a space and a path; both paths of a rename.
  var log: [String] { get throws { try files.text("log").split(separator: "\n").map(String.init) } }

  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <limits.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static long count;

    static int is_inside(const char *path) {
      const char *folder = getenv("CALLS_FOLDER");
      return folder && strncmp(path, folder, strlen(folder)) == 0;
    }

    // The error number with which the call has to fail; 0 if it is to be done.
    static int note(const char *call, const char *path, const char *other) {
      if (!is_inside(path)) return 0;
      int saved = errno;
      pthread_mutex_lock(&lock);
      count++;
      char line[2 * PATH_MAX + 64];
      int length = snprintf(line, sizeof line, "%s %s%s%s\n", call, path, other ? " " : "", other ? other : "");
      const char *log = getenv("CALLS_LOG");
      if (log) {
        int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND, 0);
        syscall(SYS_write, file, line, length);
        syscall(SYS_close, file);
      }
      const char *kill_at = getenv("CALLS_KILL");
      const char *kill_text = getenv("CALLS_KILL_TEXT");
      if (kill_at && count == atol(kill_at) || kill_text && strstr(line, kill_text)) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
      }
      int code = 0;
      char failing[PATH_MAX];
      const char *given = getenv("CALLS_FAIL");
      if (given) {
        strncpy(failing, given, sizeof failing - 1);
        char *rest = failing, *name = strsep(&rest, ":"), *text = strsep(&rest, ":");
        if (rest && strcmp(name, call) == 0 && (strstr(path, text) || other && strstr(other, text))) code = atoi(rest);
      }
      pthread_mutex_unlock(&lock);
      errno = saved;
      return code;
    }

    static int note_descriptor(const char *call, int descriptor, char *path) {
      char name[64];
      snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
      long length = syscall(SYS_readlinkat, AT_FDCWD, name, path, PATH_MAX - 1);
      path[length > 0 ? length : 0] = 0;
      return length > 0 ? note(call, path, 0) : 0;
    }

    static void absolute(const char *path, char *full) {
      char folder[PATH_MAX] = "";
      if (path[0] != '/') getcwd(folder, sizeof folder);
      snprintf(full, PATH_MAX, "%s%s%s", folder, folder[0] ? "/" : "", path);
    }

    #define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, #name)
    #define REFUSE(code) do { int c = (code); if (c) { errno = c; return -1; } } while (0)

    #define OF_DESCRIPTOR(name) \
      int name(int descriptor) { \
        REAL(int, name, int); char path[PATH_MAX]; \
        REFUSE(note_descriptor("fsync", descriptor, path)); return real(descriptor); }
    OF_DESCRIPTOR(fsync) OF_DESCRIPTOR(fdatasync)

    #define TRUNCATE(name) \
      int name(int descriptor, off_t length) { \
        REAL(int, name, int, off_t); char path[PATH_MAX]; \
        REFUSE(note_descriptor("truncate", descriptor, path)); return real(descriptor, length); }
    TRUNCATE(ftruncate) TRUNCATE(ftruncate64)

    static size_t shortened(const char *path, size_t length) {
      const char *text = getenv("CALLS_SHORT");
      return text && length > 1 && is_inside(path) && strstr(path, text) ? length / 2 : length;
    }
    ssize_t write(int descriptor, const void *bytes, size_t length) {
      REAL(ssize_t, write, int, const void *, size_t); char path[PATH_MAX];
      REFUSE(note_descriptor("write", descriptor, path));
      return real(descriptor, bytes, shortened(path, length)); }
    #define PWRITE(name) \
      ssize_t name(int descriptor, const void *bytes, size_t length, off_t offset) { \
        REAL(ssize_t, name, int, const void *, size_t, off_t); char path[PATH_MAX]; \
        REFUSE(note_descriptor("write", descriptor, path)); return real(descriptor, bytes, length, offset); }
    PWRITE(pwrite) PWRITE(pwrite64)

    #define OPEN(name) \
      int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); va_list list; va_start(list, flags); int mode = va_arg(list, int); \
        va_end(list); char full[PATH_MAX]; absolute(path, full); \
        if (flags & (O_WRONLY | O_RDWR | O_CREAT)) REFUSE(note("open", full, 0)); return real(path, flags, mode); }
    OPEN(open) OPEN(open64)

    #define OF_PATH(name, label) \
      int name(const char *path) { \
        REAL(int, name, const char *); char full[PATH_MAX]; absolute(path, full); \
        REFUSE(note(label, full, 0)); return real(path); }
    OF_PATH(unlink, "unlink") OF_PATH(rmdir, "unlink") OF_PATH(remove, "unlink")
    int mkdir(const char *path, mode_t mode) {
      REAL(int, mkdir, const char *, mode_t); char full[PATH_MAX]; absolute(path, full);
      REFUSE(note("mkdir", full, 0)); return real(path, mode); }
    int unlinkat(int folder, const char *path, int flags) {
      REAL(int, unlinkat, int, const char *, int); char full[PATH_MAX]; absolute(path, full);
      REFUSE(note("unlink", full, 0)); return real(folder, path, flags); }

    #define OF_PATHS(name, label) \
      int name(const char *source, const char *target) { \
        REAL(int, name, const char *, const char *); char from[PATH_MAX], to[PATH_MAX]; \
        absolute(source, from); absolute(target, to); REFUSE(note(label, from, to)); return real(source, target); }
    OF_PATHS(rename, "rename") OF_PATHS(link, "link")
    int symlink(const char *target, const char *path) {
      REAL(int, symlink, const char *, const char *); char full[PATH_MAX]; absolute(path, full);
      REFUSE(note("symlink", full, 0)); return real(target, path); }
    int renameat2(int from_folder, const char *source, int to_folder, const char *target, unsigned flags) {
      REAL(int, renameat2, int, const char *, int, const char *, unsigned); char from[PATH_MAX], to[PATH_MAX];
      absolute(source, from); absolute(target, to);
      // Where the file system does not have it, it is no call that changes files.
      const char *given = getenv("CALLS_FAIL");
      if (given && strcmp(given, "renameat2") == 0) { errno = EINVAL; return -1; }
      REFUSE(note("rename", from, to));
      return real(from_folder, source, to_folder, target, flags); }

    int fcntl64(int descriptor, int command, ...) {
      REAL(int, fcntl64, int, int, ...); va_list list; va_start(list, command); void *value = va_arg(list, void *);
      va_end(list); char path[PATH_MAX];
      if (command == F_SETLK || command == F_SETLKW) REFUSE(note_descriptor("lock", descriptor, path));
      return real(descriptor, command, value); }
    """#
}
