import Foundation

/// What is at the other end of a file descriptor.
enum Terminal {
  static let standardInput: Int32 = 0
  static let standardOutput: Int32 = 1
  static let standardError: Int32 = 2

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Columns of the terminal behind a descriptor.
  /// - Returns: nil when there is none, or when it does not tell.
  static func columns(of descriptor: Int32) -> Int? {
    guard isTerminal(descriptor) else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes to standard error at once. What cannot be written there has no place to go.
  static func printError(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
