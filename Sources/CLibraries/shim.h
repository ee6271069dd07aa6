// Parts of the system that Swift's modules lack: zlib, which Foundation and SwiftNIO link too, and glibc's malloc.
#ifndef ENTRUPY_SIM_LIBRARIES_H
#define ENTRUPY_SIM_LIBRARIES_H

#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef __GLIBC__
#include <malloc.h>

/// The number of bytes that the program has allocated. Takes time proportional to the number of free chunks.
static inline size_t entrupy_sim_allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/// Gives all free pages back to the system.
static inline void entrupy_sim_trim(void) { malloc_trim(0); }
#else
static inline size_t entrupy_sim_allocated(void) { return 0; }
static inline void entrupy_sim_trim(void) {}
#endif

#endif
