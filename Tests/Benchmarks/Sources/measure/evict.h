#pragma once
#include <stdbool.h>

// `paths` ends with NULL.
bool evict_all(char **paths);
