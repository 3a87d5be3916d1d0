#pragma once
#include <stddef.h>

// Sends the entries of a log to a server by COPY in binary form, into the table of a store that is there.
void server_import(const char *log, const char *address, size_t rows_per_transaction);
// Reads every value of a store of a server with a binary cursor.
void server_step(const char *address);
