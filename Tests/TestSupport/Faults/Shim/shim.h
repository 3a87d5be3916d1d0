/* A shim between a program and the C library: it counts the calls on files below one folder, makes the n-th fail, ends
   the process there, or records what would have to survive a power cut. See docs/decisions/0021-one-preloaded-shim.md.

   Environment:
     SHIM_FOLDER   the folder; calls on other files pass
     SHIM_PAGE     a file of at least sizeof(struct shim_page) zeros; what was counted is there, whatever ended the process
     SHIM_KINDS    kinds that are counted, as a sum of 1 << kind
     SHIM_NAME     only files whose name ends so, if it is set
     SHIM_AT       the number of the call that something happens to, from 1; 0 for none
     SHIM_ACTION   what happens: see enum shim_action
     SHIM_ERROR    the errno of SHIM_FAIL, the milliseconds of SHIM_DELAY
     SHIM_STICKY   1: it happens to all later calls too
     SHIM_HURRY    1: usleep takes a fiftieth, and deadlines come as much earlier, for a program that waits in
                   vain; after SHIM_FAIL it always does
     SHIM_RECORD   a file to which changes are appended, as struct shim_event and what follows it
     SHIM_CLOCK    seconds that the clock of the day jumps by
     SHIM_CLOCK_AT the number of the reading of the clock from which on it has jumped
     SHIM_MEMORY_AT the number of the allocation that fails
     SHIM_MEMORY   whose allocations are counted: SQLite's, those of all if it is "all", or, if it is "others", those of
                   all but SQLite and Swift's runtime, which ends the process */
#ifndef SHIM_H
#define SHIM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum shim_kind {
  SHIM_OPEN, SHIM_READ, SHIM_WRITE, SHIM_SYNC, SHIM_RESIZE, SHIM_RENAME, SHIM_UNLINK, SHIM_FOLDERS, SHIM_LOCK,
  SHIM_MAP, SHIM_MODE, SHIM_CLOSE, SHIM_LIST, SHIM_LOOK, SHIM_KINDS_COUNT
};

enum shim_action {
  SHIM_NOTHING, SHIM_FAIL, SHIM_SHORT, SHIM_SWALLOW, SHIM_KILL, SHIM_KILL_AFTER, SHIM_TERMINATE, SHIM_DELAY,
  SHIM_STOP
};

/* What the test reads while the process runs and after its end. */
struct shim_page {
  uint64_t counts[16];   /* by kind */
  uint64_t counted;      /* of the kinds asked for */
  uint64_t fired;        /* how often something was made to happen */
  uint64_t clock_reads;
  uint64_t allocations;  /* those that SHIM_MEMORY asks for */
  char what[256];        /* the first call that something happened to */
  uint64_t allocated_bytes; /* of those that are not SQLite's, whose arrays grow by a few elements */
  uint64_t steps;        /* of SQLite's virtual machine, in statements that were finalized */
};

enum shim_event_kind {
  SHIM_EVENT_CREATE, SHIM_EVENT_WRITE, SHIM_EVENT_RESIZE, SHIM_EVENT_SYNC, SHIM_EVENT_RENAME, SHIM_EVENT_UNLINK,
  SHIM_EVENT_FOLDER, SHIM_EVENT_REMOVE_FOLDER, SHIM_EVENT_LINK
};

/* Two paths and the written bytes follow, without anything between them. */
struct shim_event {
  uint64_t kind, inode, offset, first_length, second_length, bytes_length;
};

/* What is to be done with a call. */
struct verdict {
  enum shim_action action;
  int error;
};

/* Returns from the wrapper of a call that is to fail. */
#define FAIL_IF_TOLD(verdict, result) \
  if ((verdict).action == SHIM_FAIL) { errno = (verdict).error; return (result); }

/* The path of a file below the folder, or NULL; the one for descriptors is valid until the descriptor is closed. */
const char *shim_path(int folder, const char *path, char *buffer, size_t size);
const char *shim_path_of(int descriptor);
void shim_follow(int descriptor, const char *path);
void shim_forget(int descriptor);

struct verdict shim_judge(enum shim_kind kind, const char *call, const char *path);
/* Ends the process if the verdict says so. */
void shim_after(struct verdict verdict);
struct shim_page *shim_page_of(void);
uint64_t shim_number(const char *variable);

/* Between these, calls are in the order of their events. They do nothing where nothing is recorded. */
void shim_record_begin(void);
void shim_record_end(void);
void shim_record_names(enum shim_event_kind kind, const char *first, const char *second);
void shim_record_bytes(int descriptor, const void *bytes, size_t count, off_t offset);
void shim_record_file(enum shim_event_kind kind, int descriptor, off_t length, const char *path);
void shim_record_mapping(int descriptor);
void shim_record_unmapping(int descriptor);

#endif
