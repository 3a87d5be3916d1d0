// The functions of libpq that are used. The library is loaded when the first store of a PostgreSQL server is opened, so
// the program starts without it, and its headers are not needed to build. Names, types and values: libpq-fe.h of
// PostgreSQL 14 and later.
#pragma once
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct pg_conn;
struct pg_result;
struct pg_conninfo_option {
  char *keyword;
  char *envvar;
  char *compiled;
  char *val;
  char *label;
  char *dispchar;
  int dispsize;
};

enum { CPQ_CONNECTION_OK = 0 };
enum {
  CPQ_EMPTY_QUERY = 0,
  CPQ_COMMAND_OK = 1,
  CPQ_TUPLES_OK = 2,
  CPQ_COPY_OUT = 3,
  CPQ_COPY_IN = 4,
  CPQ_BAD_RESPONSE = 5,
  CPQ_NONFATAL_ERROR = 6,
  CPQ_FATAL_ERROR = 7,
  CPQ_PIPELINE_SYNC = 10,
  CPQ_PIPELINE_ABORTED = 11
};
enum { CPQ_IDLE = 0, CPQ_ACTIVE = 1, CPQ_IN_TRANSACTION = 2, CPQ_IN_ERROR = 3, CPQ_UNKNOWN = 4 };
// PG_DIAG_…
enum { CPQ_DIAG_SQLSTATE = 'C', CPQ_DIAG_MESSAGE = 'M', CPQ_DIAG_DETAIL = 'D', CPQ_DIAG_CONSTRAINT = 'n',
       // In English, whatever the language of the messages is.
       CPQ_DIAG_SEVERITY = 'V' };

typedef void cpq_notice_receiver(void *argument, const struct pg_result *);

struct cpq_functions {
  struct pg_conn *(*connect)(const char *const *keywords, const char *const *values, int expand_dbname);
  void (*finish)(struct pg_conn *);
  int (*status)(const struct pg_conn *);
  int (*transaction_status)(const struct pg_conn *);
  char *(*error_message)(const struct pg_conn *);
  const char *(*parameter_status)(const struct pg_conn *, const char *name);
  int (*server_version)(const struct pg_conn *);
  char *(*database)(const struct pg_conn *);
  char *(*host)(const struct pg_conn *);
  char *(*port)(const struct pg_conn *);
  cpq_notice_receiver *(*set_notice_receiver)(struct pg_conn *, cpq_notice_receiver *, void *argument);
  struct pg_result *(*exec)(struct pg_conn *, const char *sql);
  int (*send_query)(
      struct pg_conn *, const char *sql, int count, const uint32_t *types, const char *const *values,
      const int *lengths, const int *formats, int result_format);
  int (*enter_pipeline)(struct pg_conn *);
  int (*exit_pipeline)(struct pg_conn *);
  int (*pipeline_sync)(struct pg_conn *);
  struct pg_result *(*get_result)(struct pg_conn *);
  int (*put_copy_data)(struct pg_conn *, const char *bytes, int count);
  int (*put_copy_end)(struct pg_conn *, const char *error);
  int (*get_copy_data)(struct pg_conn *, char **bytes, int async);
  void (*free_memory)(void *);
  void (*clear)(struct pg_result *);
  int (*result_status)(const struct pg_result *);
  char *(*result_field)(const struct pg_result *, int field);
  char *(*result_message)(const struct pg_result *);
  int (*row_count)(const struct pg_result *);
  int (*column_count)(const struct pg_result *);
  uint32_t (*column_type)(const struct pg_result *, int column);
  int (*is_null)(const struct pg_result *, int row, int column);
  char *(*value)(const struct pg_result *, int row, int column);
  int (*value_length)(const struct pg_result *, int row, int column);
  char *(*changed_count)(struct pg_result *);
  char *(*command)(struct pg_result *);
  int (*consume_input)(struct pg_conn *);
  int (*is_busy)(struct pg_conn *);
  struct pg_conninfo_option *(*parse_address)(const char *address, char **error);
  void (*free_address)(struct pg_conninfo_option *);
  void *(*get_cancel)(struct pg_conn *);
  int (*cancel)(void *, char *error, int error_size);
  void (*free_cancel)(void *);
};

