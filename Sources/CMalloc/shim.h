// What the C library's allocator can be told, which Foundation's modules leave out.
#include <malloc.h>
