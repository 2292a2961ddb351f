import ChatPrimitives
import Foundation

/// How many files and connections the process may have open.
enum OpenFiles {
  /// What is kept for the log, the read models, uploads, push and the tools' own files.
  static let reserve = 256
  /// Downloads get one part in so many of what is left, up to `Limits.downloads`; connections get the rest.
  private static let downloadsDivisor = 4

  /// How the limit is shared. Both are 1 at least, so that a server with a very low limit still responds.
  struct Shares: Equatable {
    var connections: Int
    var downloads: Int
  }

  /// Asks for as many as the system allows, since a shell's usual limit is low.
  /// - Returns: how many there may be now.
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

  /// Shares the limit so that the reserve, downloads and connections fit into it together.
  /// - Parameter connections: how many are wanted.
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