// Why the server has ended a connection. A reason that arrives while the connection is idle is a notice to libpq, and the
// next statement fails without it.
struct cpq_end_reason {
  char *(*result_field)(const struct pg_result *, int field);
  char message[256];
};
static inline const char *cpq_end_reason_text(const struct cpq_end_reason *reason) { return reason->message; }

// Other notices of the server are not for a program's output.
static inline void cpq_receive_notice(void *argument, const struct pg_result *result) {
  struct cpq_end_reason *reason = (struct cpq_end_reason *)argument;
  const char *severity = reason->result_field(result, CPQ_DIAG_SEVERITY);
  const char *message = reason->result_field(result, CPQ_DIAG_MESSAGE);
  if (severity && message && (!strcmp(severity, "FATAL") || !strcmp(severity, "PANIC")))
    snprintf(reason->message, sizeof reason->message, "%s", message);
}
static inline void cpq_receive_notices(
    const struct cpq_functions *functions, struct pg_conn *connection, struct cpq_end_reason *reason) {
  *reason = (struct cpq_end_reason){functions->result_field, ""};
  functions->set_notice_receiver(connection, cpq_receive_notice, reason);
}

// Loads libpq for the rest of the process. If it or a function is missing, the result is false, and dlerror(3) says why.
static inline bool cpq_load(struct cpq_functions *functions) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CPQ_FIND(member, name) ((*(void **)&functions->member = dlsym(library, name)) != NULL)
  return CPQ_FIND(connect, "PQconnectdbParams") && CPQ_FIND(finish, "PQfinish") && CPQ_FIND(status, "PQstatus")
      && CPQ_FIND(transaction_status, "PQtransactionStatus") && CPQ_FIND(error_message, "PQerrorMessage")
      && CPQ_FIND(parameter_status, "PQparameterStatus") && CPQ_FIND(server_version, "PQserverVersion")
      && CPQ_FIND(database, "PQdb") && CPQ_FIND(host, "PQhost") && CPQ_FIND(port, "PQport")
      && CPQ_FIND(set_notice_receiver, "PQsetNoticeReceiver") && CPQ_FIND(exec, "PQexec")
      && CPQ_FIND(send_query, "PQsendQueryParams") && CPQ_FIND(enter_pipeline, "PQenterPipelineMode")
      && CPQ_FIND(exit_pipeline, "PQexitPipelineMode") && CPQ_FIND(pipeline_sync, "PQpipelineSync")
      && CPQ_FIND(get_result, "PQgetResult") && CPQ_FIND(put_copy_data, "PQputCopyData")
      && CPQ_FIND(put_copy_end, "PQputCopyEnd") && CPQ_FIND(get_copy_data, "PQgetCopyData")
      && CPQ_FIND(free_memory, "PQfreemem") && CPQ_FIND(clear, "PQclear")
      && CPQ_FIND(result_status, "PQresultStatus") && CPQ_FIND(result_field, "PQresultErrorField")
      && CPQ_FIND(result_message, "PQresultErrorMessage") && CPQ_FIND(row_count, "PQntuples")
      && CPQ_FIND(column_count, "PQnfields") && CPQ_FIND(column_type, "PQftype") && CPQ_FIND(is_null, "PQgetisnull")
      && CPQ_FIND(value, "PQgetvalue") && CPQ_FIND(value_length, "PQgetlength")
      && CPQ_FIND(changed_count, "PQcmdTuples") && CPQ_FIND(command, "PQcmdStatus")
      && CPQ_FIND(consume_input, "PQconsumeInput") && CPQ_FIND(is_busy, "PQisBusy")
      && CPQ_FIND(parse_address, "PQconninfoParse")
      && CPQ_FIND(free_address, "PQconninfoFree") && CPQ_FIND(get_cancel, "PQgetCancel")
      && CPQ_FIND(cancel, "PQcancel") && CPQ_FIND(free_cancel, "PQfreeCancel");
#undef CPQ_FIND
}
