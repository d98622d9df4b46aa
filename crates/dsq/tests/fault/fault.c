/* A layer between a program and the C library that lists the program's changes on disk under a directory, and lets the n-th
   of these calls fail. For tests on Linux: LD_PRELOAD, with

   DSQ_FAULT_DIR  the directory
   DSQ_FAULT_LOG  a file for the list, one line per call
   DSQ_FAULT_AT   the number of the call that fails, from 1 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int count;

static int here(const char *path) {
    const char *dir = getenv("DSQ_FAULT_DIR");
    return dir && path && strncmp(path, dir, strlen(dir)) == 0;
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    if (len < 0)
        return 0;
    path[len] = 0;
    return here(path);
}

/* Logs a call; returns 1 if the call must fail. */
static int fails(const char *call, const char *path) {
    int number = atomic_fetch_add(&count, 1) + 1;
    const char *log = getenv("DSQ_FAULT_LOG");
    if (log) {
        char line[PATH_MAX + 64];
        int len = snprintf(line, sizeof line, "%s %s\n", call, path);
        int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        syscall(SYS_write, fd, line, len);
        syscall(SYS_close, fd);
    }
    const char *at = getenv("DSQ_FAULT_AT");
    if (!at || atoi(at) != number)
        return 0;
    errno = number % 2 ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t len) {
    char path[PATH_MAX];
    if (path_of(fd, path)) {
        if (fails("write", path)) {
            /* A disk that fills up first accepts a part. */
            if (len > 1)
                REAL(write)(fd, bytes, len / 2);
            return -1;
        }
    }
    return REAL(write)(fd, bytes, len);
}

static int open_with(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    if (here(path) && (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) && fails("open", path))
        return -1;
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_with(REAL(open), path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_with(REAL(open64), path, flags, mode);
}

static int on_file(const char *call, int fd) {
    char path[PATH_MAX];
    return path_of(fd, path) && fails(call, path);
}

int fsync(int fd) {
    return on_file("fsync", fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd) {
    return on_file("fsync", fd) ? -1 : REAL(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t len) {
    return on_file("truncate", fd) ? -1 : REAL(ftruncate64)(fd, len);
}

int rename(const char *from, const char *to) {
    return here(to) && fails("rename", to) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path) {
    return here(path) && fails("unlink", path) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    return here(path) && fails("mkdir", path) ? -1 : REAL(mkdir)(path, mode);
}
