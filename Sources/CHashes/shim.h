// SHA-2 of the system's libcrypto. These functions take their state from the caller: they allocate nothing, look up no provider, and a
// static program gets their few files alone. OpenSSL 3 marks them as deprecated in favour of EVP, which does all of that.
#ifndef ENTRUPY_SIM_HASHES_H
#define ENTRUPY_SIM_HASHES_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#endif
