/// How a tool ends. A wrong command line ends with 64, as `sysexits.h` has it (`EX_USAGE`).
enum ToolExit: Int32 {
  /// All was done, and what was checked holds.
  case success = 0
  /// What was checked does not hold: damage, rows that differ, lines that were refused.
  case found = 1
  /// It could not be done, or not to the end.
  case failed = 2
}
