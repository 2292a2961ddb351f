// Preloaded into the server: its clocks show what a file shifts them by. Two numbers of 8 bytes, in seconds: for the wall
// clock, and for the clock that counts the time since the machine started.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shifts;

__attribute__((constructor)) static void map_shifts(void) {
  const char *path = getenv("HANSARD_TEST_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) shifts = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *shown) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, shown);
  if (result != 0 || !shifts) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) shown->tv_sec += shifts[0];
  if (clock == CLOCK_BOOTTIME) shown->tv_sec += shifts[1];
  return 0;
}

int gettimeofday(struct timeval *restrict shown, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  shown->tv_sec = now.tv_sec;
  shown->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *shown) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (shown) *shown = now.tv_sec;
  return now.tv_sec;
}
