// The OpenAPI description, as part of the binary. SwiftPM's embedded resources are Swift array literals; for this file the compiler
// takes a minute, and this way a fraction of a second.
#include "CDescription.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char bytes[] = {
#embed "../../openapi/entrupy-sim.yaml"
};

const unsigned char *entrupy_sim_description(size_t *count) {
    *count = sizeof(bytes);
    return bytes;
}
