#ifndef ENTRUPY_SIM_DESCRIPTION_H
#define ENTRUPY_SIM_DESCRIPTION_H

#include <stddef.h>

/// The bytes of `openapi/entrupy-sim.yaml`, and their number in `count`. They live as long as the process.
const unsigned char *entrupy_sim_description(size_t *count);

#endif
