#include <stddef.h>
#include <stdint.h>

// The interface of libFuzzer for programs with a main function of their own (FuzzerInterface.h of LLVM).
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
