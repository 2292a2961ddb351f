#include <sqlite3.h>

/// Stops SQLite from counting the memory that it allocates. Swift cannot call `sqlite3_config`, because it is variadic.
/// Returns SQLITE_MISUSE if SQLite is already initialized.
static inline int csqlite_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
