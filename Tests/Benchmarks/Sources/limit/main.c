// What this machine's SQLite can take, with nothing on top: the limit that the benchmark's ratios refer to. It checks
// dates, ratings and UTF-8, and keeps no other promise: no contexts, positions, messages, rejects.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"
#include "server.h"
#include "store.h"

_Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "limit: %s: %s\n", what, why);
  exit(1);
}

static void check_log(const char *log) {
  struct reader reader = reader_open(log);
  struct block block = block_make();
  size_t good = 0, rejected = 0;
  do {
    reader_next(&reader, &block);
    good += block.count;
    rejected += block.rejected;
  } while (!block.is_last);
  printf("good %zu, rejected %zu\n", good, rejected);
}

int main(int count, char **words) {
  calendar_start();
  const char *command = count > 1 ? words[1] : "";
  if (strcmp(command, "import") == 0 && count == 4) import_log(words[2], words[3]);
  else if (strcmp(command, "import-alone") == 0 && count == 4) import_log_alone(words[2], words[3], false);
  else if (strcmp(command, "import-by-row") == 0 && count == 4) import_log_alone(words[2], words[3], true);
  else if (strcmp(command, "import-linked") == 0 && count == 4) import_log_linked(words[2], words[3]);
  else if (strcmp(command, "export") == 0 && count == 4) export_log(words[2], words[3], false);
  else if (strcmp(command, "export-by-date") == 0 && count == 4) export_log(words[2], words[3], true);
  else if (strcmp(command, "step") == 0 && count == 3) step_store(words[2]);
  else if (strcmp(command, "insert-books") == 0 && count == 4) library_insert(words[2], atol(words[3]), false);
  else if (strcmp(command, "insert-linked-books") == 0 && count == 4) library_insert(words[2], atol(words[3]), true);
  else if (strcmp(command, "walk-library") == 0 && count == 3) library_walk(words[2]);
  else if (strcmp(command, "delete-authors") == 0 && count == 3) library_delete(words[2]);
  else if (strcmp(command, "server-import") == 0 && count == 5)
    server_import(words[2], words[3], (size_t)atol(words[4]));
  else if (strcmp(command, "server-step") == 0 && count == 3) server_step(words[2]);
  else if (strcmp(command, "check") == 0 && count == 3) check_log(words[2]);
  else if (strcmp(command, "--version") == 0) printf("SQLite %s\n", sqlite3_libversion());
  else
    fail("usage", "limit import|import-alone|import-by-row|import-linked LOG STORE | "
                  "export|export-by-date STORE LOG | step STORE | check LOG | "
                  "insert-books|insert-linked-books STORE ROWS | walk-library|delete-authors STORE | server-import LOG ADDRESS ROWS | "
                  "server-step ADDRESS | --version");
  return 0;
}
