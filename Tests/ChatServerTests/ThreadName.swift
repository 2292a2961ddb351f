import Foundation

enum ThreadName {
  /// Of the thread that calls it, without its number.
  static func current() throws -> String {
    try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).filter { !$0.isNumber }
  }
}
