import ChatPrimitives
import Foundation

/// Divides the limit on open files between connections and downloads.
enum OpenFiles {
  /// Files reserved for the log, the read models, uploads, push and the files of the tools.
  static let reserve = 256
  /// Downloads get this fraction (one in four) of the rest, up to `Limits.downloads`. Connections get what remains.
  private static let downloadsDivisor = 4

  /// How the limit is divided. Both numbers are at least 1, so that a server with a very low limit still responds.
  struct Shares: Equatable {
    var connections: Int
    var downloads: Int
  }

  /// Raises the limit to the maximum that the system allows, because a shell's default is low.
  /// - Returns: The limit that now applies.
  static func raiseLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return reserve }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = limit.rlim_max
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Divides the limit so that the reserve, downloads and connections together fit into it.
  /// - Parameter connections: The configured maximum.
  static func shares(connections: Int, limit: Int) -> Shares {
    let free = max(0, limit - reserve)
    let downloads = max(1, min(Limits.downloads, free / downloadsDivisor))
    return Shares(connections: max(1, min(connections, free - downloads)), downloads: downloads)
  }

  #if canImport(Glibc)
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let resource = RLIMIT_NOFILE
  #endif
}
