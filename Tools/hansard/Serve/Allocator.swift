import CMalloc
import NIOCore

/// What `malloc` of glibc keeps of freed memory. By its defaults, half of the server's heap was free after ten minutes of
/// mixed traffic: it made up to eight arenas for each core, memory that is free in one arena does not serve the others, and
/// one large block that was freed raised the limit from which memory goes back to the system
/// (https://www.gnu.org/software/libc/manual/html_node/Malloc-Tunable-Parameters.html).
enum Allocator {
  private static let arenasPerCore = 2
  /// An arena that has more bytes than this free at its end gives them back.
  private static let trimThreshold: Int32 = 128 * 1024
  /// A block of more bytes than this has a mapping of its own, which goes back to the system at once when it is freed.
  private static let mappingThreshold: Int32 = 256 * 1024

  /// Called before the process starts threads: the arenas that exist by then stay.
  static func limitFreeMemory() {
    // These fail only for values out of range; the server then has the defaults.
    _ = mallopt(M_ARENA_MAX, Int32(clamping: arenasPerCore * System.coreCount))
    _ = mallopt(M_TRIM_THRESHOLD, trimThreshold)
    _ = mallopt(M_MMAP_THRESHOLD, mappingThreshold)
  }
}
