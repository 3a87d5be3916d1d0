// The functions of libarchive that are used. The library is loaded when the first input needs it, so the program starts
// without it, and its headers are not needed to build. Names and types: archive_read(3), archive_entry(3).
#pragma once
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct archive;
struct archive_entry;

typedef ssize_t archive_read_callback(struct archive *, void *data, const void **buffer);
typedef int64_t archive_seek_callback(struct archive *, void *data, int64_t offset, int whence);

enum { CARCHIVE_EOF = 1, CARCHIVE_OK = 0, CARCHIVE_WARN = -20, CARCHIVE_FATAL = -30 };

struct archive_functions {
  struct archive *(*read_new)(void);
  int (*read_free)(struct archive *);
  int (*support_bzip2)(struct archive *);
  int (*support_xz)(struct archive *);
  int (*support_zstd)(struct archive *);
  int (*support_raw)(struct archive *);
  int (*support_empty)(struct archive *);
  int (*support_zip)(struct archive *);
  int (*set_read)(struct archive *, archive_read_callback *);
  int (*set_seek)(struct archive *, archive_seek_callback *);
  int (*set_data)(struct archive *, void *);
  int (*open)(struct archive *);
  int (*next_header)(struct archive *, struct archive_entry **);
  int (*data_block)(struct archive *, const void **buffer, size_t *count, int64_t *offset);
  int64_t (*filter_bytes)(struct archive *, int filter);
  int (*filter_count)(struct archive *);
  const char *(*error_string)(struct archive *);
  const char *(*pathname)(struct archive_entry *);
  mode_t (*file_type)(struct archive_entry *);
  int (*is_encrypted)(struct archive_entry *);
};

// Loads libarchive for the rest of the process. If it or a function is missing, the result is false, and dlerror(3)
// says why.
static inline bool archive_load(struct archive_functions *functions) {
  void *library = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CARCHIVE_FIND(member, name) ((*(void **)&functions->member = dlsym(library, name)) != NULL)
  return CARCHIVE_FIND(read_new, "archive_read_new") && CARCHIVE_FIND(read_free, "archive_read_free")
      && CARCHIVE_FIND(support_bzip2, "archive_read_support_filter_bzip2")
      && CARCHIVE_FIND(support_xz, "archive_read_support_filter_xz")
      && CARCHIVE_FIND(support_zstd, "archive_read_support_filter_zstd")
      && CARCHIVE_FIND(support_raw, "archive_read_support_format_raw")
      && CARCHIVE_FIND(support_empty, "archive_read_support_format_empty")
      && CARCHIVE_FIND(support_zip, "archive_read_support_format_zip_seekable")
      && CARCHIVE_FIND(set_read, "archive_read_set_read_callback")
      && CARCHIVE_FIND(set_seek, "archive_read_set_seek_callback")
      && CARCHIVE_FIND(set_data, "archive_read_set_callback_data") && CARCHIVE_FIND(open, "archive_read_open1")
      && CARCHIVE_FIND(next_header, "archive_read_next_header")
      && CARCHIVE_FIND(data_block, "archive_read_data_block") && CARCHIVE_FIND(filter_bytes, "archive_filter_bytes")
      && CARCHIVE_FIND(filter_count, "archive_filter_count")
      && CARCHIVE_FIND(error_string, "archive_error_string") && CARCHIVE_FIND(pathname, "archive_entry_pathname")
      && CARCHIVE_FIND(file_type, "archive_entry_filetype")
      && CARCHIVE_FIND(is_encrypted, "archive_entry_is_encrypted");
#undef CARCHIVE_FIND
}
