import Foundation

/// How many files and connections the process may have open.
enum OpenFiles {
  /// What is kept for the log, the read models, push and the tools' own files.
  static let reserve = 256

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

  /// - Returns: so many of `wanted` connections as there is room for beside the files.
  static func connections(wanted: Int, limit: Int) -> Int { max(1, min(wanted, limit - reserve)) }

  #if canImport(Glibc)
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
  private static let resource = RLIMIT_NOFILE
  #endif
}
