// System calls of Linux for files, which the C library's module leaves out: sync_file_range(2), which starts writing
// parts of a file to the disk, renameat2(2), which can rename without replacing, and extended attributes, xattr(7).
#pragma once
#ifdef __linux__
#include <sys/types.h>
#include <sys/xattr.h>
extern int sync_file_range(int descriptor, __off64_t offset, __off64_t byteCount, unsigned int flags);
extern int renameat2(int sourceFolder, const char *source, int targetFolder, const char *target, unsigned int flags);
enum { CWRITEBACK_START = 2 /* SYNC_FILE_RANGE_WRITE */, CWRITEBACK_NO_REPLACE = 1 /* RENAME_NOREPLACE */ };
#endif
