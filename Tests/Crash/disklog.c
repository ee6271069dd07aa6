// Logs, in order, a program's changes to the files below DISKLOG_ROOT: writes, renames, removals and synchronizations. From this
// log the power loss test makes the disks that a power cut could leave (powerloss.py). The same library breaks the disk: if the
// first byte of DISKLOG_FAULT is 1, writes fail with ENOSPC; if it is 2, synchronizing fails with EIO.
//
// The library is loaded with LD_PRELOAD. It writes a record before the recorded call returns. So the change of a record was made
// before any answer that leaves the process after the record's time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { NAME = 1, WRITE = 2, SIZE = 3, SYNC = 4, RENAME = 5, UNLINK = 6, FOLDER = 7, SYNC_BEGIN = 8 };

struct record {
    uint64_t time, inode, offset;
    uint32_t kind, text_length, data_length, padding;
};

static int log_file = -1;
static char root[PATH_MAX];
static volatile uint8_t *fault;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records;
// Inodes of files below the root. The system may reuse an inode for a new file.
static uint64_t known[1 << 16];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("DISKLOG_ROOT"), *path = getenv("DISKLOG_FILE"), *switches = getenv("DISKLOG_FAULT");
    if (folder == NULL || path == NULL || realpath(folder, root) == NULL) return;
    log_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (switches == NULL) return;
    int file = REAL(open)(switches, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *memory = mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) fault = memory;
    REAL(close)(file);
}

static int fails(int with, int code) {
    if (fault == NULL || *fault != with) return 0;
    errno = code;
    return 1;
}

static int is_known(uint64_t inode) {
    for (uint64_t slot = inode % (1 << 16), count = 0; count < (1 << 16); slot = (slot + 1) % (1 << 16), count++) {
        if (known[slot] == inode) return 1;
        if (known[slot] == 0) return 0;
    }
    return 0;
}

static void know(uint64_t inode) {
    uint64_t slot = inode % (1 << 16);
    while (known[slot] != 0 && known[slot] != inode) slot = (slot + 1) % (1 << 16);
    known[slot] = inode;
}

// Appends a record and returns its number. The caller must hold the lock.
static uint64_t append(enum kind kind, uint64_t inode, uint64_t offset, const char *text, size_t text_length, const void *data,
                       size_t data_length) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record record = {(uint64_t)now.tv_sec * 1000000000 + now.tv_nsec, inode, offset, kind, text_length, data_length, 0};
    struct iovec parts[3] = {{&record, sizeof record}, {(void *)text, text_length}, {(void *)data, data_length}};
    size_t length = sizeof record + text_length + data_length;
    if (REAL(writev)(log_file, parts, 3) != (ssize_t)length) abort();
    return records++;
}

static int path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

// Finds the absolute path of a name. Returns false if it is not below the root.
static int path_at(int folder, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else if (folder == AT_FDCWD) {
        char here[PATH_MAX];
        if (getcwd(here, sizeof here) == NULL) return 0;
        snprintf(path, PATH_MAX, "%.2000s/%.2000s", here, name);
    } else {
        char there[PATH_MAX];
        path_of(folder, there);
        snprintf(path, PATH_MAX, "%.2000s/%.2000s", there, name);
    }
    return log_file >= 0 && strncmp(path, root, strlen(root)) == 0;
}

