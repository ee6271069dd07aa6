#ifndef ENTRUPY_SIM_RESOURCES_H
#define ENTRUPY_SIM_RESOURCES_H

/// A file: its name, and its bytes, which end with a NUL and live as long as the process.
typedef struct {
    const char *name;
    const unsigned char *bytes;
} entrupy_sim_resource;

/// All files. The last entry has no name.
const entrupy_sim_resource *entrupy_sim_resources(void);

#endif
