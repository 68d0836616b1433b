/* Functions that programs built on a new glibc call and that glibc 2.28 did not have. Only linked by stubs.py's folder,
   where what is used of it goes into the native module, hidden. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Until 2.33, stat and its like were inline functions that called these, with the version of struct stat. */
#if defined(__x86_64__)
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif
extern int __xstat(int version, const char *path, struct stat *into);
extern int __lxstat(int version, const char *path, struct stat *into);
extern int __fxstat(int version, int file, struct stat *into);
extern int __fxstatat(int version, int folder, const char *path, struct stat *into, int flags);

HIDDEN int stat(const char *path, struct stat *into) { return __xstat(STAT_VERSION, path, into); }
HIDDEN int lstat(const char *path, struct stat *into) { return __lxstat(STAT_VERSION, path, into); }
HIDDEN int fstat(int file, struct stat *into) { return __fxstat(STAT_VERSION, file, into); }
HIDDEN int fstatat(int folder, const char *path, struct stat *into, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, into, flags);
}

/* Since 2.32 libstdc++ skips atomic operations where this is true. False is right for any process. */
HIDDEN char __libc_single_threaded = 0;

/* Since 2.36 libstdc++'s std::random_device uses this; a seed that is not random cannot be reported, so it ends the
   process, as glibc's does. */
HIDDEN uint32_t arc4random(void) {
    uint32_t word;
    while (getrandom(&word, sizeof word, 0) != (ssize_t)sizeof word) {
        if (errno != EINTR) __builtin_trap();
    }
    return word;
}