static uint64_t inode_of(int file) {
    struct stat facts;
    if (log_file < 0 || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
    return facts.st_ino;
}

static int opened(int file, int flags) {
    char path[PATH_MAX];
    int code = errno;
    uint64_t inode = file < 0 || !(flags & (O_CREAT | O_TRUNC)) ? 0 : inode_of(file);
    if (inode != 0 && path_of(file, path)) {
        pthread_mutex_lock(&lock);
        know(inode);
        append(NAME, inode, 0, path, strlen(path), NULL, 0);
        if (flags & O_TRUNC) append(SIZE, inode, 0, NULL, 0, NULL, 0);
        pthread_mutex_unlock(&lock);
    }
    errno = code;
    return file;
}

static int open_at(const char *function, int folder, const char *path, int flags, va_list arguments) {
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    int (*open)(int, const char *, int, ...) = real(function);
    return opened(open(folder, path, flags, mode), flags);
}

#define OPEN(name, variant)                                        \
    int name(const char *path, int flags, ...) {                   \
        va_list arguments;                                         \
        va_start(arguments, flags);                                \
        int file = open_at(variant, AT_FDCWD, path, flags, arguments); \
        va_end(arguments);                                         \
        return file;                                               \
    }
OPEN(open, "openat")
OPEN(open64, "openat64")

#define OPEN_AT(name)                                            \
    int name(int folder, const char *path, int flags, ...) {     \
        va_list arguments;                                       \
        va_start(arguments, flags);                              \
        int file = open_at(#name, folder, path, flags, arguments); \
        va_end(arguments);                                       \
        return file;                                             \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int creat(const char *path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

int mkostemp(char *path, int flags) {
    return opened(REAL(mkostemp)(path, flags), O_CREAT);
}
int mkstemp(char *path) { return opened(REAL(mkstemp)(path), O_CREAT); }

static ssize_t write_at(int file, const void *data, size_t length, off_t offset, int is_positioned) {
    uint64_t inode = inode_of(file);
    if (inode == 0 || !is_known(inode))
        return is_positioned ? REAL(pwrite)(file, data, length, offset) : REAL(write)(file, data, length);
    if (fails(1, ENOSPC)) return -1;
    pthread_mutex_lock(&lock);
    ssize_t count = is_positioned ? REAL(pwrite)(file, data, length, offset) : REAL(write)(file, data, length);
    if (count > 0) {
        uint64_t place = is_positioned ? (uint64_t)offset : (uint64_t)lseek(file, 0, SEEK_CUR) - count;
        append(WRITE, inode, place, NULL, 0, data, count);
    }
    pthread_mutex_unlock(&lock);
    return count;
}

ssize_t write(int file, const void *data, size_t length) { return write_at(file, data, length, 0, 0); }
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return write_at(file, data, length, offset, 1); }
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    return write_at(file, data, length, offset, 1);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    uint64_t inode = inode_of(file);
    if (inode == 0 || !is_known(inode)) return REAL(writev)(file, parts, count);
    return count > 0 ? write(file, parts[0].iov_base, parts[0].iov_len) : 0;
}

// Logs bytes that the kernel copied between files. They are read through another descriptor, because this one may be write-only.
static ssize_t copied(int file, off64_t start, ssize_t count) {
    char buffer[65536], link[64];
    uint64_t inode = inode_of(file);
    if (count <= 0 || inode == 0 || !is_known(inode)) return count;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int reader = REAL(open)(link, O_RDONLY | O_CLOEXEC);
    pthread_mutex_lock(&lock);
    for (ssize_t done = 0; done < count;) {
        size_t part = count - done < (ssize_t)sizeof buffer ? count - done : sizeof buffer;
        ssize_t length = pread(reader, buffer, part, start + done);
        if (length <= 0) abort();
        append(WRITE, inode, start + done, NULL, 0, buffer, length);
        done += length;
    }
    pthread_mutex_unlock(&lock);
    REAL(close)(reader);
    return count;
}

ssize_t sendfile(int target, int source, off_t *offset, size_t length) {
    if (is_known(inode_of(target)) && fails(1, ENOSPC)) return -1;
    off64_t start = lseek(target, 0, SEEK_CUR);
    return copied(target, start, REAL(sendfile)(target, source, offset, length));
}
ssize_t sendfile64(int target, int source, off64_t *offset, size_t length) { return sendfile(target, source, offset, length); }

ssize_t copy_file_range(int source, off64_t *from, int target, off64_t *to, size_t length, unsigned flags) {
    if (is_known(inode_of(target)) && fails(1, ENOSPC)) return -1;
    off64_t start = to ? *to : lseek(target, 0, SEEK_CUR);
    return copied(target, start, REAL(copy_file_range)(source, from, target, to, length, flags));
}

static int sized(int file, off64_t size, int status) {
    uint64_t inode = status == 0 ? inode_of(file) : 0;
    if (inode != 0 && is_known(inode)) {
        pthread_mutex_lock(&lock);
        append(SIZE, inode, size, NULL, 0, NULL, 0);
        pthread_mutex_unlock(&lock);
    }
    return status;
}

int ftruncate(int file, off_t size) { return sized(file, size, REAL(ftruncate)(file, size)); }
int ftruncate64(int file, off64_t size) { return sized(file, size, REAL(ftruncate64)(file, size)); }

// Synchronizes a file and logs it. Only data written before the call began is safe when it ends.
static int synchronized(int file, int (*synchronize)(int)) {
    char path[PATH_MAX];
    struct stat facts;
    if (log_file < 0 || fstat(file, &facts) != 0 || !path_of(file, path)) return synchronize(file);
    if (fails(2, EIO)) return -1;
    pthread_mutex_lock(&lock);
    uint64_t number = append(SYNC_BEGIN, facts.st_ino, 0, path, strlen(path), NULL, 0);
    pthread_mutex_unlock(&lock);
    int status = synchronize(file);
    if (status == 0) {
        pthread_mutex_lock(&lock);
        append(SYNC, facts.st_ino, number, path, strlen(path), NULL, 0);
        pthread_mutex_unlock(&lock);
    }
    return status;
}

int fsync(int file) { return synchronized(file, REAL(fsync)); }
int fdatasync(int file) { return synchronized(file, REAL(fdatasync)); }

static int renamed(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char paths[2 * PATH_MAX], target[PATH_MAX];
    int is_ours = path_at(from_folder, from, paths) && path_at(to_folder, to, target);
    if (is_ours) pthread_mutex_lock(&lock);
    int status = REAL(renameat2)(from_folder, from, to_folder, to, flags);
    if (is_ours && status == 0) {
        size_t length = strlen(paths) + 1;
        memcpy(paths + length, target, strlen(target));
        append(RENAME, 0, 0, paths, length + strlen(target), NULL, 0);
    }
    if (is_ours) pthread_mutex_unlock(&lock);
    return status;
}

int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return renamed(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return renamed(a, from, b, to, flags); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    int is_ours = path_at(folder, name, path);
    if (is_ours) pthread_mutex_lock(&lock);
    int status = REAL(unlinkat)(folder, name, flags);
    if (is_ours && status == 0) append(UNLINK, 0, 0, path, strlen(path), NULL, 0);
    if (is_ours) pthread_mutex_unlock(&lock);
    return status;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    int status = unlink(path);
    return status != 0 && errno == EISDIR ? rmdir(path) : status;
}

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int is_ours = path_at(folder, name, path);
    if (is_ours) pthread_mutex_lock(&lock);
    int status = REAL(mkdirat)(folder, name, mode);
    if (is_ours && status == 0) append(FOLDER, 0, 0, path, strlen(path), NULL, 0);
    if (is_ours) pthread_mutex_unlock(&lock);
    return status;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
