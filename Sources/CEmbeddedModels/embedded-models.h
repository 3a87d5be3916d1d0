#pragma once

#include <stddef.h>

// Swift has no static initialisers and Linux no Objective-C runtime, so nothing announces the models that the
// build tool plugin puts into a program. Each generated file places one function pointer in the ELF section
// "ocd_models" instead; the linker bounds that section with the two symbols below. They are weak: a program
// without a model has neither the section nor the symbols.
typedef void (*ocd_model_registration)(void);

extern const ocd_model_registration __start_ocd_models[] __attribute__((weak, visibility("hidden")));
extern const ocd_model_registration __stop_ocd_models[] __attribute__((weak, visibility("hidden")));

/// Calls every registration function linked into the same executable or library as this code.
static inline void ocd_register_models(void) {
  for (const ocd_model_registration *next = __start_ocd_models; next < __stop_ocd_models; next++) {
    (*next)();
  }
}
