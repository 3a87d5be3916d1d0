// Starts a program with posix_spawn(3), from texts without pointers to pointers.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// Their header declares them with _GNU_SOURCE only, which would give the system's types other names than in other modules.
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

// Makes a list that ends in NULL of consecutive texts that each end in a zero byte; returns NULL if memory runs out.
static inline char **spawn_list(const char *texts, int count) {
  char **list = (char **)malloc(((size_t)count + 1) * sizeof(char *));
  if (!list) return NULL;
  for (int index = 0; index < count; index++) {
    list[index] = (char *)texts;
    texts += strlen(texts) + 1;
  }
  list[count] = NULL;
  return list;
}

// Foundation's null device has a negative descriptor.
static inline int spawn_redirect(posix_spawn_file_actions_t *actions, int from, int to) {
  return from < 0 ? posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_RDWR, 0)
                  : posix_spawn_file_actions_adddup2(actions, from, to);
}

// Starts a program in a process group, with the usual handling of signals. The group 0 is one of its own, which it leads.
// The descriptors become its standard input, output and error; a negative one stands for the null device.
//
// The result is its process, or the negative number of an error.
static inline int spawn_program(
    const char *path, const char *words, int word_count, const char *variables, int variable_count,
    const char *folder, int input, int output, int messages, int group) {
  char **arguments = spawn_list(words, word_count);
  char **environment = spawn_list(variables, variable_count);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  // Each of these may need memory.
  int code = arguments && environment ? 0 : ENOMEM;
  if (!code) code = spawn_redirect(&actions, input, 0);
  if (!code) code = spawn_redirect(&actions, output, 1);
  if (!code) code = spawn_redirect(&actions, messages, 2);
  // Nothing else of this process is the program's: the other end of its input, kept open, would never end the input.
  if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (!code && folder[0]) code = posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, group);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t process = 0;
  if (!code) code = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(arguments);
  free(environment);
  return code ? -code : process;
}
