// The system call that starts writing parts of a file to the disk (Linux, sync_file_range(2)), which the C library's
// module leaves out.
#pragma once
#ifdef __linux__
#include <sys/types.h>
extern int sync_file_range(int descriptor, __off64_t offset, __off64_t byteCount, unsigned int flags);
enum { CWRITEBACK_START = 2 /* SYNC_FILE_RANGE_WRITE */ };
#endif
