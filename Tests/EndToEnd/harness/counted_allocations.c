// Preloaded into the server: counts how often it asks for memory, and how many steps SQLite's virtual machine takes. A file has
// the counts by thread: of all event loops, of each view, and of all other threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

// The functions of glibc that the ones below replace.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

// The beginnings of the names of the event loops' threads and of those that apply events to views.
static const char loops[] = "NIO-SGLTN-1-#", views[] = "view-";
// At first, a thread has the name of the one that started it, which may be an event loop. So its name is read that often.
enum { NAME_READS = 1000 };
// `SQLITE_STMTSTATUS_VM_STEP`.
enum { VM_STEP = 4 };
// Those of `counted_allocations.py`.
enum { ROWS = 32, LOOPS = 0, OTHERS = 1, VIEWS = 2 };
// Of a thread, with the zero at its end.
enum { NAME = 16 };

typedef struct {
  char name[NAME];
  uint64_t allocations, steps;
} row;

// The functions of SQLite. They are found before any thread is started.
static int (*step)(void *), (*status)(void *, int, int);
static row *rows;
static char lock;
static __thread int name_reads;
static __thread row *own;

__attribute__((constructor)) static void start(void) {
  step = (int (*)(void *))dlsym(RTLD_NEXT, "sqlite3_step");
  status = (int (*)(void *, int, int))dlsym(RTLD_NEXT, "sqlite3_stmt_status");
  const char *path = getenv("HANSARD_TEST_ALLOCATIONS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, ROWS * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) rows = mapped;
  close(file);
}

// The row of a view. Views without a row count as other threads.
static row *row_of(const char name[NAME]) {
  row *found = &rows[OTHERS];
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) continue;
  for (int index = VIEWS; index < ROWS; index++) {
    if (!rows[index].name[0]) memcpy(rows[index].name, name, NAME);
    if (strcmp(rows[index].name, name) == 0) {
      found = &rows[index];
      break;
    }
  }
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  return found;
}

// The row of the calling thread.
static row *current(void) {
  if (name_reads < NAME_READS) {
    char name[NAME] = "";
    name_reads++;
    own = &rows[OTHERS];
    if (prctl(PR_GET_NAME, name) != 0) return own;
    if (strncmp(name, loops, sizeof loops - 1) == 0) own = &rows[LOOPS];
    if (strncmp(name, views, sizeof views - 1) == 0) {
      own = row_of(name);
      name_reads = NAME_READS;
    }
  }
  return own;
}

static void note(void) {
  if (rows) __atomic_fetch_add(&current()->allocations, 1, __ATOMIC_RELAXED);
}

// Replaces the function of SQLite. A count of a statement grows until the statement is finalized.
int sqlite3_step(void *statement) {
  int before = status(statement, VM_STEP, 0);
  int result = step(statement);
  int taken = status(statement, VM_STEP, 0) - before;
  if (rows && taken > 0) __atomic_fetch_add(&current()->steps, (uint64_t)taken, __ATOMIC_RELAXED);
  return result;
}

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  note();
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  note();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  note();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
