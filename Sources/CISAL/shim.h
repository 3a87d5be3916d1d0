#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

// Swift leaves out fields of arrays as long as this one.
static inline const uint8_t *inflate_undelivered(const struct inflate_state *state) {
  return state->tmp_out_buffer + state->tmp_out_processed;
}

// Swift leaves out macros that are computed.
enum { CISAL_LEVEL_2_BYTES = ISAL_DEF_LVL2_DEFAULT };
