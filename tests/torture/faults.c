/* Calls of the system that fail, or kill the process, when they are asked for the n-th time.

   Loaded before libc, so that Python, Polars and SQLite all go through here. Only files below one
   folder count. A process arms it for itself, after a fork. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, RENAME = 8, OTHER = 16 };

static char under[4096];
static int armed, is_lasting, error;
static long nth, count;

void fault_arm(const char *folder, int kinds, long n, int with_error, int lasting) {
    snprintf(under, sizeof under, "%s", folder);
    nth = n, count = 0, error = with_error, is_lasting = lasting, armed = kinds;
}

long fault_count(void) { return count; }
void fault_disarm(void) { armed = 0; }

static int falls(int kind) {
    if (!(armed & kind)) return 0;
    long now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (now != nth && !(is_lasting && nth && now > nth)) return 0;
    if (error == 0) kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

static int is_below(const char *path) {
    /* the process stands in the folder, and names relative to a descriptor are of what it opened */
    return path && (path[0] != '/' || strncmp(path, under, strlen(under)) == 0);
}

static int is_file_below(int file) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return path[0] == '/' && is_below(path);
}

#define PATH(kind, result, name, parameters, arguments, path)                                  \
    result name parameters {                                                                   \
        static result(*real) parameters;                                                       \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                             \
        if (armed && is_below(path) && falls(kind)) return -1;                                 \
        return real arguments;                                                                 \
    }
#define DESCRIPTOR(kind, result, name, parameters, arguments)                                  \
    result name parameters {                                                                   \
        static result(*real) parameters;                                                       \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                             \
        if (armed && is_file_below(file) && falls(kind)) return -1;                            \
        return real arguments;                                                                 \
    }
#define OPENS(name)                                                                            \
    int name(const char *path, int flags, ...) {                                               \
        static int (*real)(const char *, int, ...);                                            \
        va_list more;                                                                          \
        va_start(more, flags);                                                                 \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                \
        va_end(more);                                                                          \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                             \
        if (armed && is_below(path) && falls(OPEN)) return -1;                                 \
        return real(path, flags, mode);                                                        \
    }
#define OPENS_AT(name)                                                                         \
    int name(int at, const char *path, int flags, ...) {                                       \
        static int (*real)(int, const char *, int, ...);                                       \
        va_list more;                                                                          \
        va_start(more, flags);                                                                 \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;                \
        va_end(more);                                                                          \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                             \
        if (armed && is_below(path) && falls(OPEN)) return -1;                                 \
        return real(at, path, flags, mode);                                                    \
    }

OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)
DESCRIPTOR(WRITE, ssize_t, write, (int file, const void *data, size_t n), (file, data, n))
DESCRIPTOR(WRITE, ssize_t, writev, (int file, const struct iovec *data, int n), (file, data, n))
DESCRIPTOR(WRITE, ssize_t, pwrite, (int file, const void *data, size_t n, off_t at), (file, data, n, at))
DESCRIPTOR(WRITE, ssize_t, pwrite64, (int file, const void *data, size_t n, off64_t at), (file, data, n, at))
DESCRIPTOR(WRITE, ssize_t, copy_file_range,
           (int from, off64_t *start, int file, off64_t *end, size_t n, unsigned flags),
           (from, start, file, end, n, flags))
DESCRIPTOR(WRITE, ssize_t, sendfile64, (int file, int from, off64_t *at, size_t n), (file, from, at, n))
DESCRIPTOR(WRITE, ssize_t, sendfile, (int file, int from, off_t *at, size_t n), (file, from, at, n))
DESCRIPTOR(SYNC, int, fsync, (int file), (file))
DESCRIPTOR(SYNC, int, fdatasync, (int file), (file))
PATH(RENAME, int, rename, (const char *from, const char *to), (from, to), to)
PATH(RENAME, int, renameat, (int f, const char *from, int t, const char *to), (f, from, t, to), to)
PATH(RENAME, int, renameat2, (int f, const char *from, int t, const char *to, unsigned flags),
     (f, from, t, to, flags), to)
PATH(RENAME, int, link, (const char *from, const char *to), (from, to), to)
PATH(RENAME, int, linkat, (int f, const char *from, int t, const char *to, int flags),
     (f, from, t, to, flags), to)
PATH(OTHER, int, unlink, (const char *path), (path), path)
PATH(OTHER, int, unlinkat, (int at, const char *path, int flags), (at, path, flags), path)
PATH(OTHER, int, rmdir, (const char *path), (path), path)
PATH(OTHER, int, mkdir, (const char *path, mode_t mode), (path, mode), path)
PATH(OTHER, int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), path)
PATH(OTHER, int, chmod, (const char *path, mode_t mode), (path, mode), path)
