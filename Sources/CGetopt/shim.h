// getopt_long(3): part of the C library, but of no module that Swift has for it.
#include <getopt.h>
