/* A disk for tests and measurements, by LD_PRELOAD, for files with a path that has DISK_PATH in it.
 * DISK_SYNC_MS: each sync takes so many milliseconds.
 * DISK_FAIL: while this file is there, each sync fails.
 * DISK_TRACE: a file that gets each change: kind, path, offset, length, bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int named(int fd, char *path, size_t size) {
  const char *part = getenv("DISK_PATH");
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, size - 1);
  if (!part || n <= 0) return 0;
  path[n] = 0;
  return strstr(path, part) != NULL;
}

static void note(char kind, const char *path, uint64_t at, uint64_t length, const void *bytes) {
  const char *trace = getenv("DISK_TRACE");
  static int out = -1;
  static ssize_t (*put)(int, const void *, size_t);
  if (!trace) return;
  if (!put) put = dlsym(RTLD_NEXT, "write");
  pthread_mutex_lock(&lock);
  if (out < 0) out = open(trace, O_WRONLY | O_CREAT | O_APPEND, 0600);
  char head[4300];
  int n = snprintf(head, sizeof head, "%c %s %llu %llu\n", kind, path, (unsigned long long)at, (unsigned long long)length);
  put(out, head, n);
  if (bytes && length) put(out, bytes, length);
  pthread_mutex_unlock(&lock);
}

static void slow(void) {
  const char *ms = getenv("DISK_SYNC_MS");
  if (!ms) return;
  long us = atol(ms) * 1000;
  struct timespec time = {us / 1000000, (us % 1000000) * 1000};
  nanosleep(&time, NULL);
}

static int fails(void) {
  const char *file = getenv("DISK_FAIL");
  if (!file || access(file, F_OK) != 0) return 0;
  errno = EIO;
  return 1;
}

#define SYNC(name) \
  int name(int fd) { \
    static int (*real)(int); \
    char path[4096]; \
    if (!real) real = dlsym(RTLD_NEXT, #name); \
    if (!named(fd, path, sizeof path)) return real(fd); \
    if (fails()) return -1; \
    note('b', path, 0, 0, NULL); \
    int result = real(fd); \
    slow(); \
    if (result == 0) note('s', path, 0, 0, NULL); \
    return result; \
  }
SYNC(fsync)
SYNC(fdatasync)

#define PWRITE(name, offset_t_) \
  ssize_t name(int fd, const void *bytes, size_t length, offset_t_ at) { \
    static ssize_t (*real)(int, const void *, size_t, offset_t_); \
    char path[4096]; \
    if (!real) real = dlsym(RTLD_NEXT, #name); \
    ssize_t n = real(fd, bytes, length, at); \
    if (getenv("DISK_TRACE") && n > 0 && named(fd, path, sizeof path)) note('w', path, at, n, bytes); \
    return n; \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset_t_) \
  int name(int fd, offset_t_ length) { \
    static int (*real)(int, offset_t_); \
    char path[4096]; \
    if (!real) real = dlsym(RTLD_NEXT, #name); \
    int result = real(fd, length); \
    if (getenv("DISK_TRACE") && result == 0 && named(fd, path, sizeof path)) note('t', path, length, 0, NULL); \
    return result; \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)
