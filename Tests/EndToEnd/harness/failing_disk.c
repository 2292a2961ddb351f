// Preloaded into the server: reads, writes and syncs of some files fail or wait while a mapped file says so. The server is
// told which files by a part of their path.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// As failing_disk.py writes it.
struct control {
  int32_t reads_fail;
  int32_t writes_fail;
  int32_t syncs_wait;
  char path_part[244];
};

static const volatile struct control *control;

__attribute__((constructor)) static void map_control(void) {
  const char *path = getenv("HANSARD_TEST_DISK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) control = mapped;
  close(file);
}

static int is_chosen(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, (const char *)control->path_part) != NULL;
}

static ssize_t fail(void) {
  errno = EIO;
  return -1;
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
  static ssize_t (*real)(int, void *, size_t, off64_t);
  if (!real) real = (ssize_t(*)(int, void *, size_t, off64_t))dlsym(RTLD_NEXT, "pread64");
  if (control && control->reads_fail && is_chosen(descriptor)) return fail();
  return real(descriptor, bytes, count, offset);
}

// The same function: on a 64-bit system callers may use either name.
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
  return pread64(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (!real) real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  if (control && control->writes_fail && is_chosen(descriptor)) return fail();
  return real(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = 5 * 1000 * 1000};
  while (control && control->syncs_wait && is_chosen(descriptor)) nanosleep(&pause, NULL);
  return real(descriptor);
}
