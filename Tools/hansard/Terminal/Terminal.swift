import Foundation

/// The standard descriptors, and properties of the terminal behind a descriptor.
enum Terminal {
  static let standardInput: Int32 = 0
  static let standardOutput: Int32 = 1
  static let standardError: Int32 = 2

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The width of the terminal in columns.
  /// - Returns: Nil if the descriptor is not a terminal, or if the terminal does not report a width.
  static func columns(of descriptor: Int32) -> Int? {
    guard isTerminal(descriptor) else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes to standard error without buffering. If that fails, the text is lost because there is nowhere else to
  /// report it.
  static func printError(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
