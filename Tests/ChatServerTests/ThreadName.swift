import Foundation

enum ThreadName {
  /// The name of the calling thread, without the number.
  static func current() throws -> String {
    try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8).filter { !$0.isNumber }
  }
}
