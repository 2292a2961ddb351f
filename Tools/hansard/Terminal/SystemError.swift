import Foundation

/// The words of the system for a failed call.
enum SystemError {
  static func text(_ number: Int32) -> String {
    String(cString: strerror(number))
  }
}
