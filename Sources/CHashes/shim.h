// SHA-2 of the system's libcrypto. These functions take their state from the caller: they allocate nothing, look up no provider, and a
// static program gets their few files alone. OpenSSL 3 marks them as deprecated in favour of EVP, which does all of that.
#ifndef ENTRUPY_SIM_HASHES_H
#define ENTRUPY_SIM_HASHES_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

// Lets libcrypto look for the processor's instructions for hashes. In a static program the linker may place libcrypto's own call behind
// the end of `.init`, where nothing runs it: an upload then costs a third more. A shared libcrypto has run it, and does not export it.
extern void OPENSSL_cpuid_setup(void) __attribute__((weak));
static inline void entrupy_sim_prepare_hashes(void) {
    if (OPENSSL_cpuid_setup) OPENSSL_cpuid_setup();
}

#endif
