import CMalloc
import NIOCore

/// Limits how much freed memory glibc's `malloc` keeps. With its defaults, half of the server's heap was free after
/// 200,000 requests of mixed traffic, for two reasons: `malloc` creates up to eight arenas per core, which do not share
/// free memory, and each large block that is freed raises the thresholds below
/// (https://www.gnu.org/software/libc/manual/html_node/Malloc-Tunable-Parameters.html).
enum MallocSettings {
  private static let arenasPerCore = 2
  /// If more bytes than this are free at the end of an arena, they go back to the system.
  private static let trimThreshold: Int32 = 128 * 1024
  /// A block of at least this many bytes gets its own mapping, which returns to the system when the block is freed.
  private static let mappingThreshold: Int32 = 256 * 1024

  /// Must be called before the server starts threads, because existing arenas are not removed.
  static func limitFreeMemory() {
    // These calls fail only for values out of range. The defaults then remain in effect.
    _ = mallopt(M_ARENA_MAX, Int32(clamping: arenasPerCore * System.coreCount))
    _ = mallopt(M_TRIM_THRESHOLD, trimThreshold)
    _ = mallopt(M_MMAP_THRESHOLD, mappingThreshold)
  }
}
