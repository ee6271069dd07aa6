#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer with its command line; `read` is called with each input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*read)(const uint8_t *data, size_t size));
