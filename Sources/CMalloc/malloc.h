// glibc's settings of its allocator, which Swift's Glibc module leaves out.
#if defined(__linux__)
#include_next <malloc.h>
#endif
