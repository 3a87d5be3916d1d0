// The functions of libcurl that are used. The library is loaded when the first message is sent over HTTP, so the program
// starts without it, and its headers are not needed to build. Names and numbers: curl/curl.h, which keeps them for as
// long as the library is called libcurl.so.4.
#pragma once
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct curl_functions {
  int (*global_init)(long flags);
  void *(*easy_init)(void);
  int (*easy_setopt)(void *handle, int option, ...);
  int (*easy_perform)(void *handle);
  int (*easy_getinfo)(void *handle, int info, ...);
  void (*easy_cleanup)(void *handle);
  const char *(*easy_strerror)(int code);
  void *(*slist_append)(void *list, const char *line);
  void (*slist_free_all)(void *list);
};

enum { CCURL_MESSAGE_BYTES = 256 };

// Loads libcurl for the rest of the process. If it or a function is missing, the result is false, and dlerror(3) says
// why.
static inline bool curl_load(struct curl_functions *functions) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  // Debian's build with another library for TLS.
  if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CCURL_FIND(member, name) ((*(void **)&functions->member = dlsym(library, name)) != NULL)
  return CCURL_FIND(global_init, "curl_global_init") && CCURL_FIND(easy_init, "curl_easy_init")
      && CCURL_FIND(easy_setopt, "curl_easy_setopt") && CCURL_FIND(easy_perform, "curl_easy_perform")
      && CCURL_FIND(easy_getinfo, "curl_easy_getinfo") && CCURL_FIND(easy_cleanup, "curl_easy_cleanup")
      && CCURL_FIND(easy_strerror, "curl_easy_strerror") && CCURL_FIND(slist_append, "curl_slist_append")
      && CCURL_FIND(slist_free_all, "curl_slist_free_all") && functions->global_init(3 /* CURL_GLOBAL_ALL */) == 0;
#undef CCURL_FIND
}

static size_t curl_discard(void *bytes, size_t size, size_t count, void *unused) {
  (void)bytes, (void)unused;
  return size * count;
}

// Sends one request by POST and waits for the answer, whose content is dropped. `headers` are lines that end in '\n'.
// Redirects are not followed. The result is 0 and `status` is the answer's, or the result is curl's error and `message`
// says what it is.
static inline int curl_post(
    struct curl_functions curl, const char *url, const char *body, long body_bytes, const char *headers,
    const char *agent, long timeout_milliseconds, long *status, char message[CCURL_MESSAGE_BYTES]) {
  message[0] = 0;
  *status = 0;
  void *handle = curl.easy_init();
  if (!handle) return 27;  // CURLE_OUT_OF_MEMORY
  void *list = curl.slist_append(NULL, "Expect:");
  for (const char *line = headers; *line;) {
    const char *end = strchr(line, '\n');
    if (!end) break;
    char *copy = strndup(line, (size_t)(end - line));
    if (copy) list = curl.slist_append(list, copy);
    free(copy);
    line = end + 1;
  }
  curl.easy_setopt(handle, 10010 /* CURLOPT_ERRORBUFFER */, message);
  curl.easy_setopt(handle, 10002 /* CURLOPT_URL */, url);
  curl.easy_setopt(handle, 181 /* CURLOPT_PROTOCOLS */, 3L /* HTTP and HTTPS */);
  curl.easy_setopt(handle, 60 /* CURLOPT_POSTFIELDSIZE */, body_bytes);
  curl.easy_setopt(handle, 10015 /* CURLOPT_POSTFIELDS */, body);
  curl.easy_setopt(handle, 10023 /* CURLOPT_HTTPHEADER */, list);
  curl.easy_setopt(handle, 10018 /* CURLOPT_USERAGENT */, agent);
  curl.easy_setopt(handle, 155 /* CURLOPT_TIMEOUT_MS */, timeout_milliseconds);
  curl.easy_setopt(handle, 99 /* CURLOPT_NOSIGNAL */, 1L);
  curl.easy_setopt(handle, 20011 /* CURLOPT_WRITEFUNCTION */, curl_discard);
  int code = curl.easy_perform(handle);
  if (code == 0) {
    curl.easy_getinfo(handle, 0x200002 /* CURLINFO_RESPONSE_CODE */, status);
  } else if (!message[0]) {
    strncpy(message, curl.easy_strerror(code), CCURL_MESSAGE_BYTES - 1);
    message[CCURL_MESSAGE_BYTES - 1] = 0;
  }
  curl.easy_cleanup(handle);
  curl.slist_free_all(list);
  return code;
}
