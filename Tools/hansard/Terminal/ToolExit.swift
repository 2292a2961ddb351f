/// The exit codes of a tool. A wrong command line gives 64, as defined in `sysexits.h` (`EX_USAGE`).
enum ToolExit: Int32 {
  /// Everything was done, and every check passed.
  case success = 0
  /// A check failed: damage, differing rows or rejected lines.
  case found = 1
  /// The work could not be done or completed.
  case failed = 2
}
